import { ed25519 } from "@noble/curves/ed25519.js";
import { describe, expect, it } from "vitest";
import { verifyUserSignature } from "../../../../src/service/onboarding/encryption-keys.ts";

describe("a user's signature", () => {
  const { secretKey, publicKey } = ed25519.keygen(new Uint8Array(32).fill(7));
  const message = new TextEncoder().encode("an encryption key");
  const signature = ed25519.sign(message, secretKey);

  it("of another library verifies", () => {
    expect(verifyUserSignature(publicKey, message, signature)).toBe(true);
  });

  it("does not verify if one bit of the key, the message or the signature is changed", () => {
    const changed = (bytes: Uint8Array) => bytes.map((byte, index) => (index === 3 ? byte ^ 1 : byte));
    expect(verifyUserSignature(changed(publicKey), message, signature)).toBe(false);
    expect(verifyUserSignature(publicKey, changed(message), signature)).toBe(false);
    expect(verifyUserSignature(publicKey, message, changed(signature))).toBe(false);
  });

  it("does not verify if the key or the signature has a wrong length", () => {
    expect(verifyUserSignature(publicKey.subarray(1), message, signature)).toBe(false);
    expect(verifyUserSignature(new Uint8Array(32).fill(255), message, signature)).toBe(false);
    expect(verifyUserSignature(publicKey, message, signature.subarray(1))).toBe(false);
    // OpenSSL ignores bytes after the key.
    expect(verifyUserSignature(Uint8Array.of(...publicKey, 0), message, signature)).toBe(false);
    expect(verifyUserSignature(publicKey, message, Uint8Array.of(...signature, 0))).toBe(false);
  });
});
