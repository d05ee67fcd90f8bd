import type { EventEmitter } from "node:events";
import { Cluster, Redis, type RedisOptions } from "ioredis";
import type { Log } from "../telemetry/logger.ts";
import { parseRedisUrl, type RedisAddress } from "./redis-address.ts";

/** A client of one server, of the primary that Sentinels name, or of a Cluster. */
export type RedisClient = EventEmitter &
  Pick<Redis, "set" | "publish" | "psubscribe" | "defineCommand" | "disconnect" | "info"> & {
    /** `ready` if commands are sent at once. */
    readonly status: string;
  };

/**
 * Creates a Redis client that reconnects automatically. It never waits for the server: services start without it. After
 * a failover it follows the new primary, which the Sentinels or the Cluster's nodes name. Throws a TypeError for a URL
 * that `parseRedisUrl` does not know.
 */
export function openRedis({ url, outage, ...options }: OpenRedisOptions): RedisClient {
  const address = parseRedisUrl(url);
  if (address === undefined) throw new TypeError("not a URL of Redis");
  const client = address.kind === "cluster" ? openCluster(address, options) : openServer(address, options);
  // An error event without a listener ends the process.
  client.on("error", (cause: Error) => outage.lost(client, cause));
  client.on("ready", () => outage.restored(client));
  return client;
}

interface OpenRedisOptions extends ConnectionOptions {
  readonly url: string;
  /** Called for every failure. The client reconnects automatically. */
  readonly outage: RedisOutage;
}

type ConnectionOptions = Pick<
  RedisOptions,
  | "autoResubscribe"
  | "autoResendUnfulfilledCommands"
  | "enableOfflineQueue"
  | "commandTimeout"
  | "socketTimeout"
>;

function openServer(address: RedisAddress, options: ConnectionOptions): Redis {
  const place = address.kind === "sentinel" ? primaryOf(address) : { ...address.hosts[0]! };
  return new Redis({
    ...connectionOptions(address),
    ...place,
    db: address.database,
    retryStrategy: retryDelay,
    // A server that lost its primary role still answers, while the same address may already lead to the new primary.
    reconnectOnError: ({ message }: Error) => message.includes("READONLY"),
    ...options,
  });
}

function primaryOf({ hosts, primaryName, sentinelPassword, isTls }: RedisAddress) {
  return {
    sentinels: [...hosts],
    ...(primaryName === undefined ? {} : { name: primaryName }),
    ...(sentinelPassword === undefined ? {} : { sentinelPassword }),
    ...(isTls ? { enableTLSForSentinelMode: true, sentinelTLS: {} } : {}),
    sentinelRetryStrategy: retryDelay,
    // Leaves a primary that the Sentinels have replaced, even if it still answers.
    failoverDetector: true,
  };
}

function openCluster(
  address: RedisAddress,
  { enableOfflineQueue = true, ...options }: ConnectionOptions,
): Cluster {
  return new Cluster([...address.hosts], {
    enableOfflineQueue,
    clusterRetryStrategy: retryDelay,
    // A certificate names the host of the URL, and resolving it here would compare it with an address.
    ...(address.isTls ? { dnsLookup: (host: string, done: LookedUp) => done(null, host) } : {}),
    redisOptions: { ...connectionOptions(address), ...options },
  });
}

type LookedUp = (error: null, address: string) => void;

function connectionOptions({ username, password, isTls }: RedisAddress) {
  return {
    maxRetriesPerRequest: null,
    keepAlive: KEEP_ALIVE_MS,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(isTls ? { tls: {} } : {}),
  };
}

function retryDelay(attempt: number): number {
  return Math.min(50 * 2 ** Math.min(attempt, 10), MAX_RECONNECT_DELAY_MS);
}

const MAX_RECONNECT_DELAY_MS = 2_000;
/** Detects a vanished peer even on a connection that only listens. */
const KEEP_ALIVE_MS = 10_000;

/**
 * Logs the start and the end of each outage once for all connections. The start has the consequences in `meaning`.
 */
export function createRedisOutage(log: Log, meaning: string): RedisOutage {
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

/** Combines the failures of several connections into one outage. */
export interface RedisOutage {
  lost(connection: object, cause: Error): void;
  restored(connection: object): void;
}
