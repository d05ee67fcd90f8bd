import { isValidSuiAddress, normalizeStructTag, normalizeSuiAddress } from "@mysten/sui/utils";
import { RpcFailure, Status } from "./failures.ts";

/** The standard library's address. All type strings on this node use long addresses. */
export const MOVE_STDLIB = normalizeSuiAddress("0x1");
export const SUI_FRAMEWORK = normalizeSuiAddress("0x2");

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
