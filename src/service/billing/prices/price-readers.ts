import { compareIntegers } from "../../../protocol/class-groups/integers.ts";
import { type Clock, startDeadline } from "../../platform/lifecycle/clock.ts";
import type { AcceptedCoin } from "../deposits/accepted-coins.ts";
import { FRACTION_DIGITS, isUsdPrice, parseUsdPrice } from "./price-source.ts";

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
function parseJsonFeed(json: unknown): ReadonlyMap<string, PriceReading> {
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
interface CoinbaseOptions extends Pick<FetchJsonOptions, "clock" | "timeoutMs" | "fetch"> {
  /** The REST API of Coinbase Exchange, without a path. */
  readonly url: string;
  /** The product that trades against US dollars, such as `SUI-USD`, by the name of the coin. */
  readonly products: ReadonlyMap<string, string>;
}

/** Returns the price of the last trade, bounded by the best bid and the best ask. Undefined for an invalid ticker. */
function parseTicker(json: unknown): PriceReading | undefined {
  const ticker = (json ?? {}) as Readonly<Record<string, unknown>>;
  const [price, bid, ask] = [ticker["price"], ticker["bid"], ticker["ask"]].map((value) =>
    typeof value === "string" ? parseUsdPrice(value) : undefined,
  );
  const time = new Date(typeof ticker["time"] === "string" ? ticker["time"] : Number.NaN);
  if (price === undefined || bid === undefined || ask === undefined || Number.isNaN(time.getTime()))
    return undefined;
  const [lowPicoUsd = bid, , highPicoUsd = ask] = [bid, price, ask].sort(compareIntegers);
  return { picoUsd: price, lowPicoUsd, highPicoUsd, time };
}

/**
 * Creates a reader of Pyth's prices from a Hermes service
 * (https://docs.pyth.network/api-reference/hermes/latest-price-updates). It does not verify Pyth's signatures: it
 * trusts the configured host over TLS.
 */
export function createPythReader({ url, apiKey, feedIds, ...call }: PythOptions): PriceReader {
  const query = new URLSearchParams({ parsed: "true" });
  for (const id of feedIds.values()) query.append("ids[]", id);
  const place = `${url.replace(/\/+$/, "")}/v2/updates/price/latest?${query}`;
  const headers: Record<string, string> = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  return {
    name: "pyth",
    covers: ({ name }) => feedIds.has(name),
    async read(signal) {
      const byId = parsePyth(await fetchJson(place, signal, { ...call, headers }));
      return new Map(
        [...feedIds].flatMap(([name, id]) => {
          const reading = byId.get(id);
          return reading === undefined ? [] : [[name, reading]];
        }),
      );
    },
  };
}

/** Options of {@link createPythReader}. */
interface PythOptions extends Pick<FetchJsonOptions, "clock" | "timeoutMs" | "fetch"> {
  /** A Hermes service, without `/v2/…`. */
  readonly url: string;
  readonly apiKey: string | undefined;
  /** The id of the feed, 64 hex digits, by the name of the coin. */
  readonly feedIds: ReadonlyMap<string, string>;
}

/**
 * Returns the prices of a Hermes response, by feed id. A price is `price` * 10^`expo`, plus or minus `conf`. Skips
 * invalid prices. Throws if the response has another shape.
 */
function parsePyth(json: unknown): ReadonlyMap<string, PriceReading> {
  const { parsed } = (json ?? {}) as { parsed?: unknown };
  if (!Array.isArray(parsed)) throw new Error("Hermes responds without `parsed`");
  return new Map(
    parsed.flatMap((entry: { id?: unknown; price?: unknown } | null) => {
      const { id, price } = entry ?? {};
      const reading = typeof id === "string" ? readingOf(price) : undefined;
      return reading === undefined ? [] : [[String(id).replace(/^0x/, "").toLowerCase(), reading]];
    }),
  );
}

const DIGITS = /^\d{1,20}$/;
const MIN_EXPONENT = -18;
const MAX_EXPONENT = 6;

function readingOf(value: unknown): PriceReading | undefined {
  const { price, conf, expo, publish_time: seconds } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof price !== "string" || !DIGITS.test(price)) return undefined;
  if (typeof conf !== "string" || !DIGITS.test(conf)) return undefined;
  if (typeof expo !== "number" || !Number.isInteger(expo) || expo < MIN_EXPONENT || expo > MAX_EXPONENT)
    return undefined;
  const time = new Date(typeof seconds === "number" ? seconds * 1000 : Number.NaN);
  if (Number.isNaN(time.getTime())) return undefined;
  const picoUsd = scale(BigInt(price), expo);
  const confidence = scale(BigInt(conf), expo);
  const [lowPicoUsd, highPicoUsd] = [picoUsd - confidence, picoUsd + confidence];
  return isUsdPrice(lowPicoUsd) && isUsdPrice(highPicoUsd)
    ? { picoUsd, lowPicoUsd, highPicoUsd, time }
    : undefined;
}

function scale(value: bigint, exponent: number): bigint {
  const digits = FRACTION_DIGITS + exponent;
  return digits >= 0 ? value * 10n ** BigInt(digits) : value / 10n ** BigInt(-digits);
}

/**
 * Fetches JSON from a price source. Rejects on a status other than 2xx, a redirect, more than 64 KiB, a timeout, and
 * invalid JSON. The errors do not contain the URL, which may hold a key.
 */
export async function fetchJson(
  url: string,
  signal: AbortSignal,
  options: FetchJsonOptions,
): Promise<unknown> {
  const deadline = startDeadline(options.clock, options.timeoutMs ?? TIMEOUT_MS);
  const signals = AbortSignal.any([signal, deadline.signal]);
  const text = await getText(url, options, signals).finally(deadline.clear);
  try {
    return JSON.parse(text);
  } catch {
    throw new Error("the source responds with something other than JSON");
  }
}

const MAX_BYTES = 65_536;
const TIMEOUT_MS = 10_000;

/** Options of {@link fetchJson}. */
interface FetchJsonOptions {
  readonly clock: Clock;
  readonly headers?: Readonly<Record<string, string>>;
  /** Default 10 s. */
  readonly timeoutMs?: number | undefined;
  /** Default: the global one. */
  readonly fetch?: typeof fetch;
}

async function getText(
  url: string,
  { headers = {}, fetch: send = fetch }: FetchJsonOptions,
  signal: AbortSignal,
): Promise<string> {
  const response = await send(url, {
    // Coinbase refuses requests without a user agent.
    headers: { accept: "application/json", "user-agent": "threshold-signing-service", ...headers },
    redirect: "error",
    signal,
  });
  if (!response.ok) {
    await response.body?.cancel();
    throw new Error(`the source responds with ${response.status}`);
  }
  return boundedText(response);
}

async function boundedText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.byteLength;
    if (length > MAX_BYTES) throw new Error(`the source responds with more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
