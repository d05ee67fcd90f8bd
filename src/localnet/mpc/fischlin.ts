import { bigIntToLittleEndian } from "../../protocol/bytes.ts";
import type { Json } from "./canonical-parameters.ts";
import { rejectUnless } from "./rejected-input.ts";
import { type Transcript, transcript } from "./transcript.ts";

/** How often a Fischlin proof repeats its statement: 16 hashes with 8 zero bits each make 128 bits. */
export const FISCHLIN_REPETITIONS = 16;

/**
 * Checks the hash side of a Fischlin proof (Fischlin, Crypto 2005): for each repetition, the hash of the first
 * messages, the index, the challenge and the response starts with a zero byte. The caller checks the equations.
 * `proof` is the transcript that absorbed the context, the language, the statement and all first messages.
 */
export function verifyFischlinHashes(
  proof: Transcript,
  repetitions: readonly { readonly challenge: bigint; readonly responseJson: Json }[],
  what: string,
): void {
  const commonHash = proof.challenge("common hash", 32);
  repetitions.forEach(({ challenge, responseJson }, index) => {
    const check = transcript("Fischlin hash check");
    check.append("common hash", commonHash);
    check.append("i", Uint8Array.of(0, 0, 0, 0, 0, 0, 0, index));
    check.append("challenge", bigIntToLittleEndian(challenge, 16));
    check.appendJson("response", responseJson);
    rejectUnless(check.challenge("hash", 16)[0] === 0, `${what}: hash ${index} has no leading zero byte`);
  });
}
