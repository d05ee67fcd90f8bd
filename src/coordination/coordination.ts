import type { Signals } from "./signals.ts";
import type { BucketSize, BucketVerdict } from "./token-bucket.ts";

/**
 * The state that replicas share outside the database: signals and rate-limit counts. Both may be lost at any time.
 * Correctness never depends on them: without them, only latencies and limits change.
 */
export interface Coordination {
  readonly signals: Signals;
  /** Returns token buckets of one size. Each name has separate buckets. */
  buckets(name: string, size: BucketSize): TokenBuckets;
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
