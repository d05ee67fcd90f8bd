import { createPublicKey, verify } from "node:crypto";

/** Returns true if `signature` verifies for `message` under `publicKey`, and false for malformed input. */
export function verifyEd25519WithNode(
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): boolean {
  try {
    const key = createPublicKey({
      key: Buffer.concat([SPKI_PREFIX, publicKey]),
      format: "der",
      type: "spki",
    });
    return verify(null, message, key, signature);
  } catch {
    return false;
  }
}

/** The DER prefix of an Ed25519 public key (RFC 8410). */
const SPKI_PREFIX = Buffer.from("302a300506032b6570032100", "hex");
