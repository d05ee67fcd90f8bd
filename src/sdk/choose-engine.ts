import { deferredEngine } from "../crypto/deferred-engine.ts";
import type { CryptoEngine } from "../crypto/engine.ts";
import { createWorkerEngine } from "../crypto/worker-engine.ts";
import { TssError } from "./errors.ts";

/** Returns the engine that a client's option selects. Throws VALIDATION for any other value. */
export function chooseEngine(engine: CryptoEngine | "reference" | undefined): CryptoEngine {
  // All clients of a process share two workers, which are mostly idle and do not keep the process alive.
  if (engine === undefined) {
    shared ??= createWorkerEngine();
    return shared;
  }
  if (engine === "reference") return deferredEngine(loadReferenceEngine);
  if (typeof engine === "object" && engine !== null) return engine;
  throw new TssError("VALIDATION", 'engine: an engine, "reference", or nothing');
}

let shared: CryptoEngine | undefined;

async function loadReferenceEngine(): Promise<CryptoEngine> {
  return (await import("../crypto/reference-engine.ts")).createReferenceEngine();
}
