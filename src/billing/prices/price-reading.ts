import type { AcceptedCoin } from "../deposits/accepted-coins.ts";

/** What one source says that one whole coin is worth. */
export interface PriceReading {
  readonly picoUsd: bigint;
  /** The source's own bounds of the price, such as a confidence interval or bid and ask. Without any, the price. */
  readonly lowPicoUsd: bigint;
  readonly highPicoUsd: bigint;
  /** When that was the price, by the source's clock. */
  readonly time: Date;
}

/** A service that publishes prices. */
export interface PriceReader {
  /** As in `BILLING_PRICE_SOURCES`. */
  readonly name: "pyth" | "coinbase" | "feed";
  /** Whether the source should have a price of the coin. */
  covers(coin: AcceptedCoin): boolean;
  /**
   * Reads the prices once, by the name, symbol or type of the coin. Leaves out what is not a price. Rejects if the source
   * does not answer as it documents.
   */
  read(signal: AbortSignal): Promise<ReadonlyMap<string, PriceReading>>;
}
