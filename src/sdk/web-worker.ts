/**
 * The package's entry `threshold-signing-service/web-worker`: an engine on workers whose program is embedded in the
 * entry. It works with any bundler and needs no served file.
 */
import type { CryptoEngine } from "../crypto/engine.ts";
import { ENGINE_WORKER_TEXT } from "../crypto/engine-worker-text.ts";
import { startTextThread } from "../crypto/start-text-thread.ts";
import { createWorkerEngineOn, type WorkerEngineOptions } from "../crypto/worker-engine-on.ts";

/**
 * Creates an engine like `createWorkerEngine` of `threshold-signing-service/sdk`, but starts the workers from a `blob:`
 * URL, which a content security policy allows with `worker-src blob:`. It works in Node too. If no worker can be
 * started, or the package was not built, the engine works on the caller's thread and calls `onFallback`.
 *
 * @throws {RangeError} when `workerCount` is not an integer of at least 1.
 *
 * @example
 * const engine = createWorkerEngine();
 * const client = createClient({ baseUrl, apiKey, network, engine });
 */
export function createWorkerEngine(options: WorkerEngineOptions = {}): CryptoEngine {
  const start = (): never => {
    throw new Error("the workers' program is missing; build the checkout first");
  };
  return createWorkerEngineOn(
    ENGINE_WORKER_TEXT === undefined ? start : startTextThread(ENGINE_WORKER_TEXT),
    options,
  );
}

export type { CryptoEngine, WorkerEngineOptions };
