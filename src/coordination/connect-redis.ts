import { Redis, type RedisOptions } from "ioredis";
import type { RedisOutage } from "./redis-outage.ts";

/** A client of Redis that connects by itself, again and again. Never waits for the server: a service starts without it. */
export function connectRedis({ url, outage, ...options }: RedisConnectionOptions): Redis {
  const client = new Redis(url, {
    maxRetriesPerRequest: null,
    retryStrategy: (attempt) => Math.min(50 * 2 ** Math.min(attempt, 10), MAX_RECONNECT_DELAY_MS),
    keepAlive: KEEP_ALIVE_MS,
    // A server that lost its role to another one answers on; the same address may lead to the other one by now.
    reconnectOnError: ({ message }) => message.includes("READONLY"),
    ...options,
  });
  // An error event that nobody hears ends the process.
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
  /** Hears of every failure. The connection is made again by itself. */
  readonly outage: RedisOutage;
}

const MAX_RECONNECT_DELAY_MS = 2_000;
/** A peer that vanished without a word is noticed on a connection that only listens, too. */
const KEEP_ALIVE_MS = 10_000;
