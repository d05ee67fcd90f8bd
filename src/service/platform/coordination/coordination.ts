import type { Signals } from "./signals.ts";

/**
 * The state that replicas share outside the database: signals and rate-limit counts. Both may be lost at any time.
 * Correctness never depends on them: without them, only latencies and limits change.
 */
export interface Coordination {
  readonly signals: Signals;
  /** Returns token buckets of one size. Each name has separate buckets. */
  buckets(name: string, size: BucketSize): TokenBuckets;
  /** Returns marks that last for this time. Each name has separate marks. */
  marks(name: string, lifeMs: number): Marks;
  /** Rejects while this replica cannot share state with others. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** Token buckets by subject. */
export interface TokenBuckets {
  /** Takes a token from the subject's bucket if there is one. Never rejects, and never waits long. */
  take(subject: string): Promise<BucketVerdict>;
  /** Returns a token that was taken but not used. Never rejects. */
  giveBack(subject: string): Promise<void>;
}

/** Marks of subjects, each for some time. */
export interface Marks {
  /**
   * Marks a subject. True if it had no mark, false if it had one. Undefined if that is not known: state was lost or
   * cannot be shared now. Never rejects, and never waits long.
   */
  add(subject: string): Promise<boolean | undefined>;
}

/** Takes a token if there is one. An unknown bucket is full. A refused call takes nothing. */
export function takeToken(size: BucketSize, fullAtMs: number | undefined, nowMs: number): Taken {
  const tokenMs = 1_000 / size.perSecond;
  const capacityMs = size.burstCount * tokenMs;
  const beforeMs = Math.max(fullAtMs ?? nowMs, nowMs);
  const afterMs = beforeMs + tokenMs;
  const excessMs = afterMs - nowMs - capacityMs;
  // The resolution of the clock and of sums with it.
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

/** A bucket that fills at a constant rate up to its size. Each call takes one token. */
export interface BucketSize {
  /** The maximum burst of calls. */
  readonly burstCount: number;
  readonly perSecond: number;
}

/** The decision about a call. Times are relative to now. */
export interface BucketVerdict {
  readonly isAllowed: boolean;
  /** The number of whole tokens left. */
  readonly remainingCount: number;
  /** The time until the bucket is full, or until the next token for a refused call. */
  readonly waitMs: number;
}

/** The decision about a call, and the new state of the bucket. */
interface Taken extends BucketVerdict {
  /** The time at which the bucket is full again, on the given clock. It is the bucket's whole state. */
  readonly fullAtMs: number;
}
