import type { Signals } from "./signals.ts";
import type { BucketSize, BucketVerdict } from "./token-bucket.ts";

/**
 * What replicas share beside the database: hints and counts, both of which may be lost at any time. Nothing that must
 * be right depends on it, so it may be emptied, killed or left out, and only times and limits change.
 */
export interface Coordination {
  readonly signals: Signals;
  /** Token buckets of one size; those of another name are others. */
  buckets(name: string, size: BucketSize): TokenBuckets;
  /** Rejects while this replica shares nothing with others. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** Token buckets by subject. */
export interface TokenBuckets {
  /** Takes a token out of the subject's bucket if there is one. Never rejects, and never waits long. */
  take(subject: string): Promise<BucketVerdict>;
}
