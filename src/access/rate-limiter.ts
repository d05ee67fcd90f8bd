import type { Coordination } from "../coordination/coordination.ts";
import { createLocalCoordination } from "../coordination/local-coordination.ts";
import type { BucketSize, BucketVerdict } from "../coordination/token-bucket.ts";
import type { CostClassName } from "./method-policy.ts";

/** A token bucket for each subject and class, shared by all replicas as far as their coordination goes. */
export function createRateLimiter(options: RateLimiterOptions): RateLimiter {
  const { limits, coordination = createLocalCoordination() } = options;
  const classes = Object.entries(limits.perSecond).filter(([, perSecond]) => perSecond > 0);
  const limiters = new Map(
    classes.map(([name, perSecond]) => {
      const size = { perSecond, burstCount: Math.ceil(perSecond * limits.burstSeconds) };
      return [name, { size, buckets: coordination.buckets(`rate:${name}`, size) }];
    }),
  );
  return {
    take(rateClass, subject) {
      const found = limiters.get(rateClass);
      return found?.buckets.take(subject).then((verdict) => rateVerdict(found.size, verdict));
    },
  };
}

/**
 * The classes with separate limits: calls by their cost class, calls with a refused key, and `open`, the server's
 * routes that need no key.
 */
export type RateClass = CostClassName | "refusedKey" | "open";

/** The limits on the rate of calls. */
export interface RateLimits {
  /** Calls per second in the long run, by class; 0 does not limit the class. */
  readonly perSecond: Readonly<Record<RateClass, number>>;
  /** The burst, in seconds of the sustained rate; at least one call. */
  readonly burstSeconds: number;
}

/** The result of counting a call. */
export interface RateVerdict {
  readonly isAllowed: boolean;
  /** The largest burst of calls. */
  readonly limitCount: number;
  /** The number of further calls that are allowed now. */
  readonly remainingCount: number;
  /** The time until {@link limitCount} calls are allowed at once again. */
  readonly resetMs: number;
  /** The time until the next call is allowed; 0 for an allowed call. */
  readonly retryAfterMs: number;
}

/** Counts calls. */
export interface RateLimiter {
  /** Counts a call of the subject, such as a key's id. Undefined if the class has no limit. Never rejects. */
  take(rateClass: RateClass, subject: string): Promise<RateVerdict> | undefined;
}

export interface RateLimiterOptions {
  readonly limits: RateLimits;
  /** The shared counters. Default: each process counts separately. */
  readonly coordination?: Pick<Coordination, "buckets">;
}

function rateVerdict({ burstCount, perSecond }: BucketSize, verdict: BucketVerdict): RateVerdict {
  const { isAllowed, remainingCount } = verdict;
  const waitMs = Math.ceil(verdict.waitMs);
  if (isAllowed)
    return { isAllowed, limitCount: burstCount, remainingCount, resetMs: waitMs, retryAfterMs: 0 };
  const retryAfterMs = Math.max(1, waitMs);
  return {
    isAllowed,
    limitCount: burstCount,
    remainingCount: 0,
    resetMs: retryAfterMs + Math.ceil(((burstCount - 1) * 1_000) / perSecond),
    retryAfterMs,
  };
}
