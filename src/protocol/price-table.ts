import type { SignatureAlgorithmName } from "./algorithms.ts";

/** What the service charges, in micro-USD. Nothing else has a price. */
export interface PriceTable {
  /** A signature of a message of up to {@link INCLUDED_MESSAGE_BYTES}. */
  readonly signMicroUsd: bigint;
  /** The same by algorithms that have a price of their own. */
  readonly signByAlgorithmMicroUsd: ReadonlyMap<SignatureAlgorithmName, bigint>;
  /** Added for each further KiB of the message that is begun, as the chain stores every byte of it. */
  readonly messageKibMicroUsd: bigint;
  /** The DKG of one dWallet. */
  readonly dkgMicroUsd: bigint;
}

/** The length of a message that the price of a signature includes. */
export const INCLUDED_MESSAGE_BYTES = 1024;
const KIB = 1024;

/** The price of a short message's signature. */
export function signPrice(table: PriceTable, algorithm: SignatureAlgorithmName): bigint {
  return table.signByAlgorithmMicroUsd.get(algorithm) ?? table.signMicroUsd;
}

/** The price of a signature of a message of this length. */
export function messageSignPrice(
  table: PriceTable,
  algorithm: SignatureAlgorithmName,
  messageBytes: number,
): bigint {
  const furtherKib = Math.ceil(Math.max(0, messageBytes - INCLUDED_MESSAGE_BYTES) / KIB);
  return signPrice(table, algorithm) + BigInt(furtherKib) * table.messageKibMicroUsd;
}
