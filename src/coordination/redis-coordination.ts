import { once } from "node:events";
import { connectRedis } from "./connect-redis.ts";
import type { Coordination } from "./coordination.ts";
import { createMemoryBuckets } from "./memory-buckets.ts";
import { createRedisBuckets } from "./redis-buckets.ts";
import { createRedisOutage, type RedisLog } from "./redis-outage.ts";
import { createRedisSignals } from "./redis-signals.ts";

/** Coordination across processes through one Redis. A service starts without it and outlives it. */
export function createRedisCoordination(options: RedisCoordinationOptions): RedisCoordination {
  const { url, log, prefix = "tss:", countTimeoutMs = DEFAULT_COUNT_TIMEOUT_MS } = options;
  const outage = createRedisOutage(log, OUTAGE);
  const atOnce = (timeoutMs: number) =>
    connectRedis({
      url,
      outage,
      enableOfflineQueue: false,
      // What was done without it meanwhile is not to be done once more.
      autoResendUnfulfilledCommands: false,
      commandTimeout: timeoutMs,
      // A server that hangs costs the calls of this time their wait; then the connection is made anew, and until that
      // succeeds nobody waits.
      socketTimeout: 2 * timeoutMs,
    });
  // Calls wait for their count but for no signal, so the second is not given up with the first.
  const counter = atOnce(countTimeoutMs);
  const publisher = atOnce(SIGNAL_TIMEOUT_MS);
  const subscriber = connectRedis({ url, outage, autoResubscribe: true });
  const signals = createRedisSignals({ publisher, subscriber, prefix });
  return {
    signals,
    buckets: (name, size) =>
      createRedisBuckets({
        client: counter,
        size,
        prefix: `${prefix}${name}:`,
        insurance: createMemoryBuckets(size, () => performance.now()),
      }),
    async ready() {
      await signals.subscribed;
      // An attempt that fails first is no end of it.
      for (const client of [counter, publisher])
        while (client.status !== "ready") await once(client, "ready").catch(() => {});
    },
    async check() {
      // A server that is full or another one's copy answers a ping, and counts nothing.
      await publisher.set(`${prefix}check`, "", "PX", CHECK_KEY_MS);
      if (subscriber.status !== "ready")
        throw new Error("the connection for other replicas' signals is down");
    },
    async close() {
      await signals.close();
      for (const client of [counter, publisher, subscriber]) client.disconnect();
    },
  };
}

/** How {@link createRedisCoordination} connects. */
export interface RedisCoordinationOptions {
  readonly url: string;
  /** Hears when Redis is lost and when it is back. Connections are made again by themselves. */
  readonly log: RedisLog;
  /** Before each key and channel, so that services may share a Redis. Default `tss:`. */
  readonly prefix?: string;
  /** A call waits no longer for its count; it is then counted in this process. Default 100 ms. */
  readonly countTimeoutMs?: number;
}

/** Coordination through Redis. */
export interface RedisCoordination extends Coordination {
  /** Resolves when all connections stand, so that what other processes send arrives. */
  ready(): Promise<void>;
}

const DEFAULT_COUNT_TIMEOUT_MS = 100;
/** A hint that could not be sent by then is worth nothing. */
const SIGNAL_TIMEOUT_MS = 2_000;
/** A check's own key is there no longer than it must. */
const CHECK_KEY_MS = 1_000;
const OUTAGE = "each replica counts calls for itself, and finds what others did by looking, a little later";
