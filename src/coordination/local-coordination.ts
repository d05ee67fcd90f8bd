import type { Coordination } from "./coordination.ts";
import { createLocalSignals } from "./local-signals.ts";
import { createMemoryBuckets } from "./memory-buckets.ts";

/** Creates coordination within one process. `now` is a monotonic time in milliseconds. Default: the process's clock. */
export function createLocalCoordination(now: () => number = () => performance.now()): Coordination {
  const signals = createLocalSignals();
  return {
    signals,
    buckets: (_name, size) => createMemoryBuckets(size, now),
    check: async () => {},
    close: () => signals.close(),
  };
}
