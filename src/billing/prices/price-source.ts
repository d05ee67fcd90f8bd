import type { AcceptedCoin } from "../deposits/accepted-coins.ts";

/** What one whole coin is worth. */
export interface CoinPrice {
  readonly picoUsd: bigint;
  /** When that was the price. */
  readonly time: Date;
}

/** Where prices come from. */
export interface PriceSource {
  /** By normalised coin type. Undefined where there is no price, or none that is fresh: nothing may be credited then. */
  priceOf(coinType: string): CoinPrice | undefined;
  /** Reads them anew. Absent where they never change. */
  refresh?(signal: AbortSignal): Promise<void>;
}

/** Prices that never change, by the names that the coins were configured under. They are always of now. */
export function fixedPrices(
  coins: readonly AcceptedCoin[],
  picoUsdByName: ReadonlyMap<string, bigint>,
  now: () => Date = () => new Date(),
): PriceSource {
  return {
    priceOf(coinType) {
      const coin = coins.find((accepted) => accepted.coinType === coinType);
      const picoUsd = coin && picoUsdByName.get(coin.name);
      return picoUsd === undefined ? undefined : { picoUsd, time: now() };
    },
  };
}
