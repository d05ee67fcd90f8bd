import { callsHere } from "./calls-here.ts";
import { callsOnThreads } from "./calls-on-threads.ts";
import type { CryptoEngine } from "./engine.ts";
import { engineOver } from "./engine-over.ts";
import { type StartEngineThread, usefulThreadCount } from "./engine-thread.ts";

/** Creates an engine on workers that `start` creates. Throws a RangeError for a count below 1. */
export function createWorkerEngineOn(
  start: StartEngineThread,
  { workerCount = usefulThreadCount(), onFallback = () => {} }: WorkerEngineOptions,
): CryptoEngine {
  if (!Number.isInteger(workerCount) || workerCount < 1)
    throw new RangeError("workerCount must be a whole number of at least 1");
  const onStartFailure = (cause: unknown) => {
    onFallback(cause);
    return callsHere();
  };
  return engineOver(callsOnThreads({ start, workerCount, onStartFailure }));
}

/** Options of an engine on workers. */
export interface WorkerEngineOptions {
  /** The maximum number of workers, at least 1. Default: two, or one on a machine with one processor. */
  readonly workerCount?: number | undefined;
  /**
   * Called once with the cause if no worker can be started. The engine then works on the caller's thread, in slices,
   * with the same results and the same checks.
   */
  readonly onFallback?: ((cause: unknown) => void) | undefined;
}
