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
