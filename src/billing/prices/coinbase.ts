import { type FetchJsonOptions, fetchJson } from "./fetch-json.ts";
import type { PriceReader, PriceReading } from "./price-reading.ts";
import { compareAmounts, parseUsdPrice } from "./usd-price.ts";

/**
 * Creates a reader of Coinbase Exchange's ticker of each product
 * (https://docs.cdp.coinbase.com/api-reference/exchange-api/rest-api/products/get-product-ticker).
 */
export function createCoinbaseReader({ url, products, ...call }: CoinbaseOptions): PriceReader {
  const base = url.replace(/\/+$/, "");
  return {
    name: "coinbase",
    covers: ({ name }) => products.has(name),
    async read(signal) {
      const readings = await Promise.all(
        [...products].map(async ([name, product]): Promise<[string, PriceReading][]> => {
          const place = `${base}/products/${product}/ticker`;
          const reading = parseTicker(await fetchJson(place, signal, call));
          return reading === undefined ? [] : [[name, reading]];
        }),
      );
      return new Map(readings.flat());
    },
  };
}

/** Options of {@link createCoinbaseReader}. */
export interface CoinbaseOptions extends Pick<FetchJsonOptions, "clock" | "timeoutMs" | "fetch"> {
  /** The REST API of Coinbase Exchange, without a path. */
  readonly url: string;
  /** The product that trades against US dollars, such as `SUI-USD`, by the name of the coin. */
  readonly products: ReadonlyMap<string, string>;
}

/** Returns the price of the last trade, bounded by the best bid and the best ask. Undefined for an invalid ticker. */
export function parseTicker(json: unknown): PriceReading | undefined {
  const ticker = (json ?? {}) as Readonly<Record<string, unknown>>;
  const [price, bid, ask] = [ticker["price"], ticker["bid"], ticker["ask"]].map((value) =>
    typeof value === "string" ? parseUsdPrice(value) : undefined,
  );
  const time = new Date(typeof ticker["time"] === "string" ? ticker["time"] : Number.NaN);
  if (price === undefined || bid === undefined || ask === undefined || Number.isNaN(time.getTime()))
    return undefined;
  const [lowPicoUsd = bid, , highPicoUsd = ask] = [bid, price, ask].sort(compareAmounts);
  return { picoUsd: price, lowPicoUsd, highPicoUsd, time };
}
