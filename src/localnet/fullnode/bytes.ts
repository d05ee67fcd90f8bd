import { blake2b } from "@noble/hashes/blake2.js";
import { concatBytes } from "@noble/hashes/utils.js";

/** Sui's hash: blake2b with 32 bytes of output. */
export function blake2b256(...parts: readonly Uint8Array[]): Uint8Array {
  return blake2b(concatBytes(...parts), { dkLen: 32 });
}

/** Returns a u64 as eight little-endian bytes. */
export function u64Bytes(value: bigint): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, value, true);
  return bytes;
}
