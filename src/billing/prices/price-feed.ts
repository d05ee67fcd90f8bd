import sql from "sql-template-tag";
import { type BackgroundLoop, createBackgroundLoop } from "../../lifecycle/background-loop.ts";
import type { Clock } from "../../lifecycle/clock.ts";
import type { Database } from "../../store/database.ts";
import { execute } from "../../store/statements.ts";
import type { Log } from "../../telemetry/log.ts";
import type { AcceptedCoin } from "../deposits/accepted-coins.ts";
import { checkPrice, type PriceState } from "./check-price.ts";
import { medianPrice } from "./median-price.ts";
import type { PriceReader, PriceReading } from "./price-reading.ts";
import type { CoinPrice, PriceSource } from "./price-source.ts";

/**
 * Creates a feed of prices over HTTP, from one or several sources. It uses the median if more than half of the sources
 * that cover a coin have a fresh price, and these lie close together. Fails closed: while sources are silent, wrong,
 * late, apart or jumping, the last accepted price serves until it is too old; then there is none. Accepted prices are
 * stored in the database, so that a restart does not accept a jump, and no replica accepts a price that another doubts.
 */
export function createPriceFeed(options: PriceFeedOptions): PriceFeed {
  const { readers, coins, refreshMs, maxAgeMs, maxStepPercent, maxSpreadPercent } = options;
  const { clock, log } = options;
  const states = new Map<string, PriceState>();
  const feed: PriceFeed = {
    priceOf(coinType) {
      const price = states.get(coinType)?.accepted;
      return price && clock.wallMs() - price.time.getTime() <= maxAgeMs ? price : undefined;
    },
    async refresh(signal) {
      const answers = await readAll(signal);
      const remembered = await readPrices(options);
      for (const coin of coins) {
        const price = priceFrom(coin, answers);
        if (price !== undefined) await take(coin, price, remembered.get(coin.coinType));
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

  /** Returns the answers by source. Throws the last failure if every source fails. */
  async function readAll(signal: AbortSignal): Promise<Answers> {
    const answers: Answers = new Map();
    const results = await Promise.allSettled(readers.map((reader) => reader.read(signal)));
    for (const [index, result] of results.entries()) {
      const reader = readers[index];
      if (reader === undefined) continue;
      if (result.status === "fulfilled") answers.set(reader, result.value);
      else if (results.length > 1)
        log.warn({ source: reader.name, err: result.reason }, "a price source failed");
    }
    const failed = results.findLast((result) => result.status === "rejected");
    if (answers.size === 0 && failed !== undefined) throw failed.reason;
    return answers;
  }

  function priceFrom(coin: AcceptedCoin, answers: Answers): CoinPrice | undefined {
    const { coinType } = coin;
    const covering = readers.filter((reader) => reader.covers(coin));
    const readings = covering.flatMap((reader) => {
      const answer = answers.get(reader);
      const reading = answer?.get(coinType) ?? answer?.get(coin.name) ?? answer?.get(coin.symbol);
      if (reading !== undefined && isFresh(reading)) return [reading];
      const { name: source } = reader;
      if (reading !== undefined)
        log.warn(
          { coinType, source, time: reading.time },
          "a price is too old, or its time is in the future",
        );
      else if (answer !== undefined) log.warn({ coinType, source }, "a price source lacks a coin");
      return [];
    });
    const minCount = Math.floor(covering.length / 2) + 1;
    const price = medianPrice(readings, { minCount, maxSpreadPercent });
    if (typeof price === "object") return price;
    const counts = { sourceCount: covering.length, readingCount: readings.length };
    if (price === "too-far-apart") log.warn({ coinType, ...counts }, "the price sources are too far apart");
    else if (covering.length > 1)
      log.warn({ coinType, ...counts }, "too few price sources have a fresh price");
    return undefined;
  }

  function isFresh({ time }: PriceReading): boolean {
    const ageMs = clock.wallMs() - time.getTime();
    return ageMs <= maxAgeMs && ageMs >= -MAX_SKEW_MS;
  }

  async function take(
    { coinType }: AcceptedCoin,
    reading: CoinPrice,
    remembered: CoinPrice | undefined,
  ): Promise<void> {
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

/** Options of {@link createPriceFeed}. */
export interface PriceFeedOptions {
  /** At least one. */
  readonly readers: readonly PriceReader[];
  readonly network: string;
  readonly coins: readonly AcceptedCoin[];
  readonly refreshMs: number;
  /** The maximum age of a price, and how long a price that moved too far must hold. */
  readonly maxAgeMs: number;
  readonly maxStepPercent: number;
  readonly maxSpreadPercent: number;
  /** Stores accepted prices. */
  readonly database: Pick<Database, "prisma" | "query">;
  readonly clock: Clock;
  readonly log: Pick<Log, "warn" | "error">;
}

/** A source of prices that a loop keeps fresh. */
export interface PriceFeed extends PriceSource {
  readonly loop: BackgroundLoop;
  /** Reads every source once. Throws if none returns a valid response. */
  refresh(signal: AbortSignal): Promise<void>;
}

type Answers = Map<PriceReader, ReadonlyMap<string, PriceReading>>;

/** The maximum time by which a source's clock may be ahead of ours. */
const MAX_SKEW_MS = 60_000;

function newer(one: CoinPrice | undefined, other: CoinPrice | undefined): CoinPrice | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one.time >= other.time ? one : other;
}

async function readPrices({ database, network }: PriceFeedOptions): Promise<Map<string, CoinPrice>> {
  const rows = await database.prisma.coinPrice.findMany({ where: { network } });
  return new Map(
    rows.map(({ coinType, pricePicoUsd, readAt }) => [coinType, { picoUsd: pricePicoUsd, time: readAt }]),
  );
}

async function rememberPrice(
  { database, network }: PriceFeedOptions,
  coinType: string,
  { picoUsd, time }: CoinPrice,
): Promise<void> {
  await execute(
    database,
    sql`INSERT INTO coin_price (network, coin_type, price_pico_usd, read_at)
     VALUES (${network}, ${coinType}, ${picoUsd}, ${time})
     ON CONFLICT (network, coin_type) DO UPDATE SET price_pico_usd = excluded.price_pico_usd,
       read_at = excluded.read_at WHERE coin_price.read_at < excluded.read_at`,
  );
}
