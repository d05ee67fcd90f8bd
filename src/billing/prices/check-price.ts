import type { CoinPrice } from "./price-source.ts";

/** What is known of one coin's price. */
export interface PriceState {
  /** The newest price that is believed. */
  readonly accepted?: CoinPrice | undefined;
  /** One that is too far from it, since when the feed has held it. */
  readonly doubted?: { readonly price: CoinPrice; readonly since: Date } | undefined;
}

/** How far a price may move at once, and how long the feed must hold one that moved further. */
export interface StepBounds {
  readonly maxStepPercent: number;
  readonly holdMs: number;
}

/**
 * What to believe after a reading. The first price is believed. One within the step of the last believed takes its
 * place. One beyond it is doubted, and believed once the feed has held it, within the step from each reading to the
 * next, for `holdMs` of the feed's own time. Readings that are not newer change nothing.
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

function isWithinStep(from: CoinPrice, to: CoinPrice, { maxStepPercent }: StepBounds): boolean {
  const step = to.picoUsd > from.picoUsd ? to.picoUsd - from.picoUsd : from.picoUsd - to.picoUsd;
  return step * 100n <= from.picoUsd * BigInt(maxStepPercent);
}
