import { SecretBytes } from "../crypto/secret-bytes.ts";
import type { Action } from "./action.ts";

/**
 * Copies a seed for the action, which overwrites the copy when it ends. Call it before the action first awaits:
 * otherwise, if the caller overwrites its seed meanwhile, the dWallet's share follows from zeros.
 */
export function ownSeed(action: Pick<Action, "own">, seed: Uint8Array): Uint8Array {
  return action.own(new SecretBytes(Uint8Array.from(seed))).reveal();
}
