import { bigIntFromLittleEndian, concatBytes, uint32ToLittleEndian } from "../../protocol/bytes.ts";
import { strobe } from "./strobe.ts";

/** A Merlin transcript (merlin.cool; the `merlin` crate 3): what both sides hash to agree on a challenge. */
export interface Transcript {
  /** Absorbs bytes under a label. */
  append(label: string, message: Uint8Array): void;
  /** Absorbs a value as JSON, indented by two spaces: how the protocol absorbs everything that is not bytes. */
  appendJson(label: string, value: unknown): void;
  /** Squeezes `length` bytes. */
  challenge(label: string, length: number): Uint8Array;
}

/** Opens a transcript with its domain-separating name. */
export function transcript(name: string): Transcript {
  const utf8 = new TextEncoder();
  const state = strobe("Merlin v1.0");
  const append = (label: string, message: Uint8Array): void => {
    state.metaAd(utf8.encode(label), false);
    state.metaAd(uint32ToLittleEndian(message.length), true);
    state.ad(message);
  };
  append("dom-sep", utf8.encode(name));
  return {
    append,
    appendJson: (label, value) => append(label, utf8.encode(JSON.stringify(value, null, 2))),
    challenge: (label, length) => {
      state.metaAd(utf8.encode(label), false);
      state.metaAd(uint32ToLittleEndian(length), true);
      return state.prf(length);
    },
  };
}

/** The 128-bit challenge of a Maurer proof. */
export function proofChallenge(from: Transcript): bigint {
  return bigIntFromLittleEndian(from.challenge("challenge", 16));
}

/** A scalar that is uniform up to 2^-64: a wider number, reduced. */
export function uniformScalar(from: Transcript, label: string, order: bigint): bigint {
  const low = from.challenge(label, 32);
  const high = from.challenge("statistically secure sized challenge used to mask challenge", 8);
  return bigIntFromLittleEndian(concatBytes(low, high)) % order;
}
