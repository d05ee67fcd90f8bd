import type { Log } from "../telemetry/log.ts";

/** Says once for each outage, of however many connections, that Redis is lost and what that means, and once that it is back. */
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

/** Who hears of Redis. */
export type RedisLog = Pick<Log, "info" | "warn">;

/** Tells an outage apart from its many failures. */
export interface RedisOutage {
  /** A connection failed, for the first time or again. */
  lost(connection: object, cause: Error): void;
  /** A connection stands. */
  restored(connection: object): void;
}
