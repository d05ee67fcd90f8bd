/**
 * The package's entry `threshold-signing-service/worker`: the engine that computes on workers, with their program. It is
 * an entry of its own, so that a program that does not ask for workers does not contain them.
 */
export type { CryptoEngine } from "../crypto/engine.ts";
export { createWorkerEngine } from "../crypto/engines/worker-engine.ts";
export type { WorkerEngineOptions } from "../crypto/engines/worker-engine-on.ts";
