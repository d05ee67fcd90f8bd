import type { Marks } from "./coordination.ts";
import type { RedisClient } from "./open-redis.ts";

/** Creates marks that processes share through Redis. They are unknown while Redis does not answer in time. */
export function createRedisMarks(client: RedisClient, prefix: string, lifeMs: number): Marks {
  return {
    async add(subject) {
      // Without a connection, the command would fail anyway, only later.
      if (client.status !== "ready") return undefined;
      try {
        return (await client.set(prefix + subject, "", "PX", lifeMs, "NX")) === "OK";
      } catch {
        return undefined;
      }
    },
  };
}
