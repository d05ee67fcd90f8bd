import { describe, expect, it } from "vitest";
import { CURVES } from "../../../src/protocol/algorithms.ts";
import { checkDkgMessage, DkgFormError, type DkgParts } from "../../../src/protocol/check-dkg-message.ts";
import { dkgOfForm } from "../../support/crypto/dkg-form.ts";
import { SESSIONS } from "../localnet/mpc/recorded-sessions.ts";

describe.each(CURVES)("a DKG message on %s", (curve) => {
  const { dkg } = SESSIONS.find((session) => CURVES[session.curve] === curve)!;
  const parts: DkgParts = {
    userDkgMessage: dkg.userDkgMessage,
    encryptedUserShareAndProof: dkg.encryptedShareAndProof,
    userPublicOutput: dkg.userPublicOutput,
  };
  const faultOf = (change: Partial<DkgParts>): string => {
    try {
      checkDkgMessage(curve, { ...parts, ...change });
    } catch (error) {
      if (error instanceof DkgFormError) return error.part;
      throw error;
    }
    return "none";
  };
  const changed = (bytes: Uint8Array, at: number, to: number) =>
    bytes.with(at < 0 ? bytes.length + at : at, to) as Uint8Array;

  it("of ika-wasm is well-formed, and so is the tests' own", () => {
    expect(faultOf({})).toBe("none");
    expect(() => checkDkgMessage(curve, dkgOfForm(curve))).not.toThrow();
  });

  it.each(["userDkgMessage", "encryptedUserShareAndProof", "userPublicOutput"] as const)(
    "is refused if its %s is cut, longer, of another version or has wrong inner lengths",
    (part) => {
      const bytes = parts[part];
      for (const wrong of [
        ...[new Uint8Array(), bytes.subarray(0, -1), Uint8Array.of(...bytes, 0)],
        ...[changed(bytes, 0, 2), changed(bytes, 1, bytes[1]! ^ 1)],
      ]) {
        expect(faultOf({ [part]: wrong })).toBe(part);
      }
    },
  );

  it("is refused for every other curve", () => {
    for (const other of CURVES.filter((one) => one !== curve)) {
      expect(() => checkDkgMessage(other, parts)).toThrow(DkgFormError);
    }
  });

  it("is refused if the public output is of another public share, or does not add up", () => {
    const { userPublicOutput } = dkgOfForm(curve, 8);
    expect(faultOf({ userPublicOutput })).toBe("userPublicOutput");
    const pointBytes = curve.startsWith("SECP") ? 34 : 32;
    // 01, two bytes of length, 01: the user's share, followed by the key.
    const output = parts.userPublicOutput;
    const [share, key] = [4, 4 + pointBytes].map((at) => output.subarray(at, at + pointBytes));
    const swapped = output.slice();
    swapped.set(key!, 4);
    swapped.set(share!, 4 + pointBytes);
    expect(faultOf({ userPublicOutput: swapped })).toBe("userPublicOutput");
    const doubled = output.slice();
    doubled.set(share!, 4 + pointBytes);
    expect(faultOf({ userPublicOutput: doubled })).toBe("userPublicOutput");
  });

  it("is refused if the public share is not on the curve, or a scalar is not below its order", () => {
    const { userDkgMessage } = parts;
    const offCurve = [...Array(256).keys()].find((last) => {
      const point = changed(userDkgMessage, -1, last);
      return faultOf({ userDkgMessage: point }) === "userDkgMessage";
    });
    expect(offCurve).toBeDefined();
    const isSecp = curve.startsWith("SECP");
    const scalarAt = 3 + 16 * (isSecp ? 34 : 32) + (isSecp ? 1 : 0);
    const huge = userDkgMessage.slice();
    huge.fill(0xff, scalarAt, scalarAt + 32);
    expect(faultOf({ userDkgMessage: huge })).toBe("userDkgMessage");
  });

  it("is refused if the response for the randomness is longer than the protocol's limit", () => {
    const share = parts.encryptedUserShareAndProof;
    const isSecp = curve.startsWith("SECP");
    const rhoAt = 3 + 516 + (isSecp ? 34 + 33 : 64) + 2;
    // 1,278 bits are 159 bytes and six bits.
    expect(faultOf({ encryptedUserShareAndProof: changed(share, rhoAt + 159, 0x40) })).toBe(
      "encryptedUserShareAndProof",
    );
    expect(faultOf({ encryptedUserShareAndProof: changed(share, rhoAt + 159, 0x3f) })).toBe("none");
  });
});
