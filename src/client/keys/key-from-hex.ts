import { hexToBytes } from "../../protocol/bytes.ts";
import { checkCurve } from "../sdk/checks.ts";
import type { Curve } from "../sdk/names.ts";
import { invalidKey, type PrivateKey, publicKeyOf } from "./private-key.ts";

/**
 * Reads a private key in hex, such as wallets of Ethereum export it: 64 digits, with or without `0x`.
 *
 * @throws {TssError} VALIDATION, with `metadata.field` `hex`, for other text and for a number that is no key.
 * @throws {TssError} UNSUPPORTED_ALGORITHM when the curve is unknown.
 *
 * @example
 * const key = keyFromHex({ hex: "0x…", curve: "SECP256K1" });
 * await client.importKey({ seed, ...key });
 * key.privateKey.fill(0);
 */
export function keyFromHex({ hex, curve }: KeyFromHexArgs): PrivateKey {
  checkCurve(curve);
  if (typeof hex !== "string" || !/^(0x)?[0-9a-fA-F]{64}$/.test(hex))
    throw invalidKey("hex", "must be 64 hex digits, with or without 0x");
  const key = { curve, privateKey: hexToBytes(hex.slice(-64).toLowerCase()) };
  publicKeyOf("hex", key);
  return key;
}

/** Arguments of {@link keyFromHex}. */
export interface KeyFromHexArgs {
  readonly hex: string;
  readonly curve: Curve;
}
