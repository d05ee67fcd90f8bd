import { describe, expect, it } from "vitest";
import { CURVES } from "../../../src/protocol/algorithms.ts";
import {
  checkDkgMessage,
  checkImportMessage,
  DkgFormError,
  type DkgParts,
} from "../../../src/protocol/check-dkg-message.ts";
import { publicKeyFromUserOutput } from "../../../src/protocol/dwallet-output.ts";
import { dkgOfForm, importOfForm } from "../../support/crypto/dkg-form.ts";
import { IMPORTS } from "../localnet/mpc/recorded-imports.ts";

describe.each(IMPORTS.map((recorded) => [CURVES[recorded.input.curve]!, recorded] as const))(
  "the message of an imported key on %s",
  (curve, { input, publicKey }) => {
    const parts: DkgParts = {
      userDkgMessage: input.userMessage,
      encryptedUserShareAndProof: input.encryptedShareAndProof,
      userPublicOutput: input.userPublicOutput,
    };
    const faultOf = (change: Partial<DkgParts>): string => {
      try {
        checkImportMessage(curve, { ...parts, ...change });
      } catch (error) {
        if (error instanceof DkgFormError) return error.part;
        throw error;
      }
      return "none";
    };
    const pointBytes = curve.startsWith("SECP") ? 34 : 32;

    it("of ika-wasm is well-formed, and so is the tests' own", () => {
      expect(faultOf({})).toBe("none");
      expect(() => checkImportMessage(curve, importOfForm(curve))).not.toThrow();
    });

    it.each(["userDkgMessage", "encryptedUserShareAndProof", "userPublicOutput"] as const)(
      "is refused if its %s is cut, longer or of another version",
      (part) => {
        const bytes = parts[part];
        const wrongs = [
          new Uint8Array(),
          bytes.subarray(0, -1),
          Uint8Array.of(...bytes, 0),
          bytes.with(0, 2),
        ];
        for (const wrong of wrongs) expect(faultOf({ [part]: wrong as Uint8Array })).toBe(part);
      },
    );

    it("is refused if the public output is of other shares, of a DKG's kind, or does not add up", () => {
      const { userPublicOutput: others } = importOfForm(curve, 8);
      expect(faultOf({ userPublicOutput: others })).toBe("userPublicOutput");
      expect(faultOf({ userPublicOutput: parts.userPublicOutput.with(2, 1) })).toBe("userPublicOutput");
      // 01, one byte of length, 00: the user's share, followed by the key.
      const doubled = parts.userPublicOutput.slice();
      doubled.copyWithin(3 + pointBytes, 3, 3 + pointBytes);
      expect(faultOf({ userPublicOutput: doubled })).toBe("userPublicOutput");
    });

    it("is refused if a scalar is not below the order", () => {
      const isSecp = curve.startsWith("SECP");
      const huge = parts.userDkgMessage.slice();
      const scalarAt = 3 + pointBytes + (isSecp ? 1 : 0);
      huge.fill(0xff, scalarAt, scalarAt + 32);
      expect(faultOf({ userDkgMessage: huge })).toBe("userDkgMessage");
    });

    it("is no message of a DKG, nor is that of a DKG one of an imported key", () => {
      expect(() => checkDkgMessage(curve, parts)).toThrow(DkgFormError);
      expect(() => checkImportMessage(curve, dkgOfForm(curve))).toThrow(DkgFormError);
    });

    it("tells the public key that the user had before", () => {
      expect(publicKeyFromUserOutput(curve, input.userPublicOutput)).toEqual(publicKey);
    });
  },
);
