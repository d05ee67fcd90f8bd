import type { Coordination } from "./coordination.ts";
import { createLocalSignals } from "./local-signals.ts";
import { createMemoryBuckets } from "./memory-buckets.ts";

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
