import { createListeners } from "./listeners.ts";
import type { RedisClient } from "./open-redis.ts";
import type { Signals } from "./signals.ts";

/**
 * Creates signals across processes over Redis's publish and subscribe. Listeners of the same process are called without
 * Redis, so that an outage loses only the signals of other processes. Closing it leaves the connections open.
 */
export function createRedisSignals({ publisher, subscriber, prefix }: RedisSignalsOptions): RedisSignals {
  const listeners = createListeners();
  const origin = crypto.randomUUID();
  const channelPrefix = `${prefix}signal:`;
  // One pattern instead of a subscription per topic, so that there is no state to restore after a reconnection.
  const subscribed = subscriber.psubscribe(`${channelPrefix}*`);
  // Closing before the first connection is not a failure.
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
    // Another process may have lost its connection, or have none, and this one would not know.
    isComplete: () => false,
    async close() {
      isClosed = true;
      listeners.clear();
    },
  };
}

export interface RedisSignalsOptions {
  /** The publisher, which fails instead of waiting for a connection. */
  readonly publisher: RedisClient;
  /** The subscriber. A connection that listens takes no other commands. */
  readonly subscriber: RedisClient;
  readonly prefix: string;
}

/** Signals over Redis. */
export interface RedisSignals extends Signals {
  /** Resolves when this process receives the notifications of others. */
  readonly subscribed: Promise<unknown>;
}
