import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import type { Form } from "../protocol/class-groups/forms.ts";
import { type PowerLadder, powerLadder } from "../protocol/class-groups/power-ladder.ts";
import type { Curve } from "../protocol/proofs/curve.ts";
import { type NetworkKeyParts, readNetworkKeyParts } from "../protocol/proofs/network-key-parts.ts";
import { withoutTables } from "../protocol/proofs/parameters-ends.ts";
import type { Steps } from "../protocol/steps.ts";

/** How many keys are remembered: two network keys on four curves. */
const MAX_REMEMBERED_COUNT = 8;
const KEY_PARTS = new Map<string, NetworkKeyParts>();

/**
 * The network's key in the protocol parameters. Reading it takes some milliseconds, so it is remembered by the bytes
 * that it is read from. Throws as reading it does.
 */
export function knownNetworkKey(curve: Curve, parameters: Uint8Array): NetworkKeyParts {
  const read = withoutTables(parameters);
  const name = `${curve.constants.curve} ${bytesToHex(sha256(read))}`;
  const known = KEY_PARTS.get(name);
  if (known !== undefined) return known;
  const key = readNetworkKeyParts(curve, read);
  const [oldest] = KEY_PARTS.keys();
  if (KEY_PARTS.size >= MAX_REMEMBERED_COUNT && oldest !== undefined) KEY_PARTS.delete(oldest);
  KEY_PARTS.set(name, key);
  return key;
}

/** As long as the longest randomness that is raised to: masks of 941 bits. 0.6 MB for each base. */
const LADDER_BITS = 941;
const LADDERS = new WeakMap<Form, PowerLadder>();

/** Has the ladders of these bases built anew: what was computed with them turned out to be wrong. */
export function forgetLadders(...bases: readonly Form[]): void {
  for (const base of bases) LADDERS.delete(base);
}

/** The ladder of a base that outlives one message: h, or an encryption key. Built once, which takes 0.05 s. */
export function* knownLadder(curve: Curve, base: Form): Steps<PowerLadder> {
  const known = LADDERS.get(base);
  if (known !== undefined) return known;
  const ladder = yield* powerLadder(curve.group, base, LADDER_BITS);
  LADDERS.set(base, ladder);
  return ladder;
}
