import { type BucketSize, type Coordination, type TokenBuckets, takeToken } from "./coordination.ts";
import { createListeners } from "./listeners.ts";
import { RecentMap } from "./recent-map.ts";
import type { Signals } from "./signals.ts";

/**
 * Creates coordination within one process. `now` is a monotonic time in milliseconds. Default: the process's clock.
 * `isAlone` is true if no other process can open the database. Default false.
 */
export function createLocalCoordination(
  now: () => number = () => performance.now(),
  isAlone = false,
): Coordination {
  const signals = createLocalSignals(isAlone);
  return {
    signals,
    buckets: (_name, size) => createMemoryBuckets(size, now),
    check: async () => {},
    close: () => signals.close(),
  };
}

/**
 * Signals within one process. Listeners are called in a microtask, never inside `notify`.
 *
 * @param isAlone true if no other process can open the database. Default false
 */
export function createLocalSignals(isAlone = false): Signals {
  const listeners = createListeners();
  let isClosed = false;
  return {
    notify(topic) {
      if (!isClosed) queueMicrotask(() => listeners.wake(topic));
    },
    subscribe: (topic, listener) => listeners.add(topic, listener),
    subscribeKind: (kind, listener) => listeners.addKind(kind, listener),
    isComplete: () => isAlone,
    async close() {
      isClosed = true;
      listeners.clear();
    },
  };
}

/** Creates a bounded number of token buckets in this process. `now` is a monotonic time in milliseconds. */
export function createMemoryBuckets(size: BucketSize, now: () => number): TokenBuckets {
  const fullAtMs = new RecentMap<string, number>(BUCKETS_MAX_COUNT);
  return {
    async take(subject) {
      const taken = takeToken(size, fullAtMs.get(subject), now());
      fullAtMs.set(subject, taken.fullAtMs);
      return taken;
    },
    async giveBack(subject) {
      const before = fullAtMs.get(subject);
      if (before !== undefined) fullAtMs.set(subject, before - 1_000 / size.perSecond);
    },
  };
}

/** Limits the memory to some megabytes. A caller whose bucket was evicted starts with a full one. */
const BUCKETS_MAX_COUNT = 50_000;
