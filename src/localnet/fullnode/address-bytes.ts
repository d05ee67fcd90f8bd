import { bcs } from "@mysten/sui/bcs";

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
