import type { CryptoEngine } from "../crypto/engine.ts";
import { createInlineEngine } from "../crypto/inline-engine.ts";
import { createReferenceEngine } from "../crypto/reference-engine.ts";
import { TssError } from "./errors.ts";

/** The engine that a client's option names. Throws a TssError, VALIDATION, for anything else. */
export function chooseEngine(engine: CryptoEngine | "reference" | undefined): CryptoEngine {
  if (engine === undefined) return createInlineEngine();
  if (engine === "reference") return createReferenceEngine();
  if (typeof engine === "object" && engine !== null) return engine;
  throw new TssError("VALIDATION", 'engine: an engine, "reference", or nothing');
}
