/**
 * The package's entry `threshold-signing-service/web-worker`: an engine on workers whose program is part of the entry. Any
 * bundler takes it as it is, and no file has to be served for it.
 */
import type { CryptoEngine } from "../crypto/engine.ts";
import { ENGINE_WORKER_TEXT } from "../crypto/engine-worker-text.ts";
import { startTextThread } from "../crypto/start-text-thread.ts";
import { createWorkerEngineOn, type WorkerEngineOptions } from "../crypto/worker-engine-on.ts";

export type { CryptoEngine, WorkerEngineOptions };

/**
 * As `createWorkerEngine` of `threshold-signing-service/sdk`, but the workers are started from a `blob:` URL, which a
 * content security policy allows by `worker-src blob:`. It works in Node too.
 */
export function createWorkerEngine(options: WorkerEngineOptions = {}): CryptoEngine {
  const start = (): never => {
    throw new Error("a checkout that was not built has no worker's program");
  };
  return createWorkerEngineOn(
    ENGINE_WORKER_TEXT === undefined ? start : startTextThread(ENGINE_WORKER_TEXT),
    options,
  );
}
