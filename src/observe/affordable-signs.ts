import type { SignPrice } from "../chain/treasury/treasury-reader.ts";
import type { TreasuryBalances } from "../chain/treasury/treasury-state.ts";

/**
 * Returns the number of signatures with presigns that the Treasury can pay for, for the most expensive algorithm.
 * Infinite if nothing has a price.
 */
export function affordableSigns(balances: TreasuryBalances, prices: readonly SignPrice[]): number {
  const counts = prices.flatMap(({ ika, sui }) => [times(balances.ika, ika), times(balances.sui, sui)]);
  return Math.min(...counts);
}

function times(balance: bigint, price: bigint): number {
  return price === 0n ? Number.POSITIVE_INFINITY : Number(balance / price);
}
