import type { CoinPrice } from "./price-source.ts";
import { parseUsdPrice } from "./usd-price.ts";

const MAX_BYTES = 65_536;
const TIMEOUT_MS = 10_000;

/**
 * Reads a price feed once: `{"time": "2026-01-31T12:00:00Z", "prices": {"SUI": "3.5", "IKA": 0.02}}`, by symbol or by
 * coin type, in US dollars as decimal text or number. Redirects are not followed, answers over 64 KiB or 10 s not
 * waited for. Throws when it is not of that shape.
 */
export async function readFeed(
  url: string,
  signal: AbortSignal,
  fetch_: typeof fetch = fetch,
): Promise<ReadonlyMap<string, CoinPrice>> {
  const response = await fetch_(url, {
    headers: { accept: "application/json" },
    redirect: "error",
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
  });
  if (!response.ok) {
    await response.body?.cancel();
    throw new Error(`the price feed responds with ${response.status}`);
  }
  return parseFeed(JSON.parse(await boundedText(response)));
}

/** The prices of a feed's answer, without those that are none. Throws when it is not of the documented shape. */
export function parseFeed(json: unknown): ReadonlyMap<string, CoinPrice> {
  const { time: timeText, prices } = (json ?? {}) as { time?: unknown; prices?: unknown };
  const time = new Date(typeof timeText === "string" ? timeText : Number.NaN);
  if (Number.isNaN(time.getTime())) throw new Error("the price feed has no `time`");
  if (typeof prices !== "object" || prices === null) throw new Error("the price feed has no `prices`");
  return new Map(
    Object.entries(prices).flatMap(([coin, value]) => {
      const picoUsd = parseUsdPrice(String(value));
      return picoUsd === undefined ? [] : [[coin, { picoUsd, time }]];
    }),
  );
}

async function boundedText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.byteLength;
    if (length > MAX_BYTES) throw new Error(`the price feed responds with more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
