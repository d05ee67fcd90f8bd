import type { AgreedPrice } from "./check-price.ts";
import type { PriceReading } from "./price-reading.ts";
import { compareAmounts } from "./usd-price.ts";

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
  const prices = readings.map(({ picoUsd }) => picoUsd).sort(compareAmounts);
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
