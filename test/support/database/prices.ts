import type { PriceTable } from "../../../src/protocol/price-table.ts";

/** One price for every signature, whatever its message. A dWallet is free unless a price is given. */
export function flatPrices(signMicroUsd: bigint, dkgMicroUsd = 0n): PriceTable {
  const importMicroUsd = dkgMicroUsd;
  return {
    signMicroUsd,
    dkgMicroUsd,
    importMicroUsd,
    holdMicroUsd: 0n,
    shareMicroUsd: 0n,
    signByAlgorithmMicroUsd: new Map(),
    messageKibMicroUsd: 0n,
  };
}
