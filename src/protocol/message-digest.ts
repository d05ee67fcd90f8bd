import { sha256 } from "@noble/hashes/sha2.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import type { HashName } from "./algorithms.ts";

/**
 * Returns the 32-byte digest that ECDSA and Taproot sign. Throws a RangeError for SHA512 and Merlin: EdDSA and
 * Schnorrkel use them to hash the message together with the nonce and the key.
 */
export function messageDigest(hash: HashName, message: Uint8Array): Uint8Array {
  switch (hash) {
    case "KECCAK256":
      return keccak_256(message);
    case "SHA256":
      return sha256(message);
    case "DoubleSHA256":
      return sha256(sha256(message));
    case "SHA512":
    case "Merlin":
      throw new RangeError(`${hash} has no digest of the message alone`);
  }
}
