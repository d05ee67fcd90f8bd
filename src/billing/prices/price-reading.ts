import type { AcceptedCoin } from "../deposits/accepted-coins.ts";

/** The price of one whole coin according to one source. */
export interface PriceReading {
  readonly picoUsd: bigint;
  /**
   * The source's own bounds of the price, such as a confidence interval or bid and ask. Equal to the price without any.
   */
  readonly lowPicoUsd: bigint;
  readonly highPicoUsd: bigint;
  /** The time of the price, by the source's clock. */
  readonly time: Date;
}

/** A service that publishes prices. */
export interface PriceReader {
  /** The name in `BILLING_PRICE_SOURCES`. */
  readonly name: "pyth" | "coinbase" | "feed";
  /** Returns true if the source should have a price of the coin. */
  covers(coin: AcceptedCoin): boolean;
  /**
   * Reads the prices once, by the name, symbol or type of the coin. Skips invalid prices. Rejects if the source does
   * not return a valid response.
   */
  read(signal: AbortSignal): Promise<ReadonlyMap<string, PriceReading>>;
}
