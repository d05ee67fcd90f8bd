/** The hash side of Fischlin proofs. */
import { describe, expect, it } from "vitest";
import {
  FISCHLIN_REPETITIONS,
  type FischlinAnswer,
  findFischlinAnswer,
  fischlinCheck,
  fischlinCommonHash,
  verifyFischlinHashes,
} from "../../../../src/protocol/proofs/fischlin.ts";
import { transcript } from "../../../../src/protocol/proofs/transcript.ts";

function proofTranscript(statement = "a statement") {
  const proof = transcript("test");
  proof.appendJson("statement", statement);
  return proof;
}

/** The answers of a proof whose response is a counter. */
function answers(statement?: string): FischlinAnswer[] {
  const hash = fischlinCommonHash(proofTranscript(statement));
  return Array.from({ length: FISCHLIN_REPETITIONS }, (_, index) => {
    const found = findFischlinAnswer(hash, index, 100 + index, (response) => response + 1, String)!;
    return { challenge: found.challenge, responseJson: String(found.response) };
  });
}

describe("a Fischlin proof", () => {
  it("is accepted with the answer of every repetition", () => {
    expect(() => verifyFischlinHashes(proofTranscript(), answers(), "proof")).not.toThrow();
  });

  it("has the response that belongs to the challenge, which is the first that fits", () => {
    const hash = fischlinCommonHash(proofTranscript());
    const { challenge, response } = findFischlinAnswer<number>(hash, 3, 0, (next) => next + 2, String)!;
    expect(BigInt(response)).toBe(2n * challenge);
    const check = fischlinCheck(hash, 3);
    for (let earlier = 0n; earlier < challenge; earlier++)
      expect(check({ challenge: earlier, responseJson: String(2n * earlier) })).toBe(false);
    expect(check({ challenge, responseJson: String(response) })).toBe(true);
    // A check keeps no trace of the ones before it.
    expect(check({ challenge, responseJson: String(response) })).toBe(true);
  });

  it("is rejected with another statement, challenge, response or order", () => {
    const good = answers();
    const reject = (list: readonly FischlinAnswer[], statement?: string) =>
      expect(() => verifyFischlinHashes(proofTranscript(statement), list, "proof")).toThrow(
        /^proof: hash \d+ has no leading zero byte$/,
      );
    reject(good, "another statement");
    reject([...good].reverse());
    reject(good.map((answer) => ({ ...answer, challenge: answer.challenge + 1n })));
    reject(good.map((answer) => ({ ...answer, responseJson: `${answer.responseJson}0` })));
  });
});
