import { bigIntToLittleEndian } from "../bytes.ts";
import type { Json } from "./canonical-parameters.ts";
import { rejectUnless } from "./rejected-input.ts";
import { type Transcript, transcript } from "./transcript.ts";

/** How often a Fischlin proof repeats its statement: 16 hashes with 8 zero bits each make 128 bits. */
export const FISCHLIN_REPETITIONS = 16;

/** One repetition of a Fischlin proof, without its first message. */
export interface FischlinAnswer {
  /** Below 2^128. */
  readonly challenge: bigint;
  /** The response in the transcript's JSON. */
  readonly responseJson: Json;
}

/** The hash that binds every repetition of a proof to all first messages. It is drawn from the proof's transcript. */
export function fischlinCommonHash(proof: Transcript): Uint8Array {
  return proof.challenge("common hash", 32);
}

/** True if the hash of the first messages, the index, the challenge and the response starts with a zero byte. */
export function isFischlinAnswer(commonHash: Uint8Array, index: number, answer: FischlinAnswer): boolean {
  const check = transcript("Fischlin hash check");
  check.append("common hash", commonHash);
  check.append("i", Uint8Array.of(0, 0, 0, 0, 0, 0, 0, index));
  check.append("challenge", bigIntToLittleEndian(answer.challenge, 16));
  check.appendJson("response", answer.responseJson);
  return check.challenge("hash", 16)[0] === 0;
}

/**
 * Checks the hash side of a Fischlin proof (Fischlin, Crypto 2005). The caller checks the equations. `proof` is the
 * transcript that absorbed the context, the language, the statement and all first messages.
 */
export function verifyFischlinHashes(
  proof: Transcript,
  repetitions: readonly FischlinAnswer[],
  what: string,
): void {
  const commonHash = fischlinCommonHash(proof);
  repetitions.forEach((answer, index) => {
    rejectUnless(
      isFischlinAnswer(commonHash, index, answer),
      `${what}: hash ${index} has no leading zero byte`,
    );
  });
}
