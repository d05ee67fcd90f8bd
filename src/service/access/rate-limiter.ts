import { Code } from "@connectrpc/connect";
import type { BucketSize, BucketVerdict, Coordination } from "../platform/coordination/coordination.ts";
import { createLocalCoordination } from "../platform/coordination/local-coordination.ts";
import { RecentMap } from "../platform/coordination/recent-map.ts";
import { ERROR_CATALOGUE } from "../platform/errors/catalogue.ts";
import { ServiceError } from "../platform/errors/service-error.ts";
import { addressBlock } from "./address-block.ts";
import type { Caller, CallerSession, ProjectCaller } from "./caller.ts";
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
  const bucketsOf = (factor: number, prefix: string) =>
    new Map(
      classes.map(([name, perSecond]) => {
        const size = {
          perSecond: perSecond * factor,
          burstCount: Math.ceil(perSecond * factor * limits.burstSeconds),
        };
        return [name, { size, buckets: coordination.buckets(prefix + name, size) }];
      }),
    );
  const single = bucketsOf(1, "rate:");
  const factor = limits.sessionsFactor ?? 0;
  const sessions: typeof single = factor > 0 ? bucketsOf(factor, "rate:sessions:") : new Map();
  const taker = (limiters: typeof single) => (rateClass: Class, subject: string) => {
    const found = limiters.get(rateClass);
    return found?.buckets.take(subject).then((verdict) => rateVerdict(found.size, verdict));
  };
  return { take: taker(single), takeOfSessions: taker(sessions) };
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
  /** The rate of all sessions of a project together, as a multiple of one user's. Default: 0, for no limit. */
  readonly sessionsFactor?: number;
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
  /** Counts a call of one of a project's sessions against the limit of all of them. Else like {@link take}. */
  takeOfSessions(rateClass: Class, projectId: string): Promise<RateVerdict> | undefined;
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

/**
 * Counts a call by its caller's key, by the user of its session, or by its address without either, and sends the
 * remaining budget in `ratelimit-*`. A session's call also counts against the limit of all sessions of its project, after
 * its user's, so that nobody uses up more of the project's limit than a user may. Throws RATE_LIMITED with the headers of
 * the limit that is reached.
 */
export function limitCall<Class extends RateClass>(
  limiter: RateLimiter<Class>,
  rateClass: NoInfer<Class>,
  caller: Caller,
  address: string,
  call: { readonly responseHeader: Headers },
): Promise<void> | undefined {
  return limiter.take(rateClass, subjectOf(caller, address))?.then((verdict) => {
    if (!verdict.isAllowed) throw rateLimited(verdict, `too many calls of the class \`${rateClass}\``);
    for (const [name, value] of Object.entries(headersOf(verdict))) call.responseHeader.set(name, value);
    if (caller.kind !== "project" || caller.session === undefined) return undefined;
    return limiter.takeOfSessions(rateClass, caller.projectId)?.then((ofSessions) => {
      if (!ofSessions.isAllowed)
        throw rateLimited(
          ofSessions,
          `too many calls of the class \`${rateClass}\` by the project's sessions`,
        );
    });
  });
}

/** Returns the error for a refused call, with the time after which a retry succeeds. */
export function rateLimited(verdict: RateVerdict, what: string): ServiceError {
  return new ServiceError("RATE_LIMITED", `${what}; try again in ${verdict.retryAfterMs} ms`, {
    retryAfterSeconds: verdict.retryAfterMs / 1_000,
    headers: headersOf(verdict),
  });
}

function subjectOf(caller: Caller, address: string): string {
  switch (caller.kind) {
    case "project":
      return caller.session === undefined ? `key:${caller.apiKeyId}` : userSubject(caller, caller.session);
    case "admin":
      return caller.origin.actor;
    case "anonymous":
      return `address:${addressBlock(address)}`;
  }
}

/** All sessions of a user share one bucket, so that a user with many sessions has the rate of one key. */
function userSubject({ projectId }: ProjectCaller, { userReference }: CallerSession): string {
  return `user:${projectId}:${userReference}`;
}

function headersOf(verdict: RateVerdict): Record<string, string> {
  return {
    "ratelimit-limit": String(verdict.limitCount),
    "ratelimit-remaining": String(verdict.remainingCount),
    // Rounding errors of the clock must not add a second.
    "ratelimit-reset": String(Math.ceil(verdict.resetMs / 1_000 - 1e-6)),
  };
}

/** Creates a guard that counts refused keys by address, for a bounded number of addresses. */
export function createRefusedKeys(limiter: RateLimiter, now: () => number): RefusedKeys {
  const paused = new RecentMap<string, { readonly untilMs: number; readonly verdict: RateVerdict }>(
    ADDRESSES_MAX_COUNT,
  );
  return {
    async guard(address, check) {
      try {
        return await check();
      } catch (error) {
        if (!isRefusedKey(error)) throw error;
        const subject = `address:${address}`;
        const pause = paused.get(subject);
        const leftMs = pause === undefined ? 0 : pause.untilMs - now();
        if (pause !== undefined && leftMs > 0)
          throw tooMany({ ...pause.verdict, retryAfterMs: Math.ceil(leftMs) });
        const verdict = await limiter.take("refusedKey", subject);
        if (verdict === undefined || verdict.isAllowed) throw error;
        paused.set(subject, { untilMs: now() + verdict.retryAfterMs, verdict });
        throw tooMany(verdict);
      }
    },
  };
}

/** Slows down callers that guess keys. */
export interface RefusedKeys {
  /**
   * Runs a check of a key for a caller's address or address block. A key that the check refuses as UNAUTHENTICATED
   * counts against the address. Beyond the limit, such calls end with RATE_LIMITED for a while. A key that passes the
   * check is never refused.
   */
  guard<T>(address: string, check: () => Promise<T>): Promise<T>;
}

const ADDRESSES_MAX_COUNT = 10_000;

function isRefusedKey(error: unknown): boolean {
  // Every page gets its first nonce by a refusal.
  if (!(error instanceof ServiceError) || error.reason === "PROOF_NONCE_REQUIRED") return false;
  return ERROR_CATALOGUE[error.reason].code === Code.Unauthenticated;
}

function tooMany(verdict: RateVerdict): ServiceError {
  return rateLimited(verdict, "too many calls with a missing or wrong key from this address");
}
