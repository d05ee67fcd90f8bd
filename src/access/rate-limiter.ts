import type { Coordination } from "../coordination/coordination.ts";
import { createLocalCoordination } from "../coordination/local-coordination.ts";
import type { BucketSize, BucketVerdict } from "../coordination/token-bucket.ts";
import type { CostClassName } from "./method-policy.ts";

/**
 * What is limited by itself: calls by their cost class, calls whose key was refused, and `open`, what anyone may ask of
 * the server itself.
 */
export type RateClass = CostClassName | "refusedKey" | "open";

/** How often something may be done. */
export interface RateLimits {
  /** Calls per second in the long run, by class; 0 does not limit the class. */
  readonly perSecond: Readonly<Record<RateClass, number>>;
  /** So many seconds' worth of calls may come at once, 1 at least. */
  readonly burstSeconds: number;
}

/** What became of a call. */
export interface RateVerdict {
  readonly isAllowed: boolean;
  /** How many calls may come at once. */
  readonly limitCount: number;
  /** How many more may come now. */
  readonly remainingCount: number;
  /** Until {@link limitCount} calls may come at once again. */
  readonly resetMs: number;
  /** Until one may come; 0 for a call that was allowed. */
  readonly retryAfterMs: number;
}

/** Counts calls. */
export interface RateLimiter {
  /** Counts a call of the subject, such as a key's id. Undefined where the class has no limit. Never rejects. */
  take(rateClass: RateClass, subject: string): Promise<RateVerdict> | undefined;
}

export interface RateLimiterOptions {
  readonly limits: RateLimits;
  /** Where calls are counted. Default: each process counts for itself. */
  readonly coordination?: Pick<Coordination, "buckets">;
}

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
