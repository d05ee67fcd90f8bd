import type { Redis } from "ioredis";
import { connectRedis } from "../coordination/connect-redis.ts";

/** How {@link connectLimiterRedis} connects. */
export interface LimiterRedisOptions {
  readonly url: string;
  readonly log: { warn(fields: object, message: string): void };
  /** A call waits no longer for its count; it is then counted in this process. Default 100 ms. */
  readonly timeoutMs?: number;
}

const DEFAULT_TIMEOUT_MS = 100;

/** A connection for a rate limiter: what it cannot say at once is decided without it. */
export function connectLimiterRedis({
  url,
  log,
  timeoutMs = DEFAULT_TIMEOUT_MS,
}: LimiterRedisOptions): Redis {
  return connectRedis({
    url,
    log,
    outage: "each replica counts calls for itself",
    enableOfflineQueue: false,
    // What was counted here meanwhile is not to be counted there once more.
    autoResendUnfulfilledCommands: false,
    commandTimeout: timeoutMs,
    // A server that hangs costs the calls of this time their wait; then the connection is made anew, and until that
    // succeeds nobody waits.
    socketTimeout: 2 * timeoutMs,
  });
}
