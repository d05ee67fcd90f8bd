import type { OwnedRef } from "../../chain/treasury/treasury-calls.ts";

/** Chooses the most valuable coins of one address and type for a sweep, or none if their total value is too low. */
export function planSweep(
  coins: readonly SweepableCoin[],
  { minValueMicroUsd, maxCoinCount }: SweepBounds,
): SweepableCoin[] {
  const chosen = coins
    .filter(({ amount }) => amount > 0n)
    .sort((a, b) => byBigint(b.valueMicroUsd, a.valueMicroUsd) || (a.objectId < b.objectId ? -1 : 1))
    .slice(0, maxCoinCount);
  const valueMicroUsd = chosen.reduce((sum, coin) => sum + coin.valueMicroUsd, 0n);
  return valueMicroUsd >= minValueMicroUsd ? chosen : [];
}

/** A credited coin that no sweep has taken. */
export interface SweepableCoin extends OwnedRef {
  /** In the coin's smallest unit. */
  readonly amount: bigint;
  /** The credit that the project got for it. */
  readonly valueMicroUsd: bigint;
}

/** The bounds of a sweep. */
export interface SweepBounds {
  /** The minimum credit for all coins together. A sweep below it is not worth its gas. */
  readonly minValueMicroUsd: bigint;
  /** The maximum number of coins in one transaction. */
  readonly maxCoinCount: number;
}

function byBigint(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
