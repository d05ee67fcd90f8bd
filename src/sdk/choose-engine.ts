import type { CryptoEngine } from "../crypto/engine.ts";
import { createReferenceEngine } from "../crypto/reference-engine.ts";
import { createWorkerEngine } from "../crypto/worker-engine.ts";
import { TssError } from "./errors.ts";

let shared: CryptoEngine | undefined;

/** The engine that a client's option names. Throws a TssError, VALIDATION, for anything else. */
export function chooseEngine(engine: CryptoEngine | "reference" | undefined): CryptoEngine {
  // All clients of a program share two workers, which are idle most of the time and let the process end.
  if (engine === undefined) {
    shared ??= createWorkerEngine();
    return shared;
  }
  if (engine === "reference") return createReferenceEngine();
  if (typeof engine === "object" && engine !== null) return engine;
  throw new TssError("VALIDATION", 'engine: an engine, "reference", or nothing');
}
