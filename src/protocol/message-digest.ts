import { sha256 } from "@noble/hashes/sha2.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import type { HashName } from "./algorithms.ts";

/**
 * The 32-byte digest that ECDSA and Taproot sign. SHA512 and Merlin belong inside EdDSA and Schnorrkel, which hash
 * the message together with the nonce and the key: asking for their digest is a RangeError.
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
