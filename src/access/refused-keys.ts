import { Code } from "@connectrpc/connect";
import { RecentMap } from "../coordination/recent-map.ts";
import { ERROR_CATALOGUE } from "../errors/catalogue.ts";
import { ServiceError } from "../errors/service-error.ts";
import { rateLimited } from "./limit-call.ts";
import type { RateLimiter, RateVerdict } from "./rate-limiter.ts";

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
  return error instanceof ServiceError && ERROR_CATALOGUE[error.reason].code === Code.Unauthenticated;
}

function tooMany(verdict: RateVerdict): ServiceError {
  return rateLimited(verdict, "too many calls with a missing or wrong key from this address");
}
