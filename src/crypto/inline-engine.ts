import { callsHere } from "./calls-here.ts";
import type { CryptoEngine } from "./engine.ts";
import { engineOver } from "./engine-over.ts";

/**
 * The engine on the caller's own thread, for Node and browsers, all in TypeScript. The longer calls work in slices of
 * about 20 milliseconds, between which the event loop goes on.
 */
export function createInlineEngine(): CryptoEngine {
  return engineOver(callsHere());
}
