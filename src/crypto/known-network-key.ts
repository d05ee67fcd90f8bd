import type { Form } from "../protocol/class-groups/forms.ts";
import { type PowerLadder, powerLadder } from "../protocol/class-groups/power-ladder.ts";
import type { Curve } from "../protocol/proofs/curve.ts";
import { type NetworkKeyParts, readNetworkKeyParts } from "../protocol/proofs/network-key-parts.ts";
import type { Steps } from "../protocol/steps.ts";

/** Parameters stay in memory for as long as a client does, and reading the key out of them takes some milliseconds. */
const KEY_PARTS = new WeakMap<Uint8Array, { readonly curve: Curve; readonly key: NetworkKeyParts }>();

/** The network's key in the protocol parameters, read once for as long as they are kept. Throws as reading it does. */
export function knownNetworkKey(curve: Curve, parameters: Uint8Array): NetworkKeyParts {
  const known = KEY_PARTS.get(parameters);
  if (known?.curve === curve) return known.key;
  const key = readNetworkKeyParts(curve, parameters);
  KEY_PARTS.set(parameters, { curve, key });
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
