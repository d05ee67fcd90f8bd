import type { Log } from "../telemetry/log.ts";

/**
 * Logs the start and the end of each outage once for all connections. The start has the consequences in `meaning`.
 */
export function createRedisOutage(log: RedisLog, meaning: string): RedisOutage {
  const lost = new Set<object>();
  return {
    lost(connection, cause) {
      if (lost.size === 0) log.warn({ cause }, `Redis does not answer; ${meaning}`);
      lost.add(connection);
    },
    restored(connection) {
      if (lost.delete(connection) && lost.size === 0) log.info({}, "Redis is reachable again");
    },
  };
}

/** The log for outages of Redis. */
export type RedisLog = Pick<Log, "info" | "warn">;

/** Combines the failures of several connections into one outage. */
export interface RedisOutage {
  lost(connection: object, cause: Error): void;
  restored(connection: object): void;
}
