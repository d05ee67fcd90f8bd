import type { Signals } from "./signals.ts";
import type { BucketSize, BucketVerdict } from "./token-bucket.ts";

/**
 * The state that replicas share beside the database: signals and counts. Both may be lost at any time. Correctness
 * never depends on them: without them, only waiting times and limits change.
 */
export interface Coordination {
  readonly signals: Signals;
  /** Returns token buckets of one size. Other names have separate buckets. */
  buckets(name: string, size: BucketSize): TokenBuckets;
  /** Rejects while this replica cannot share state with others. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** Token buckets by subject. */
export interface TokenBuckets {
  /** Takes a token from the subject's bucket if there is one. Never rejects, and never waits long. */
  take(subject: string): Promise<BucketVerdict>;
}
