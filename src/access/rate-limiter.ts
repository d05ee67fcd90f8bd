import type { Redis } from "ioredis";
import { type RateLimiterAbstract, RateLimiterRes } from "rate-limiter-flexible";
import { MemoryLimiter } from "./memory-limiter.ts";
import type { CostClassName } from "./method-policy.ts";
import { createRedisLimiter } from "./redis-limiter.ts";
import type { BucketSize } from "./token-bucket.ts";

/** What is limited by itself: calls by their cost class, and calls whose key was refused. */
export type RateClass = CostClassName | "refusedKey";

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

/** What {@link createRateLimiter} needs. */
export interface RateLimiterOptions {
  readonly limits: RateLimits;
  /** Undefined: each process counts for itself. */
  readonly redis?: Redis | undefined;
  /** Before each key in Redis, so that services may share one. Default `tss:`. */
  readonly prefix?: string;
  /** Milliseconds that only grow. Default: the clock of the process. */
  readonly now?: () => number;
}

/**
 * A token bucket for each subject and class. Over Redis replicas count together; while it does not answer, each counts
 * for itself, so that its loss refuses nobody and holds nobody up.
 */
export function createRateLimiter(options: RateLimiterOptions): RateLimiter {
  const { limits, redis, prefix = "tss:", now = () => performance.now() } = options;
  const classes = Object.entries(limits.perSecond).filter(([, perSecond]) => perSecond > 0);
  const limiters = new Map(
    classes.map(([name, perSecond]) => {
      const size = { perSecond, burstCount: Math.ceil(perSecond * limits.burstSeconds) };
      const local = new MemoryLimiter(size, now);
      const shared = redis && {
        ...size,
        client: redis,
        keyPrefix: `${prefix}rate:${name}`,
        insurance: local,
      };
      return [name, { ...size, limiter: shared ? createRedisLimiter(shared) : local }];
    }),
  );
  return {
    take(rateClass, subject) {
      const found = limiters.get(rateClass);
      return found && consume(found, subject);
    },
  };
}

interface SizedLimiter extends BucketSize {
  readonly limiter: Pick<RateLimiterAbstract, "consume">;
}

async function consume(
  { limiter, burstCount, perSecond }: SizedLimiter,
  subject: string,
): Promise<RateVerdict> {
  try {
    const { remainingPoints, msBeforeNext } = await limiter.consume(subject);
    return {
      isAllowed: true,
      limitCount: burstCount,
      remainingCount: remainingPoints,
      resetMs: msBeforeNext,
      retryAfterMs: 0,
    };
  } catch (refusal) {
    // What Redis fails with goes no further than the limiter in this process.
    if (!(refusal instanceof RateLimiterRes)) throw refusal;
    const retryAfterMs = Math.max(1, refusal.msBeforeNext);
    return {
      isAllowed: false,
      limitCount: burstCount,
      remainingCount: 0,
      resetMs: retryAfterMs + Math.ceil(((burstCount - 1) * 1_000) / perSecond),
      retryAfterMs,
    };
  }
}
