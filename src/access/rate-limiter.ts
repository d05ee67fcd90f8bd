import type { Coordination } from "../coordination/coordination.ts";
import { createLocalCoordination } from "../coordination/local-coordination.ts";
import type { BucketSize, BucketVerdict } from "../coordination/token-bucket.ts";
import type { CostClassName } from "./method-policy.ts";

/**
 * Creates a rate limiter with a token bucket per subject and class, shared by the replicas that share `coordination`.
 */
export function createRateLimiter<Class extends RateClass>(
  options: RateLimiterOptions<Class>,
): RateLimiter<Class> {
  const { limits, coordination = createLocalCoordination() } = options;
  const rates = Object.entries(limits.perSecond) as [Class, number][];
  const classes = rates.filter(([, perSecond]) => perSecond > 0);
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
 * The classes with separate limits: the cost classes of calls, calls with a refused key, and `open`, the server's
 * routes that need no key.
 */
export type RateClass = CostClassName | "refusedKey" | "open";

/** The limits on the rate of calls of some classes. Default: of all. */
export interface RateLimits<Class extends RateClass = RateClass> {
  /** The sustained rate in calls per second, by class; 0 for no limit. */
  readonly perSecond: Readonly<Record<Class, number>>;
  /** The burst, in seconds of the sustained rate; it allows at least one call. */
  readonly burstSeconds: number;
}

/** The result of a counted call. */
export interface RateVerdict {
  readonly isAllowed: boolean;
  /** The maximum burst, in calls. */
  readonly limitCount: number;
  /** The number of calls still allowed now. */
  readonly remainingCount: number;
  /** The time until a burst of {@link limitCount} calls is allowed again. */
  readonly resetMs: number;
  /** The time until the next call is allowed; 0 for an allowed call. */
  readonly retryAfterMs: number;
}

/** Limits the rate of calls. */
export interface RateLimiter<Class extends RateClass = RateClass> {
  /** Counts a call of the subject, such as a key's id. Undefined if the class has no limit. Never rejects. */
  take(rateClass: Class, subject: string): Promise<RateVerdict> | undefined;
}

export interface RateLimiterOptions<Class extends RateClass = RateClass> {
  readonly limits: RateLimits<Class>;
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
