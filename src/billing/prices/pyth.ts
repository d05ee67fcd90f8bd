import { type FetchJsonOptions, fetchJson } from "./fetch-json.ts";
import type { PriceReader, PriceReading } from "./price-reading.ts";
import { FRACTION_DIGITS, isUsdPrice } from "./usd-price.ts";

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
export interface PythOptions extends Pick<FetchJsonOptions, "clock" | "timeoutMs" | "fetch"> {
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
export function parsePyth(json: unknown): ReadonlyMap<string, PriceReading> {
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
