import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import type { Steps } from "../../protocol/chain/read-errors.ts";
import { type PowerLadder, powerLadder } from "../../protocol/class-groups/exponentiation.ts";
import type { Form } from "../../protocol/class-groups/forms.ts";
import type { CurveArithmetic } from "../../protocol/proofs/curve.ts";
import { type NetworkKeyParts, readNetworkKeyParts } from "../../protocol/proofs/network-key-parts.ts";
import { withoutTables } from "../../protocol/proofs/parameters-ends.ts";

/**
 * Reads the network key from the protocol parameters. That takes a few milliseconds, so the result is cached by a hash
 * of the bytes. Throws as `readNetworkKeyParts` does.
 */
export function knownNetworkKey(curve: CurveArithmetic, parameters: Uint8Array): NetworkKeyParts {
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

/** The size of the cache: two network keys on four curves. */
const MAX_REMEMBERED_COUNT = 8;
const KEY_PARTS = new Map<string, NetworkKeyParts>();

/** The length of the longest exponent, a mask of 941 bits. A ladder takes 0.6 MB. */
const LADDER_BITS = 941;
const LADDERS = new WeakMap<Form, PowerLadder>();

/** Drops the cached ladders of these bases after a wrong result, so that the next use builds them again. */
export function forgetLadders(...bases: readonly Form[]): void {
  for (const base of bases) LADDERS.delete(base);
}

/** Returns the cached ladder of a base that many messages use: h, or an encryption key. Building it takes 0.05 s. */
export function* knownLadder(curve: CurveArithmetic, base: Form): Steps<PowerLadder> {
  const known = LADDERS.get(base);
  if (known !== undefined) return known;
  const ladder = yield* powerLadder(curve.group, base, LADDER_BITS);
  LADDERS.set(base, ladder);
  return ladder;
}
