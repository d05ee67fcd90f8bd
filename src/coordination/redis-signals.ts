import { once } from "node:events";
import { connectRedis } from "./connect-redis.ts";
import { createListeners } from "./listeners.ts";
import type { Signals } from "./signals.ts";

/** How {@link createRedisSignals} connects. */
export interface RedisSignalsOptions {
  readonly url: string;
  /** Hears of lost connections. They are made again by themselves. */
  readonly log: { warn(fields: object, message: string): void };
  /** Before each channel name, so that services may share a Redis. Default `tss:`. */
  readonly prefix?: string;
}

/** Signals over Redis. */
export interface RedisSignals extends Signals {
  /** Resolves when the server answers and notifications of other processes arrive. */
  ready(): Promise<void>;
}

const OUTAGE = "wake-ups across processes wait for polling";
/** A hint that could not be sent by then is worth nothing. */
const COMMAND_TIMEOUT_MS = 2_000;

/**
 * Signals across processes over Redis's publish and subscribe. Listeners of the same process are called at once and
 * without Redis, so that losing it costs only the wake-ups of others. Never waits for the server: a service starts
 * without it.
 */
export function createRedisSignals({ url, log, prefix = "tss:" }: RedisSignalsOptions): RedisSignals {
  const listeners = createListeners();
  const origin = crypto.randomUUID();
  const connection = { url, log, outage: OUTAGE };
  const publisher = connectRedis({
    ...connection,
    enableOfflineQueue: false,
    commandTimeout: COMMAND_TIMEOUT_MS,
  });
  // One pattern instead of one subscription for each topic: nothing to keep in step when connections come and go.
  const subscriber = connectRedis({ ...connection, autoResubscribe: true });
  const subscribed = subscriber.psubscribe(`${prefix}*`);
  // A close before the first connection is no failure.
  subscribed.catch(() => {});
  subscriber.on("pmessage", (_pattern: string, channel: string, sender: string) => {
    if (sender !== origin) listeners.wake(channel.slice(prefix.length));
  });
  let isClosed = false;
  return {
    notify(topic) {
      if (isClosed) return;
      queueMicrotask(() => listeners.wake(topic));
      publisher.publish(prefix + topic, origin).catch(() => {});
    },
    subscribe: (topic, listener) => listeners.add(topic, listener),
    async ready() {
      await subscribed;
      if (publisher.status !== "ready") await once(publisher, "ready");
    },
    async close() {
      isClosed = true;
      listeners.clear();
      publisher.disconnect();
      subscriber.disconnect();
    },
  };
}
