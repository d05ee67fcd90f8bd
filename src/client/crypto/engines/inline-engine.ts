import type { CryptoEngine } from "../engine.ts";
import { callsHere } from "./calls-here.ts";
import { engineOver } from "./engine-over.ts";

/**
 * Creates an engine in TypeScript on the caller's thread, for Node and browsers. Longer calls run in slices of about 20
 * milliseconds and let the event loop run in between.
 *
 * @example
 * const engine = createInlineEngine();
 * const client = createClient({ baseUrl, apiKey, network, engine });
 */
export function createInlineEngine(): CryptoEngine {
  return engineOver(callsHere());
}
