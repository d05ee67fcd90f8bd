import { ed25519 } from "@noble/curves/ed25519.js";

/** Returns whether an Ed25519 signature verifies (RFC 8032). Returns false for malformed input and never throws. */
export function verifyEd25519(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (publicKey.length !== 32 || signature.length !== 64) return false;
  try {
    return ed25519.verify(signature, message, publicKey, { zip215: false });
  } catch {
    return false;
  }
}
