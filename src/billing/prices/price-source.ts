import type { Clock } from "../../lifecycle/clock.ts";
import type { AcceptedCoin } from "../deposits/accepted-coins.ts";

/** A source of prices. */
export interface PriceSource {
  /** Returns the price of a normalised coin type. Undefined without a fresh price; nothing may be credited then. */
  priceOf(coinType: string): CoinPrice | undefined;
  /** Reads new prices. Absent if they never change. */
  refresh?(signal: AbortSignal): Promise<void>;
}

/** The value of one whole coin. */
export interface CoinPrice {
  readonly picoUsd: bigint;
  readonly time: Date;
}

/** Creates a source of fixed prices, by the configured names of the coins. Their time is always the current one. */
export function fixedPrices(
  coins: readonly AcceptedCoin[],
  picoUsdByName: ReadonlyMap<string, bigint>,
  clock: Pick<Clock, "wallMs">,
): PriceSource {
  return {
    priceOf(coinType) {
      const coin = coins.find((accepted) => accepted.coinType === coinType);
      const picoUsd = coin && picoUsdByName.get(coin.name);
      return picoUsd === undefined ? undefined : { picoUsd, time: new Date(clock.wallMs()) };
    },
  };
}
