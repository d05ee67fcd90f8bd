import { createRateLimiter, type RateLimiter } from "../access/rate-limiter.ts";
import type { Config } from "../config.ts";
import { connectRedis } from "../coordination/connect-redis.ts";

/** What {@link openRateLimiter} needs. */
export interface RateLimiterParts {
  readonly config: Pick<Config, "redisUrl" | "rateLimits">;
  readonly log: { warn(fields: object, message: string): void };
  readonly lifecycle: { onStop(name: string, stop: () => unknown): void };
}

/** A call waits no longer for its count; it is then counted in this process. */
const COUNT_TIMEOUT_MS = 100;
/** A connection that says nothing for so long is made anew, and nobody waits for it meanwhile. */
const SILENCE_TIMEOUT_MS = 250;

/** The rate limiter that the configuration asks for: across replicas with Redis, else in this process. */
export function openRateLimiter({ config, log, lifecycle }: RateLimiterParts): RateLimiter {
  const url = config.redisUrl?.reveal();
  if (url === undefined) return createRateLimiter({ limits: config.rateLimits });
  const redis = connectRedis({
    url,
    log,
    outage: "each replica counts calls for itself",
    enableOfflineQueue: false,
    commandTimeout: COUNT_TIMEOUT_MS,
    socketTimeout: SILENCE_TIMEOUT_MS,
  });
  lifecycle.onStop("rate limiter", () => redis.disconnect());
  return createRateLimiter({ limits: config.rateLimits, redis });
}
