import type { CryptoEngine } from "../crypto/engine.ts";
import { createInlineEngine } from "../crypto/engines/inline-engine.ts";
import { TssError } from "./errors.ts";

/** Returns the caller's engine, or the default one. Throws VALIDATION for a value that is no engine. */
export function chooseEngine(engine: CryptoEngine | undefined): CryptoEngine {
  if (engine === undefined) return createInlineEngine();
  if (typeof engine === "object" && engine !== null) return engine;
  throw new TssError(
    "VALIDATION",
    "engine: must be an engine, such as createWorkerEngine() of the entry /worker",
  );
}
