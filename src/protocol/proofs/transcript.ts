import { concatBytes } from "@noble/hashes/utils.js";
import { bigIntFromLittleEndian } from "../bytes.ts";
import { createTranscript } from "../merlin.ts";

/** Opens a transcript with its domain-separating name. */
export function transcript(name: string): Transcript {
  const merlin = createTranscript(name);
  return {
    append: (label, message) => void merlin.append(label, message),
    appendJson: (label, value) => void merlin.append(label, JSON.stringify(value, null, 2)),
    challenge: (label, length) => merlin.challenge(label, length),
    mark: () => merlin.mark(),
  };
}

/** A Merlin transcript as the 2PC-MPC protocol uses it: it absorbs bytes unchanged and everything else as JSON. */
export interface Transcript {
  /** Absorbs bytes under a label. */
  append(label: string, message: Uint8Array): void;
  /** Absorbs a value as JSON, indented by two spaces. */
  appendJson(label: string, value: unknown): void;
  challenge(label: string, length: number): Uint8Array;
  /** Saves the current state. Each call of the returned function restores it. */
  mark(): () => void;
}

/** Returns the 128-bit challenge of a Maurer proof. */
export function proofChallenge(from: Transcript): bigint {
  return bigIntFromLittleEndian(from.challenge("challenge", 16));
}

/** Draws a scalar that is uniform up to 2^-64, by reducing a wider number. */
export function uniformScalar(from: Transcript, label: string, order: bigint): bigint {
  const low = from.challenge(label, 32);
  const high = from.challenge("statistically secure sized challenge used to mask challenge", 8);
  return bigIntFromLittleEndian(concatBytes(low, high)) % order;
}
