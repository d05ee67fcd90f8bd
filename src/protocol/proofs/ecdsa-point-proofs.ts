import { type CurveArithmetic, scalarJson } from "./curve.ts";
import type { PointProof, RepeatedProof } from "./ecdsa-message.ts";
import type { PointStatement } from "./ecdsa-point-statements.ts";
import type { PointEquation } from "./equations.ts";
import { verifyFischlinHashes } from "./fischlin.ts";
import { appendMasks, proofTranscript, type SignContext } from "./sign-context.ts";
import { proofChallenge } from "./transcript.ts";

/** Returns the equations of a Maurer proof: phi(z) = M + e*S for each image, with the transcript's challenge e. */
export function pointProofEquations(
  context: SignContext,
  statement: PointStatement,
  { masks, responses }: PointProof,
): PointEquation[] {
  const transcript = proofTranscript(context, statement);
  appendMasks(transcript, statement.masksJson(masks));
  return equations(context.curve, statement, masks, responses, proofChallenge(transcript));
}

/**
 * Returns the equations of a Fischlin proof of a statement with one image: one for each repetition, with its own
 * challenge. This function checks the hashes and throws RejectedInput.
 */
export function repeatedProofEquations(
  context: SignContext,
  statement: PointStatement,
  { masks, responses, challenges }: RepeatedProof,
): PointEquation[] {
  const { curve } = context;
  const transcript = proofTranscript(context, statement);
  appendMasks(transcript, statement.masksJson(masks));
  const answers = responses.map((response, index) => ({
    challenge: challenges[index]!,
    responseJson: openingJson(curve, response),
  }));
  verifyFischlinHashes(transcript, answers, statement.label);
  return masks.flatMap((mask, index) =>
    equations(curve, statement, [mask], responses[index]!, challenges[index]!),
  );
}

/** Encodes the opening of a commitment in the transcript's JSON: a vector of one value, and the randomness. */
export function openingJson(curve: CurveArithmetic, [value, randomness]: readonly [bigint, bigint]) {
  return [[scalarJson(curve, value)], scalarJson(curve, randomness)];
}

function equations(
  curve: CurveArithmetic,
  { label, rows, images }: PointStatement,
  masks: PointProof["masks"],
  responses: readonly bigint[],
  challenge: bigint,
): PointEquation[] {
  return rows.map((row, index) => ({
    label: `${label} does not verify`,
    terms: [
      ...row.flatMap((point, at) => (point === undefined ? [] : [{ point, scalar: responses[at]! }])),
      { point: masks[index]!, scalar: curve.order - 1n },
      { point: images[index]!, scalar: -challenge },
    ],
  }));
}
