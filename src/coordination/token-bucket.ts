/** Takes a token if there is one. A bucket that is not known is full. A refusal takes nothing. */
export function takeToken(size: BucketSize, fullAtMs: number | undefined, nowMs: number): Taken {
  const tokenMs = 1_000 / size.perSecond;
  const capacityMs = size.burstCount * tokenMs;
  const beforeMs = Math.max(fullAtMs ?? nowMs, nowMs);
  const afterMs = beforeMs + tokenMs;
  const excessMs = afterMs - nowMs - capacityMs;
  // The clock and its sums are no finer than this.
  const isAllowed = excessMs < 1e-3;
  if (!isAllowed) return { isAllowed, fullAtMs: beforeMs, remainingCount: 0, waitMs: excessMs };
  const remainingCount = Math.floor((capacityMs - (afterMs - nowMs)) / tokenMs + 1e-6);
  return {
    isAllowed,
    fullAtMs: afterMs,
    remainingCount: Math.max(0, remainingCount),
    waitMs: afterMs - nowMs,
  };
}

/** A bucket that fills at an even rate up to its size; each call takes a token out of it. */
export interface BucketSize {
  /** How many calls may come at once. */
  readonly burstCount: number;
  readonly perSecond: number;
}

/** What became of a call. Times are from now on. */
export interface BucketVerdict {
  readonly isAllowed: boolean;
  /** Whole tokens that are left. */
  readonly remainingCount: number;
  /** Until the bucket is full; of a refused call, until there is a token for it. */
  readonly waitMs: number;
}

/** What became of a call and of the bucket. */
export interface Taken extends BucketVerdict {
  /** When the bucket is full again, in the clock that was given: all there is to know of a bucket. */
  readonly fullAtMs: number;
}
