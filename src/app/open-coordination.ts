import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import type { Coordination } from "../coordination/coordination.ts";
import { createLocalCoordination } from "../coordination/local-coordination.ts";
import { createRedisCoordination } from "../coordination/redis-coordination.ts";

/**
 * Opens the coordination of replicas: through Redis if configured, otherwise within the process. Warns if other
 * replicas may exist without Redis.
 */
export function openCoordination(
  { redisUrl, databaseUrl }: Pick<Config, "redisUrl" | "databaseUrl">,
  log: Logger,
): Coordination {
  if (redisUrl !== undefined) return createRedisCoordination({ url: redisUrl.reveal(), log });
  // The embedded database has only one process.
  const isAlone = databaseUrl === undefined;
  if (!isAlone) log.warn({}, ALONE);
  return createLocalCoordination(undefined, isAlone);
}

const ALONE =
  "REDIS_URL is not set: with other replicas, this one counts calls for its rate limits separately, accepts a key that " +
  "another one revoked for up to five seconds more, and notices the others' changes later, by polling; nothing else changes";
