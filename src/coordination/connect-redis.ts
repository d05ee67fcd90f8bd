import { Redis, type RedisOptions } from "ioredis";

/** How a connection behaves. */
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
  /** Hears of a lost connection, once for each outage. It is made again by itself. */
  readonly log: { warn(fields: object, message: string): void };
  /** What the outage means, for the log. */
  readonly outage: string;
}

const MAX_RECONNECT_DELAY_MS = 2_000;

/** A client of Redis that connects by itself, again and again. Never waits for the server: a service starts without it. */
export function connectRedis({ url, log, outage, ...options }: RedisConnectionOptions): Redis {
  const client = new Redis(url, {
    maxRetriesPerRequest: null,
    retryStrategy: (attempt) => Math.min(50 * 2 ** Math.min(attempt, 10), MAX_RECONNECT_DELAY_MS),
    ...options,
  });
  let isDown = false;
  // An error event that nobody hears ends the process. One line for each outage is enough.
  client.on("error", (cause: Error) => {
    if (!isDown) log.warn({ cause }, `Redis does not answer; ${outage}`);
    isDown = true;
  });
  client.on("ready", () => {
    isDown = false;
  });
  return client;
}
