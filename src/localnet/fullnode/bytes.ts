import { bcs } from "@mysten/sui/bcs";
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

/**
 * Returns the 32 bytes of an address in its long form (`0x` and 64 hex digits). A transaction writes hundreds of
 * addresses, and the SDK's conversion takes several times as long.
 */
export function addressBytes(address: string): Uint8Array {
  const bytes = Buffer.from(address.slice(2), "hex");
  if (bytes.length !== 32) throw new Error(`not an address in long form: ${address.slice(0, 80)}`);
  return bytes;
}

/** Returns the address of 32 bytes in its long form. */
export function addressOfBytes(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex")}`;
}

const typeTags = new Map<string, Uint8Array>();
const MAX_CACHED_TYPES = 1_000;

/** Returns the BCS of a type tag. Cached, because a network has few types. */
export function typeTagBytes(type: string): Uint8Array {
  const known = typeTags.get(type);
  if (known !== undefined) return known;
  const bytes = bcs.TypeTag.serialize(type).toBytes();
  if (typeTags.size < MAX_CACHED_TYPES) typeTags.set(type, bytes);
  return bytes;
}
