import { hmac } from "@noble/hashes/hmac.js";
import { sha512 } from "@noble/hashes/sha2.js";
import { concatBytes } from "@noble/hashes/utils.js";

/**
 * Derives the Ed25519 secret key at a path of hardened indices below a seed (SLIP-0010). `path` contains the indices
 * without the hardened bit. The caller must overwrite the result; this function overwrites all intermediate secrets.
 */
export function deriveEd25519SecretKey(seed: Uint8Array, path: readonly number[]): Uint8Array {
  let node = hmac(sha512, new TextEncoder().encode("ed25519 seed"), seed);
  for (const index of path) {
    const hardened = new Uint8Array(4);
    new DataView(hardened.buffer).setUint32(0, (index | 0x8000_0000) >>> 0);
    const data = concatBytes(Uint8Array.of(0), node.subarray(0, 32), hardened);
    const child = hmac(sha512, node.subarray(32), data);
    data.fill(0);
    node.fill(0);
    node = child;
  }
  const key = node.slice(0, 32);
  node.fill(0);
  return key;
}
