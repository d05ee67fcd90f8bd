import { callsHere } from "./calls-here.ts";
import { callsOnThreads } from "./calls-on-threads.ts";
import type { CryptoEngine } from "./engine.ts";
import { engineOver } from "./engine-over.ts";
import { type StartEngineThread, usefulThreadCount } from "./engine-thread.ts";

/** How an engine on workers is made. */
export interface WorkerEngineOptions {
  /** How many workers there are at most, from 1 on. Default: two, or one where the machine has one processor. */
  readonly workerCount?: number | undefined;
  /**
   * Told once, with the cause, when no worker can be started: the engine then works on the caller's thread, in slices,
   * with the same results and the same checks.
   */
  readonly onFallback?: ((cause: unknown) => void) | undefined;
}

/** An engine on workers that are started in one way or another. Throws a RangeError for a count below 1. */
export function createWorkerEngineOn(
  start: StartEngineThread,
  { workerCount = usefulThreadCount(), onFallback = () => {} }: WorkerEngineOptions,
): CryptoEngine {
  if (!Number.isInteger(workerCount) || workerCount < 1)
    throw new RangeError("workerCount: a whole number from 1 on");
  const onStartFailure = (cause: unknown) => {
    onFallback(cause);
    return callsHere();
  };
  return engineOver(callsOnThreads({ start, workerCount, onStartFailure }));
}
