import type { Redis } from "ioredis";
import { createListeners } from "./listeners.ts";
import type { Signals } from "./signals.ts";

/**
 * Signals across processes over Redis's publish and subscribe. Listeners of the same process are called at once and
 * without Redis, so that losing it costs only the wake-ups of others. Leaves the connections open when it is closed.
 */
export function createRedisSignals({ publisher, subscriber, prefix }: RedisSignalsOptions): RedisSignals {
  const listeners = createListeners();
  const origin = crypto.randomUUID();
  const channelPrefix = `${prefix}signal:`;
  // One pattern instead of one subscription for each topic: nothing to keep in step when connections come and go.
  const subscribed = subscriber.psubscribe(`${channelPrefix}*`);
  // A close before the first connection is no failure.
  subscribed.catch(() => {});
  subscriber.on("pmessage", (_pattern: string, channel: string, sender: string) => {
    if (sender !== origin) listeners.wake(channel.slice(channelPrefix.length));
  });
  let isClosed = false;
  return {
    subscribed,
    notify(topic) {
      if (isClosed) return;
      queueMicrotask(() => listeners.wake(topic));
      publisher.publish(channelPrefix + topic, origin).catch(() => {});
    },
    subscribe: (topic, listener) => listeners.add(topic, listener),
    subscribeKind: (kind, listener) => listeners.addKind(kind, listener),
    async close() {
      isClosed = true;
      listeners.clear();
    },
  };
}

export interface RedisSignalsOptions {
  /** Fails rather than waits. */
  readonly publisher: Redis;
  /** Used for nothing else: a connection that listens takes no commands. */
  readonly subscriber: Redis;
  /** Before each channel name. */
  readonly prefix: string;
}

/** Signals over Redis. */
export interface RedisSignals extends Signals {
  /** Resolves when notifications of other processes arrive. */
  readonly subscribed: Promise<unknown>;
}
