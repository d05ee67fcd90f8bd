import type { SignatureAlgorithmName } from "./algorithms.ts";

/** The service's prices in micro-USD. Everything else is free. */
export interface PriceTable {
  /** The price of a signature of a message of up to {@link INCLUDED_MESSAGE_BYTES}. */
  readonly signMicroUsd: bigint;
  /** Prices of algorithms that replace `signMicroUsd`. */
  readonly signByAlgorithmMicroUsd: ReadonlyMap<SignatureAlgorithmName, bigint>;
  /** The price of each further KiB of a longer message, rounded up, because the chain stores every byte of it. */
  readonly messageKibMicroUsd: bigint;
  /** The price of one dWallet's DKG. */
  readonly dkgMicroUsd: bigint;
  /** The price of a dWallet's share for another user. */
  readonly shareMicroUsd: bigint;
  /** The price of one imported key's verification. */
  readonly importMicroUsd: bigint;
  /** What a held half costs beside its signature. */
  readonly holdMicroUsd: bigint;
}

/** The message length that the price of a signature includes. */
export const INCLUDED_MESSAGE_BYTES = 1024;
const KIB = 1024;

/** Returns the price of a signature of a message of up to {@link INCLUDED_MESSAGE_BYTES}. */
export function signPrice(table: PriceTable, algorithm: SignatureAlgorithmName): bigint {
  return table.signByAlgorithmMicroUsd.get(algorithm) ?? table.signMicroUsd;
}

/** Returns the price of a signature of a message of this length. */
export function messageSignPrice(
  table: PriceTable,
  algorithm: SignatureAlgorithmName,
  messageBytes: number,
): bigint {
  const furtherKib = Math.ceil(Math.max(0, messageBytes - INCLUDED_MESSAGE_BYTES) / KIB);
  return signPrice(table, algorithm) + BigInt(furtherKib) * table.messageKibMicroUsd;
}

/** Formats micro-USD as dollars with two to six decimals: `$1,234.50`, `-$0.0123`. @param minus the minus sign */
export function formatDollars(amountMicroUsd: bigint, minus = "-"): string {
  const text = formatUnits(amountMicroUsd < 0n ? -amountMicroUsd : amountMicroUsd, 6, 2);
  return `${amountMicroUsd < 0n ? minus : ""}$${text}`;
}

/** Formats a price of the contract, a plain decimal number of US dollars, in the same way: `3.5` as `$3.50`. */
export function formatPriceUsd(usd: string): string {
  const [whole, part = ""] = usd.split(".");
  return `$${grouped(whole!)}.${part.padEnd(2, "0")}`;
}

/** Formats a number of smallest units with grouped digits, without trailing zeros. @param amount not negative */
export function formatUnits(amount: bigint, decimals: number, minDecimals: number): string {
  const digits = String(amount).padStart(decimals + 1, "0");
  const whole = grouped(digits.slice(0, digits.length - decimals));
  const part = digits
    .slice(digits.length - decimals)
    .replace(/0+$/, "")
    .padEnd(minDecimals, "0");
  return part === "" ? whole : `${whole}.${part}`;
}

const grouped = (digits: string): string => digits.replace(/\B(?=(\d{3})+$)/g, ",");
