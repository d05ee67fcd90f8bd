import {
  type BucketSize,
  type Coordination,
  type Marks,
  type TokenBuckets,
  takeToken,
} from "./coordination.ts";
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
    // Other processes do not see the marks of this one.
    marks: (_name, lifeMs) => (isAlone ? createMemoryMarks(lifeMs, now) : { add: async () => undefined }),
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

/**
 * Creates a bounded number of marks in this process. Marks that do not fit are unknown, and so is every new subject until
 * they would have ended. `now` is a monotonic time in milliseconds.
 */
export function createMemoryMarks(
  lifeMs: number,
  now: () => number,
  maxCount: number = MARKS_MAX_COUNT,
): Marks {
  const untilMs = new Map<string, number>();
  let fullUntilMs = Number.NEGATIVE_INFINITY;
  return {
    async add(subject) {
      const nowMs = now();
      // All marks last equally long, so the oldest ones end first.
      for (const [oldest, endMs] of untilMs) {
        if (endMs > nowMs) break;
        untilMs.delete(oldest);
      }
      if (untilMs.has(subject)) return false;
      if (untilMs.size >= maxCount) fullUntilMs = nowMs + lifeMs;
      if (nowMs < fullUntilMs) return undefined;
      untilMs.set(subject, nowMs + lifeMs);
      return true;
    },
  };
}

/** Some ten megabytes. */
const MARKS_MAX_COUNT = 100_000;
/** Limits the memory to some megabytes. A caller whose bucket was evicted starts with a full one. */
const BUCKETS_MAX_COUNT = 50_000;
