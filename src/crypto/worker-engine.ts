import type { CryptoEngine } from "./engine.ts";
import { startModuleThread } from "./start-module-thread.ts";
import { createWorkerEngineOn, type WorkerEngineOptions } from "./worker-engine-on.ts";

/**
 * Creates an engine on workers, for Node (`worker_threads`) and browsers (Web Worker). The caller's thread stays free.
 * The engine returns the same bytes as {@link createInlineEngine}. Workers start at the first call. Each runs one call
 * at a time, in order; up to 1,000 calls wait. Two idle workers share an ECDSA half and must arrive at the same bytes.
 *
 * An aborted call rejects at once, and its worker continues with the next call. If a worker crashes, its call rejects
 * and the next call gets a new worker. Idle workers do not keep a Node process alive. If no worker can be started (an
 * old runtime, a content security policy), the engine works on the caller's thread.
 *
 * The engine copies a secret and transfers the copy to the worker, which overwrites it when the call ends. It does not
 * overwrite numbers that the computation derived from the secret, nor the memory of a crashed or terminated worker.
 *
 * @throws {RangeError} when `workerCount` is not an integer of at least 1.
 *
 * @example
 * const engine = createWorkerEngine({ workerCount: 4 });
 * const client = createClient({ baseUrl, apiKey, network, engine });
 */
export function createWorkerEngine(options: WorkerEngineOptions = {}): CryptoEngine {
  return createWorkerEngineOn(startModuleThread, options);
}
