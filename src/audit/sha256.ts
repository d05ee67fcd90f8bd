import { hash } from "node:crypto";

/** SHA-256 over the concatenated parts. */
export function sha256(...parts: readonly Uint8Array[]): Buffer {
  return hash("sha256", Buffer.concat(parts), "buffer");
}

/** The predecessor of the first entry and of the first seal: 32 zero bytes. */
export const GENESIS_HASH: Uint8Array = new Uint8Array(32);

/** Eight bytes, big-endian. */
export function uint64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(value);
  return bytes;
}
