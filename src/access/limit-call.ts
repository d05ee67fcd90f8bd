import { ServiceError } from "../errors/service-error.ts";
import { addressBlock } from "./address-block.ts";
import type { Caller } from "./caller.ts";
import type { RateClass, RateLimiter, RateVerdict } from "./rate-limiter.ts";

/**
 * Counts a call by its caller's key, or by its address without a key, and sends the remaining budget in `ratelimit-*`.
 * Throws RATE_LIMITED with the same headers if no budget is left.
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
      return `key:${caller.apiKeyId}`;
    case "admin":
      return caller.origin.actor;
    case "anonymous":
      return `address:${addressBlock(address)}`;
  }
}

function headersOf(verdict: RateVerdict): Record<string, string> {
  return {
    "ratelimit-limit": String(verdict.limitCount),
    "ratelimit-remaining": String(verdict.remainingCount),
    // Rounding errors of the clock must not add a second.
    "ratelimit-reset": String(Math.ceil(verdict.resetMs / 1_000 - 1e-6)),
  };
}
