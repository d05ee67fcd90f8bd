import { SecretBytes } from "../crypto/secret-bytes.ts";
import type { Action } from "./action.ts";

/**
 * The action's own copy of a seed, overwritten when the action ends. It is made before the action waits for anything: a
 * caller who overwrites his seed meanwhile would else get a dWallet whose share follows from zeros.
 */
export function ownSeed(action: Pick<Action, "own">, seed: Uint8Array): Uint8Array {
  return action.own(new SecretBytes(Uint8Array.from(seed))).reveal();
}
