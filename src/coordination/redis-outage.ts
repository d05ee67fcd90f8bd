import type { Log } from "../telemetry/log.ts";

/**
 * Logs each outage once, for any number of connections: that Redis is lost with the consequences, and that it is back.
 */
export function createRedisOutage(log: RedisLog, meaning: string): RedisOutage {
  const lost = new Set<object>();
  return {
    lost(connection, cause) {
      if (lost.size === 0) log.warn({ cause }, `Redis does not answer; ${meaning}`);
      lost.add(connection);
    },
    restored(connection) {
      if (lost.delete(connection) && lost.size === 0) log.info({}, "Redis answers again");
    },
  };
}

/** The observer of Redis. */
export type RedisLog = Pick<Log, "info" | "warn">;

/** Combines the failures of one outage. */
export interface RedisOutage {
  /** Reports that a connection failed. */
  lost(connection: object, cause: Error): void;
  /** Reports that a connection is open. */
  restored(connection: object): void;
}
