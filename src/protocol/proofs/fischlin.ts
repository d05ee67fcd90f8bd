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

/**
 * The check of one repetition: true if the hash of the first messages, the index, the challenge and the response
 * starts with a zero byte. What all answers have in common is absorbed once.
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

/** One challenge in 256 is right: that none of so many is happens once in 2^184. */
const MAX_CHALLENGE_COUNT = 1n << 15n;

/**
 * Looks for the first challenge whose response has the leading zero byte; `next` goes from one challenge's response to
 * the following one's. Undefined if there is none.
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
