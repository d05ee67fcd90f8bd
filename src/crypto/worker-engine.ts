import type { CryptoEngine } from "./engine.ts";
import { startModuleThread } from "./start-module-thread.ts";
import { createWorkerEngineOn, type WorkerEngineOptions } from "./worker-engine-on.ts";

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
