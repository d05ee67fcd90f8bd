import { once } from "node:events";
import type { Log } from "../telemetry/logger.ts";
import type { Coordination } from "./coordination.ts";
import { createMemoryBuckets } from "./local-coordination.ts";
import { createRedisOutage, openRedis } from "./open-redis.ts";
import { createRedisBuckets } from "./redis-buckets.ts";
import { createRedisMarks } from "./redis-marks.ts";
import { createRedisSignals } from "./redis-signals.ts";

/** Creates coordination across processes through Redis. The service also starts and runs without Redis. */
export function createRedisCoordination(options: RedisCoordinationOptions): RedisCoordination {
  const { url, log, prefix = "tss:", countTimeoutMs = DEFAULT_COUNT_TIMEOUT_MS } = options;
  const outage = createRedisOutage(log, OUTAGE);
  const atOnce = (timeoutMs: number) =>
    openRedis({
      url,
      outage,
      enableOfflineQueue: false,
      // Commands that failed in the meantime must not run again.
      autoResendUnfulfilledCommands: false,
      commandTimeout: timeoutMs,
      // If the server hangs, calls wait for this time. Then the client reconnects, and no call waits meanwhile.
      socketTimeout: 2 * timeoutMs,
    });
  // Calls wait for their count but not for signals, so the two connections fail separately.
  const counter = atOnce(countTimeoutMs);
  const publisher = atOnce(SIGNAL_TIMEOUT_MS);
  const subscriber = openRedis({ url, outage, autoResubscribe: true });
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
    marks: (name, lifeMs) => createRedisMarks(counter, `${prefix}${name}:`, lifeMs),
    async ready() {
      await signals.subscribed;
      // A failed first attempt is not final.
      for (const client of [counter, publisher])
        while (client.status !== "ready") await once(client, "ready").catch(() => {});
    },
    async check() {
      // A full server or a replica answers a ping but counts nothing.
      await publisher.set(`${prefix}check`, "", "PX", CHECK_KEY_MS);
      if (subscriber.status !== "ready")
        throw new Error("the connection for the signals of other replicas is down");
    },
    async close() {
      await signals.close();
      for (const client of [counter, publisher, subscriber]) client.disconnect();
    },
  };
}

/** Options of {@link createRedisCoordination}. */
interface RedisCoordinationOptions {
  readonly url: string;
  /** Receives a warning when Redis is lost and a notice when it is back. Connections reconnect automatically. */
  readonly log: Log;
  /** The prefix of each key and channel, so that services may share a Redis. Default `tss:`. */
  readonly prefix?: string;
  /** The longest wait of a call for its count. Then this process counts the call. Default 100 ms. */
  readonly countTimeoutMs?: number;
}

/** Coordination through Redis. */
interface RedisCoordination extends Coordination {
  /** Resolves when all connections are open, so that signals of other processes arrive. */
  ready(): Promise<void>;
}

const DEFAULT_COUNT_TIMEOUT_MS = 100;
/** A signal that takes longer is useless. */
const SIGNAL_TIMEOUT_MS = 2_000;
const CHECK_KEY_MS = 1_000;
const OUTAGE = "each replica counts calls alone, and polls for the changes of others, a little later";
