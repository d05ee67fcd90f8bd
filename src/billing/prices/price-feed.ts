import { type BackgroundLoop, createBackgroundLoop } from "../../lifecycle/background-loop.ts";
import type { Clock } from "../../lifecycle/clock.ts";
import type { Queryable } from "../../store/database.ts";
import type { Log } from "../../telemetry/log.ts";
import type { AcceptedCoin } from "../deposits/accepted-coins.ts";
import { checkPrice, type PriceState } from "./check-price.ts";
import type { CoinPrice, PriceSource } from "./price-source.ts";
import { readFeed } from "./read-feed.ts";

/** Options of {@link createPriceFeed}. */
export interface PriceFeedOptions {
  readonly url: string;
  readonly network: string;
  readonly coins: readonly AcceptedCoin[];
  readonly refreshMs: number;
  /** Beyond it a price is none. Also how long the feed must hold one that moved too far. */
  readonly maxAgeMs: number;
  readonly maxStepPercent: number;
  /** Where believed prices are remembered. */
  readonly database: Queryable;
  readonly clock: Clock;
  readonly log: Pick<Log, "warn" | "error">;
  readonly fetch?: typeof fetch;
  readonly now?: () => number;
}

/** Prices that a loop keeps fresh. */
export interface PriceFeed extends PriceSource {
  readonly loop: BackgroundLoop;
  /** Reads the feed once. Throws when it does not answer as documented. */
  refresh(signal: AbortSignal): Promise<void>;
}

/** So far may a feed's clock be ahead of ours. */
const MAX_SKEW_MS = 60_000;

/**
 * Prices over HTTP. Fails closed: where the feed is silent, wrong, late or jumps, the last believed price serves until
 * it is too old, and then there is none. Believed prices are kept in the database, so that a restart does not believe a
 * jump, and no replica believes one that another doubts.
 */
export function createPriceFeed(options: PriceFeedOptions): PriceFeed {
  const { url, coins, refreshMs, maxAgeMs, maxStepPercent, clock, log, now = Date.now } = options;
  const states = new Map<string, PriceState>();
  const feed: PriceFeed = {
    priceOf(coinType) {
      const price = states.get(coinType)?.accepted;
      return price && now() - price.time.getTime() <= maxAgeMs ? price : undefined;
    },
    async refresh(signal) {
      const readings = await readFeed(url, signal, options.fetch);
      const remembered = await readPrices(options);
      for (const coin of coins) {
        const reading = readings.get(coin.coinType) ?? readings.get(coin.symbol);
        if (reading === undefined) log.warn({ coinType: coin.coinType }, "the price feed lacks a coin");
        else await take(coin, reading, remembered.get(coin.coinType));
      }
    },
    loop: createBackgroundLoop({
      name: "price feed",
      intervalMs: refreshMs,
      maxBackoffMs: refreshMs,
      clock,
      log,
      pass: async (signal) => {
        await feed.refresh(signal);
        return false;
      },
    }),
  };
  return feed;

  async function take(
    { coinType }: AcceptedCoin,
    reading: CoinPrice,
    remembered: CoinPrice | undefined,
  ): Promise<void> {
    const ageMs = now() - reading.time.getTime();
    if (ageMs > maxAgeMs || ageMs < -MAX_SKEW_MS) {
      log.warn(
        { coinType, time: reading.time },
        "the price feed's time differs too much from the current time",
      );
      return;
    }
    const known = states.get(coinType);
    const before = { ...known, accepted: newer(known?.accepted, remembered) };
    const after = checkPrice(before, reading, { maxStepPercent, holdMs: maxAgeMs });
    if (after.doubted !== undefined && before.doubted === undefined) {
      log.warn({ coinType }, "a price moved by more than the maximum step; waiting for confirmation");
    }
    if (after.accepted === reading) await rememberPrice(options, coinType, reading);
    states.set(coinType, after);
  }
}

function newer(one: CoinPrice | undefined, other: CoinPrice | undefined): CoinPrice | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one.time >= other.time ? one : other;
}

async function readPrices({ database, network }: PriceFeedOptions): Promise<Map<string, CoinPrice>> {
  const rows = await database.query<CoinPrice & { coinType: string }>(
    `SELECT coin_type AS "coinType", price_pico_usd AS "picoUsd", read_at AS "time"
     FROM coin_price WHERE network = $1`,
    [network],
  );
  return new Map(rows.map(({ coinType, picoUsd, time }) => [coinType, { picoUsd, time }]));
}

async function rememberPrice(
  { database, network }: PriceFeedOptions,
  coinType: string,
  { picoUsd, time }: CoinPrice,
): Promise<void> {
  await database.query(
    `INSERT INTO coin_price (network, coin_type, price_pico_usd, read_at) VALUES ($1, $2, $3, $4)
     ON CONFLICT (network, coin_type) DO UPDATE SET price_pico_usd = excluded.price_pico_usd,
       read_at = excluded.read_at WHERE coin_price.read_at < excluded.read_at`,
    [network, coinType, picoUsd, time],
  );
}
