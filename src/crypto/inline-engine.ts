import { callsHere } from "./calls-here.ts";
import type { CryptoEngine } from "./engine.ts";
import { engineOver } from "./engine-over.ts";

/**
 * An engine on the caller's thread, for Node and browsers, all in TypeScript. Longer calls run in slices of about 20
 * milliseconds and let the event loop run in between.
 */
export function createInlineEngine(): CryptoEngine {
  return engineOver(callsHere());
}
