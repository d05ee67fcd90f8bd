import type { Coordination } from "./coordination.ts";
import { createLocalSignals } from "./local-signals.ts";
import { createMemoryBuckets } from "./memory-buckets.ts";

/** Coordination of a process that shares nothing. `now` is in milliseconds that only grow; default: its own clock. */
export function createLocalCoordination(now: () => number = () => performance.now()): Coordination {
  const signals = createLocalSignals();
  return {
    signals,
    buckets: (_name, size) => createMemoryBuckets(size, now),
    check: async () => {},
    close: () => signals.close(),
  };
}
