import { type FetchJsonOptions, fetchJson } from "./fetch-json.ts";
import type { PriceReader, PriceReading } from "./price-reading.ts";
import { parseUsdPrice } from "./usd-price.ts";

/**
 * Creates a reader of the operator's own feed:
 * `{"time": "2026-01-31T12:00:00Z", "prices": {"SUI": "3.5", "IKA": 0.02}}`, by symbol or by coin type, in US dollars
 * as decimal text or number. The feed should price every accepted coin.
 */
export function createJsonFeedReader(url: string, options: FetchJsonOptions): PriceReader {
  return {
    name: "feed",
    covers: () => true,
    read: async (signal) => parseJsonFeed(await fetchJson(url, signal, options)),
  };
}

/** Returns the prices of a feed's response. Skips invalid prices. Throws if the response has another shape. */
export function parseJsonFeed(json: unknown): ReadonlyMap<string, PriceReading> {
  const { time: timeText, prices } = (json ?? {}) as { time?: unknown; prices?: unknown };
  const time = new Date(typeof timeText === "string" ? timeText : Number.NaN);
  if (Number.isNaN(time.getTime())) throw new Error("the price feed has no `time`");
  if (typeof prices !== "object" || prices === null) throw new Error("the price feed has no `prices`");
  return new Map(
    Object.entries(prices).flatMap(([coin, value]) => {
      const picoUsd = parseUsdPrice(String(value));
      return picoUsd === undefined
        ? []
        : [[coin, { picoUsd, lowPicoUsd: picoUsd, highPicoUsd: picoUsd, time }]];
    }),
  );
}
