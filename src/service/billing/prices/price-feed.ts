import { type BackgroundLoop, createBackgroundLoop } from "../../platform/lifecycle/background-loop.ts";
import type { Clock } from "../../platform/lifecycle/clock.ts";
import type { Database } from "../../platform/store/database.ts";
import type { Log } from "../../platform/telemetry/logger.ts";
import type { AcceptedCoin } from "../deposits/accepted-coins.ts";
import {
  type AgreedPrice,
  medianPrice,
  movedPercent,
  type PriceBound,
  type PriceBounds,
  type PriceState,
} from "./check-price.ts";
import type { PriceReader, PriceReading } from "./price-readers.ts";
import type { PriceSource } from "./price-source.ts";
import { takeReading } from "./stored-prices.ts";

/**
 * Creates a feed of prices over HTTP, from one or several sources. It uses the median if more than half of the sources
 * that cover a coin have a fresh price, and these lie close together. Fails closed: while sources are silent, wrong,
 * late, apart or moving too fast, the last accepted price serves until it is too old; then there is none. The state of
 * each price is in the database, so that its bounds hold for all replicas together, and across restarts.
 */
export function createPriceFeed(options: PriceFeedOptions): PriceFeed {
  const { readers, network, coins, refreshMs, maxAgeMs, maxSpreadPercent } = options;
  const { database, clock, log } = options;
  const states = new Map<string, PriceState>();
  const feed: PriceFeed = {
    priceOf(coinType) {
      const price = states.get(coinType)?.accepted;
      return price && clock.wallMs() - price.time.getTime() <= maxAgeMs ? price : undefined;
    },
    async refresh(signal) {
      const answers = await readAll(signal);
      for (const coin of coins) {
        const price = priceFrom(coin, answers);
        if (price !== undefined) await take(coin, price);
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

  function priceFrom(coin: AcceptedCoin, answers: Answers): AgreedPrice | undefined {
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

  async function take(coin: AcceptedCoin, reading: AgreedPrice): Promise<void> {
    const { coinType } = coin;
    const known = states.get(coinType);
    const bounds = { ...options, holdMs: maxAgeMs };
    const state = await takeReading(database, { network, coinType }, reading, clock.wallMs(), bounds);
    const { doubted } = state;
    if (doubted !== undefined && known?.doubted?.beyond !== doubted.beyond)
      log.warn({ coinType, bound: doubted.beyond }, DOUBTS[doubted.beyond]);
    const nearing = nearedBound(state, options);
    if (nearing !== undefined && nearing !== (known && nearedBound(known, options)))
      log.warn({ coinType, bound: nearing }, "a price has moved by more than half of its bound");
    states.set(coinType, state);
  }
}

/** Options of {@link createPriceFeed}. */
export interface PriceFeedOptions extends Omit<PriceBounds, "holdMs"> {
  /** At least one. */
  readonly readers: readonly PriceReader[];
  readonly network: string;
  readonly coins: readonly AcceptedCoin[];
  readonly refreshMs: number;
  /** The maximum age of a price, and how long a price that moved too far must hold. */
  readonly maxAgeMs: number;
  readonly maxSpreadPercent: number;
  /** Stores the state of each price. */
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
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

const DOUBTS: Readonly<Record<PriceBound, string>> = {
  step: "a price moved by more than the maximum step; it waits for a second source or an operator",
  hour: "a price moved by more than the maximum of an hour; it waits for the hour to pass or for an operator",
  day: "a price moved by more than the maximum of a day; it waits for the day to pass or for an operator",
};

/** Returns the bound of which the accepted prices have used more than half, the day's first. */
function nearedBound(
  { hour, day }: PriceState,
  { maxHourPercent, maxDayPercent }: Pick<PriceBounds, "maxHourPercent" | "maxDayPercent">,
): PriceBound | undefined {
  if (day !== undefined && 2 * movedPercent(day) > maxDayPercent) return "day";
  return hour !== undefined && 2 * movedPercent(hour) > maxHourPercent ? "hour" : undefined;
}
