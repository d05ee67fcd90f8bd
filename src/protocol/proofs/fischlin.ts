import { bigIntToLittleEndian } from "../bytes.ts";
import type { Json } from "./canonical-parameters.ts";
import { rejectUnless } from "./rejected-input.ts";
import { type Transcript, transcript } from "./transcript.ts";

/** The repetitions of a Fischlin proof: 16 hashes with 8 zero bits each give 128 bits of security. */
export const FISCHLIN_REPETITIONS = 16;

/** One repetition of a Fischlin proof, without its first message. */
export interface FischlinAnswer {
  /** Below 2^128. */
  readonly challenge: bigint;
  /** The response in the transcript's JSON. */
  readonly responseJson: Json;
}

/** Draws the hash that binds every repetition of a proof to all first messages from the proof's transcript. */
export function fischlinCommonHash(proof: Transcript): Uint8Array {
  return proof.challenge("common hash", 32);
}

/**
 * Returns the check of one repetition: true if the hash of the first messages, the index, the challenge and the
 * response starts with a zero byte. The part that all answers have in common is absorbed once.
 */
export function fischlinCheck(commonHash: Uint8Array, index: number): (answer: FischlinAnswer) => boolean {
  const check = transcript("Fischlin hash check");
  check.append("common hash", commonHash);
  check.append("i", Uint8Array.of(0, 0, 0, 0, 0, 0, 0, index));
  const rewind = check.mark();
  return ({ challenge, responseJson }) => {
    rewind();
    check.append("challenge", bigIntToLittleEndian(challenge, 16));
    check.appendJson("response", responseJson);
    return check.challenge("hash", 16)[0] === 0;
  };
}

/** The number of challenges to try. One in 256 is right. All of them fail with a probability of 2^-184. */
const MAX_CHALLENGE_COUNT = 1n << 15n;

/**
 * Finds the first challenge whose hash has a leading zero byte. `next` maps the response of one challenge to that of
 * the following challenge. Returns undefined if no challenge fits.
 */
export function findFischlinAnswer<Response>(
  commonHash: Uint8Array,
  index: number,
  first: Response,
  next: (response: Response) => Response,
  json: (response: Response) => Json,
): { readonly challenge: bigint; readonly response: Response } | undefined {
  const isAnswer = fischlinCheck(commonHash, index);
  let response = first;
  for (let challenge = 0n; challenge < MAX_CHALLENGE_COUNT; challenge++) {
    if (isAnswer({ challenge, responseJson: json(response) })) return { challenge, response };
    response = next(response);
  }
  return undefined;
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
    rejectUnless(fischlinCheck(commonHash, index)(answer), `${what}: hash ${index} has no leading zero byte`);
  });
}
