import { compareIntegers } from "../../../protocol/class-groups/integers.ts";
import type { PriceReading } from "./price-readers.ts";
import type { CoinPrice } from "./price-source.ts";

/**
 * Returns the state after a reading. Accepts the first price, and any price within all bounds. Doubts a price beyond
 * one of them. A price beyond the step alone counts once two sources agree on it and it has held for `holdMs`, within
 * the step from each reading to the next. No number of sources moves the price further than the bounds of an hour and
 * of a day: it waits until earlier prices have left the window, or for an operator. Ignores readings that are not
 * newer.
 */
export function checkPrice(
  state: PriceState,
  reading: AgreedPrice,
  nowMs: number,
  bounds: PriceBounds,
): PriceState {
  const { accepted, doubted } = state;
  const { picoUsd, time, sourceCount } = reading;
  const price: CoinPrice = { picoUsd, time };
  if (accepted === undefined) return { ...state, accepted: price };
  if (time <= (doubted?.price.time ?? accepted.time)) return state;
  const beyond = exceededBound(state, accepted, price, bounds);
  if (beyond === undefined) return { ...state, accepted: price, doubted: undefined };
  const hasHeld = doubted !== undefined && isWithinStep(doubted.price, price, bounds);
  const sinceMs = hasHeld ? doubted.since.getTime() : nowMs;
  if (beyond === "step" && sourceCount >= CONFIRMING_SOURCE_COUNT && nowMs - sinceMs >= bounds.holdMs)
    return { ...state, accepted: price, doubted: undefined };
  return { ...state, doubted: { price, since: new Date(sinceMs), beyond } };
}

/** The state of one coin's price. */
export interface PriceState {
  /** The newest accepted price. */
  readonly accepted?: CoinPrice | undefined;
  /** A price beyond a bound. */
  readonly doubted?: DoubtedPrice | undefined;
  /** The accepted prices of the last hour and the last day. Undefined if there was none. */
  readonly hour?: PriceRange | undefined;
  readonly day?: PriceRange | undefined;
}

/** A price that does not count yet. */
export interface DoubtedPrice {
  readonly price: CoinPrice;
  /** The time since which it has held, by the service's clock: a source could invent its own. */
  readonly since: Date;
  readonly beyond: PriceBound;
}

/** A bound of a price: from one reading to the next, within an hour, within a day. */
export type PriceBound = "step" | "hour" | "day";

/** The lowest and the highest price of a time. */
interface PriceRange {
  readonly lowPicoUsd: bigint;
  readonly highPicoUsd: bigint;
}

/** A price that this many sources agree on. */
export interface AgreedPrice extends CoinPrice {
  readonly sourceCount: number;
}

/** How far a price moves, in percent. An hour and a day count from the lowest to the highest price, in both directions. */
export interface PriceBounds {
  readonly maxStepPercent: number;
  readonly maxHourPercent: number;
  readonly maxDayPercent: number;
  /** How long a price beyond the step must hold. */
  readonly holdMs: number;
}

/** The source that reported the jump, and a second one. */
const CONFIRMING_SOURCE_COUNT = 2;

/** Returns how far the price has moved within the range, in percent of the lowest price, rounded down. */
export function movedPercent({ lowPicoUsd, highPicoUsd }: PriceRange): number {
  return Number(((highPicoUsd - lowPicoUsd) * 100n) / lowPicoUsd);
}

/** Returns true if the two prices are at most this many percent of the first apart. */
export function isWithinPercent(from: bigint, to: bigint, percent: number): boolean {
  const step = to > from ? to - from : from - to;
  return step * 100n <= from * BigInt(percent);
}

function exceededBound(
  { hour, day }: PriceState,
  accepted: CoinPrice,
  price: CoinPrice,
  bounds: PriceBounds,
): PriceBound | undefined {
  if (!staysWithin([accepted, price], day, bounds.maxDayPercent)) return "day";
  if (!staysWithin([accepted, price], hour, bounds.maxHourPercent)) return "hour";
  return isWithinStep(accepted, price, bounds) ? undefined : "step";
}

/** The accepted price counted until now, so it belongs to the range even if it was read before. */
function staysWithin(prices: readonly CoinPrice[], range: PriceRange | undefined, percent: number): boolean {
  const bounds = range === undefined ? [] : [range.lowPicoUsd, range.highPicoUsd];
  const all = [...prices.map(({ picoUsd }) => picoUsd), ...bounds].sort(compareIntegers);
  const [low, high] = [all[0], all.at(-1)];
  return low === undefined || high === undefined || isWithinPercent(low, high, percent);
}

function isWithinStep(from: CoinPrice, to: CoinPrice, { maxStepPercent }: PriceBounds): boolean {
  return isWithinPercent(from.picoUsd, to.picoUsd, maxStepPercent);
}

/**
 * Returns the median of several sources' prices of a coin; for an even number, the mean of the middle two. Its time is
 * that of the oldest reading. Returns no price if too few sources have one, or if the prices with their bounds lie too
 * far apart to tell which of them is right.
 */
export function medianPrice(
  readings: readonly PriceReading[],
  { minCount, maxSpreadPercent }: MedianBounds,
): AgreedPrice | "too-few" | "too-far-apart" {
  const [first, ...others] = readings;
  if (first === undefined || readings.length < minCount) return "too-few";
  const prices = readings.map(({ picoUsd }) => picoUsd).sort(compareIntegers);
  const upper = prices[Math.floor(prices.length / 2)] ?? first.picoUsd;
  const lower = prices[Math.floor((prices.length - 1) / 2)] ?? first.picoUsd;
  const picoUsd = (lower + upper) / 2n;
  let { lowPicoUsd: low, highPicoUsd: high, time } = first;
  for (const reading of others) {
    if (reading.lowPicoUsd < low) low = reading.lowPicoUsd;
    if (reading.highPicoUsd > high) high = reading.highPicoUsd;
    if (reading.time < time) time = reading.time;
  }
  if ((high - low) * 100n > picoUsd * BigInt(maxSpreadPercent)) return "too-far-apart";
  return { picoUsd, time, sourceCount: readings.length };
}

/** Bounds of {@link medianPrice}. */
export interface MedianBounds {
  /** The minimum number of readings. */
  readonly minCount: number;
  /** The maximum distance from the lowest to the highest bound of all readings, in percent of the median. */
  readonly maxSpreadPercent: number;
}
