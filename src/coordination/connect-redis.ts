import { Redis, type RedisOptions } from "ioredis";
import type { RedisOutage } from "./redis-outage.ts";

/** Creates a Redis client that reconnects automatically. It never waits for the server: services start without it. */
export function connectRedis({ url, outage, ...options }: RedisConnectionOptions): Redis {
  const client = new Redis(url, {
    maxRetriesPerRequest: null,
    retryStrategy: (attempt) => Math.min(50 * 2 ** Math.min(attempt, 10), MAX_RECONNECT_DELAY_MS),
    keepAlive: KEEP_ALIVE_MS,
    // A server that lost its primary role still answers, while the same address may already lead to the new primary.
    reconnectOnError: ({ message }) => message.includes("READONLY"),
    ...options,
  });
  // An error event without a listener ends the process.
  client.on("error", (cause: Error) => outage.lost(client, cause));
  client.on("ready", () => outage.restored(client));
  return client;
}

export interface RedisConnectionOptions
  extends Pick<
    RedisOptions,
    | "autoResubscribe"
    | "autoResendUnfulfilledCommands"
    | "enableOfflineQueue"
    | "commandTimeout"
    | "socketTimeout"
  > {
  readonly url: string;
  /** Called for every failure. The client reconnects automatically. */
  readonly outage: RedisOutage;
}

const MAX_RECONNECT_DELAY_MS = 2_000;
/** Detects a vanished peer even on a connection that only listens. */
const KEEP_ALIVE_MS = 10_000;
