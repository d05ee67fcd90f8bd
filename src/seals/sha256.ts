import { sha256 as sha256Of } from "@noble/hashes/sha2.js";

/** SHA-256 over the concatenated parts: 32 bytes. */
export function sha256(...parts: readonly Uint8Array[]): Uint8Array {
  const state = sha256Of.create();
  for (const part of parts) state.update(part);
  return state.digest();
}

/** The predecessor of the first entry and of the first seal: 32 zero bytes. */
export const GENESIS_HASH: Uint8Array = new Uint8Array(32);

/** Encodes a number in eight bytes, big-endian. */
export function uint64(value: bigint): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, value);
  return bytes;
}
