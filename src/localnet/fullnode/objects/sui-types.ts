import { bcs } from "@mysten/sui/bcs";
import { isValidSuiAddress, normalizeStructTag, normalizeSuiAddress } from "@mysten/sui/utils";
import { RpcFailure, Status } from "../execution/failures.ts";

/** The standard library's address. All type strings on this node use long addresses. */
export const MOVE_STDLIB = normalizeSuiAddress("0x1");
export const SUI_FRAMEWORK = normalizeSuiAddress("0x2");
/** The shared clock. */
export const SUI_CLOCK_ID = normalizeSuiAddress("0x6");

/** The type of the coin that pays for gas. */
export const SUI_TYPE = `${SUI_FRAMEWORK}::sui::SUI`;
/** The type of an object id as a value. */
export const ID_TYPE = `${SUI_FRAMEWORK}::object::ID`;
/** The type of a gas coin object. */
export const SUI_COIN_TYPE = coinObjectType(SUI_TYPE);

/** `0x2::coin::Coin<coinType>` with long addresses. */
export function coinObjectType(coinType: string): string {
  return `${SUI_FRAMEWORK}::coin::Coin<${coinType}>`;
}

/** `0x2::balance::Balance<coinType>` with long addresses. */
export function balanceType(coinType: string): string {
  return `${SUI_FRAMEWORK}::balance::Balance<${coinType}>`;
}

/** `0x2::funds_accumulator::Withdrawal` of a balance, with long addresses. */
export function withdrawalType(coinType: string): string {
  return `${SUI_FRAMEWORK}::funds_accumulator::Withdrawal<${balanceType(coinType)}>`;
}

/** Returns the coin type of a coin object's type, or undefined for any other object. */
export function coinTypeOf(objectType: string): string | undefined {
  const prefix = `${SUI_FRAMEWORK}::coin::Coin<`;
  return objectType.startsWith(prefix) ? objectType.slice(prefix.length, -1) : undefined;
}

/** Normalizes an address or object id from a request to its long form. Throws INVALID_ARGUMENT if it is invalid. */
export function parseAddress(value: string | undefined, name: string): string {
  if (value === undefined || value === "") throw new RpcFailure(Status.InvalidArgument, `missing ${name}`);
  let address: string;
  try {
    address = normalizeSuiAddress(value);
  } catch {
    throw new RpcFailure(Status.InvalidArgument, `invalid ${name}: ${value.slice(0, 80)}`);
  }
  if (!isValidSuiAddress(address)) {
    throw new RpcFailure(Status.InvalidArgument, `invalid ${name}: ${value.slice(0, 80)}`);
  }
  return address;
}

/** Normalizes a struct type from a request to its long form. Throws INVALID_ARGUMENT if it is invalid. */
export function parseStructType(value: string, name: string): string {
  try {
    return normalizeStructTag(value);
  } catch {
    throw new RpcFailure(Status.InvalidArgument, `invalid ${name}: ${value.slice(0, 200)}`);
  }
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
