import { describe, expect, test } from "vitest";
import { MalformedBytesError } from "../../../../src/protocol/bytes.ts";
import {
  checkSignMessage,
  type SignMessageClaim,
} from "../../../../src/service/signing/verify/verify-work.ts";
import { flipBit, vectorOf } from "../../../support/crypto/signature-vectors.ts";

const claimOf = (algorithm: Parameters<typeof vectorOf>[0]): SignMessageClaim => {
  const { triple, dwalletOutput, presign, message, userSignMessage } = vectorOf(algorithm);
  const { curve, signatureAlgorithm } = triple;
  return {
    curve,
    signatureAlgorithm,
    dwalletOutput,
    presign: presign ?? new Uint8Array(),
    message,
    userSignMessage: userSignMessage!,
  };
};

describe.each(["Taproot", "EdDSA", "Schnorrkel"] as const)("%s", (algorithm) => {
  const claim = claimOf(algorithm);

  test("ika-wasm's message passes", () => {
    expect(() => checkSignMessage(claim)).not.toThrow();
  });

  test("every flipped byte of the message is refused", () => {
    for (let byte = 0; byte < claim.userSignMessage.length; byte++) {
      const userSignMessage = flipBit(claim.userSignMessage, 8 * byte + (byte % 8));
      expect(() => checkSignMessage({ ...claim, userSignMessage }), `byte ${byte}`).toThrow(
        MalformedBytesError,
      );
    }
  });

  test("it passes only for its own message, presign and dWallet", () => {
    expect(() => checkSignMessage({ ...claim, message: flipBit(claim.message, 0) })).toThrow(
      MalformedBytesError,
    );
    // The first byte of the session identifier, after 01, two bytes of length and one of length.
    const presign = flipBit(claim.presign, 8 * 5);
    expect(() => checkSignMessage({ ...claim, presign })).toThrow("partial signature");
    const other = claimOf(algorithm === "Taproot" ? "ECDSASecp256k1" : "Taproot").dwalletOutput;
    expect(() => checkSignMessage({ ...claim, dwalletOutput: flipBit(other, 40) })).toThrow(
      MalformedBytesError,
    );
  });

  test("a cut or lengthened message is refused", () => {
    const { userSignMessage } = claim;
    for (const bytes of [
      userSignMessage.subarray(0, -1),
      Uint8Array.of(...userSignMessage, 0),
      new Uint8Array(),
    ]) {
      expect(() => checkSignMessage({ ...claim, userSignMessage: bytes })).toThrow(MalformedBytesError);
    }
  });
});

describe.each(["ECDSASecp256k1", "ECDSASecp256r1"] as const)("%s", (algorithm) => {
  const claim = claimOf(algorithm);

  test("ika-wasm's message passes", () => {
    expect(() => checkSignMessage(claim)).not.toThrow();
  });

  test("another version, length, point or ciphertext length is refused", () => {
    const { userSignMessage } = claim;
    const refused = [
      flipBit(userSignMessage, 0),
      userSignMessage.subarray(0, -1),
      Uint8Array.of(...userSignMessage, 0),
      // The tag of the first point, and the length before the first ciphertext.
      flipBit(userSignMessage, 8 * 4 + 2),
      flipBit(userSignMessage, 8 * (3 + 6 * 34)),
    ];
    for (const bytes of refused) {
      expect(() => checkSignMessage({ ...claim, userSignMessage: bytes })).toThrow(MalformedBytesError);
    }
  });

  test("a message of the Schnorr family is refused", () => {
    const { userSignMessage } = claimOf("Taproot");
    expect(() => checkSignMessage({ ...claim, userSignMessage })).toThrow("7144 bytes");
  });
});
