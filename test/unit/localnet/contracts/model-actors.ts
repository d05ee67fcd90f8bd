import type { Actor } from "../../../../tools/move/scenario.ts";
import { SENDER } from "./model-chain.ts";

const STRANGER = `0x${"b0".repeat(32)}`;
const NOBODY = `0x${"00".repeat(32)}`;

export function addressOf(who: Actor): string {
  return who === "stranger" ? STRANGER : SENDER;
}

/** The address that holds a role; the zero address if it is undefined. */
export function roleOf(who: Actor | undefined): string {
  return who === undefined ? NOBODY : addressOf(who);
}
