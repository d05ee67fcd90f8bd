import type { CoinPrice } from "./price-source.ts";

/**
 * Returns the state after a reading. Accepts the first price, and any price within the maximum step from the last
 * accepted one. Doubts a price beyond that step until it has held for `holdMs` of the source's own time, within the
 * step from each reading to the next. Ignores readings that are not newer.
 */
export function checkPrice(state: PriceState, reading: CoinPrice, bounds: StepBounds): PriceState {
  const { accepted, doubted } = state;
  if (accepted === undefined) return { accepted: reading };
  if (reading.time <= (doubted?.price.time ?? accepted.time)) return state;
  if (isWithinStep(accepted, reading, bounds)) return { accepted: reading };
  const since = doubted && isWithinStep(doubted.price, reading, bounds) ? doubted.since : reading.time;
  if (reading.time.getTime() - since.getTime() >= bounds.holdMs) return { accepted: reading };
  return { accepted, doubted: { price: reading, since } };
}

/** The state of one coin's price. */
export interface PriceState {
  /** The newest accepted price. */
  readonly accepted?: CoinPrice | undefined;
  /** A price too far from the accepted one, and the time since which it has held. */
  readonly doubted?: { readonly price: CoinPrice; readonly since: Date } | undefined;
}

/** The maximum step of a price, and how long a price must hold after a larger step. */
export interface StepBounds {
  readonly maxStepPercent: number;
  readonly holdMs: number;
}

function isWithinStep(from: CoinPrice, to: CoinPrice, { maxStepPercent }: StepBounds): boolean {
  const step = to.picoUsd > from.picoUsd ? to.picoUsd - from.picoUsd : from.picoUsd - to.picoUsd;
  return step * 100n <= from.picoUsd * BigInt(maxStepPercent);
}
