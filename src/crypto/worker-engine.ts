import { callsHere } from "./calls-here.ts";
import { callsOnThreads } from "./calls-on-threads.ts";
import type { CryptoEngine } from "./engine.ts";
import { engineOver } from "./engine-over.ts";
import { type StartEngineThread, startModuleThread, usefulThreadCount } from "./engine-thread.ts";

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

/**
 * The engine on workers, for Node (`worker_threads`) and browsers (Web Worker): the caller's thread stays free. It gives
 * the same octets as {@link createInlineEngine}. Workers start at the first call, and each takes one call at a time, in
 * order; up to 1,000 calls wait. Two idle workers share an ECDSA half, and both must come to the same octets.
 *
 * An aborted call rejects at once, and its worker goes on with the next call. A worker that crashes rejects its call; the
 * next call gets a new worker. Idle workers do not keep a Node process alive. Where none can be started (an old runtime,
 * a content security policy) the engine works on the caller's thread.
 *
 * A secret is copied, the copy is moved into the worker, and is overwritten there when the call ends. What is not
 * overwritten: numbers that the computation made of it, which a garbage collector frees, and whatever a worker that
 * crashed or was terminated held.
 */
export function createWorkerEngine(options: WorkerEngineOptions = {}): CryptoEngine {
  return createWorkerEngineOn(startModuleThread, options);
}

/** {@link createWorkerEngine}, with another way to start a worker. Throws a RangeError for a count below 1. */
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
