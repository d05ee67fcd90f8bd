import { type BcsType, bcs } from "@mysten/sui/bcs";
import { toHex } from "@mysten/sui/utils";
import {
  curveOfNumber,
  signatureAlgorithmOfNumbers,
  unsupportedAlgorithmName,
} from "../../protocol/algorithms.ts";
import { hasAlgorithm, PRICED_OPERATIONS } from "../../service/chain/treasury/read-prices.ts";
import { formatCoins } from "../output/format.ts";

/**
 * The encoding and the format of each kind of parameter. Coins and received objects are not bytes, so they are absent.
 */
export const PURE_KINDS = {
  address: kind(bcs.Address, (address) => address),
  role: kind(bcs.Address, (address) => (/^0x0+$/.test(address) ? "nobody" : address)),
  id: kind(bcs.Address, (id) => id),
  ids: kind(bcs.vector(bcs.Address), (ids) => (ids.length === 0 ? "none" : ids.join("\n"))),
  flag: kind(bcs.bool(), (value) => (value ? "yes" : "no")),
  count: kind(bcs.u64(), showCount),
  epoch: kind(bcs.u64(), showCount),
  ika: kind(bcs.u64(), (amount) => showAmount(BigInt(amount), "IKA")),
  sui: kind(bcs.u64(), (amount) => showAmount(BigInt(amount), "SUI")),
  bytes: kind(bcs.byteVector(), (bytes) => toHex(Uint8Array.from(bytes))),
  operation: kind(bcs.u8(), (op) => `${PRICED_OPERATIONS[op] ?? "UNKNOWN"} (${op})`),
  curve: kind(bcs.u32(), (curve) => `${curveOfNumber(curve) ?? "UNKNOWN"} (${curve})`),
  algorithm: kind(bcs.u32(), showAlgorithm),
} as const;

/** A kind of parameter whose values are bytes in a transaction. */
export type PureKind = keyof typeof PURE_KINDS;

export type ParameterKind = PureKind | "ikaCoin" | "suiCoin" | "received";

/** Formats an amount of 10^-9 coins for people, followed by the plain number. */
export function showAmount(amount: bigint, coin: "IKA" | "SUI"): string {
  return `${formatCoins(amount, coin)} (${amount})`;
}

/** Names an operation of the price ceilings, such as `sign SECP256K1/Taproot`. */
export function nameOperation(operation: {
  readonly operation: string;
  readonly curve: number;
  readonly signatureAlgorithm: number;
}): string {
  const { curve, signatureAlgorithm } = operation;
  const name = curveOfNumber(curve) ?? `curve ${curve}`;
  if (["dkg", "share", "import"].includes(operation.operation)) return `${operation.operation} ${name}`;
  return `${operation.operation} ${name}/${algorithmName(curve, signatureAlgorithm) ?? signatureAlgorithm}`;
}

interface Kind<Input, Output> {
  readonly codec: BcsType<Output, Input>;
  /** @param before the decoded parameters before this one, by name */
  readonly show: (value: Output, before: ReadonlyMap<string, unknown>) => string;
}

function kind<Input, Output>(
  codec: BcsType<Output, Input>,
  show: Kind<Input, Output>["show"],
): Kind<Input, Output> {
  return { codec, show };
}

/** 2^64 - 1. */
const MOST = String(2n ** 64n - 1n);

function showCount(count: string): string {
  return count === MOST ? `unbounded (${count})` : count;
}

function showAlgorithm(algorithm: number, before: ReadonlyMap<string, unknown>): string {
  const operation = PRICED_OPERATIONS[Number(before.get("operation"))];
  if (operation !== undefined && !hasAlgorithm(operation)) return `none (${algorithm})`;
  return `${algorithmName(Number(before.get("curve")), algorithm) ?? "UNKNOWN"} (${algorithm})`;
}

function algorithmName(curve: number, algorithm: number): string | undefined {
  return signatureAlgorithmOfNumbers(curve, algorithm) ?? unsupportedAlgorithmName(curve, algorithm);
}
