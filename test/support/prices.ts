import type { PriceTable } from "../../src/protocol/price-table.ts";

/** One price for every signature, whatever its message; a dWallet costs nothing unless it is said. */
export function flatPrices(signMicroUsd: bigint, dkgMicroUsd = 0n): PriceTable {
  return { signMicroUsd, dkgMicroUsd, signByAlgorithmMicroUsd: new Map(), messageKibMicroUsd: 0n };
}
