import type { Steps } from "../../protocol/chain/read-errors.ts";
import type { CurveArithmetic, CurvePoint } from "../../protocol/proofs/curve.ts";
import type { PointProof, RepeatedProof } from "../../protocol/proofs/ecdsa-message.ts";
import { openingJson, type PointStatement } from "../../protocol/proofs/ecdsa-point-proofs.ts";
import {
  FISCHLIN_REPETITIONS,
  findFischlinAnswer,
  fischlinCommonHash,
} from "../../protocol/proofs/fischlin.ts";
import {
  appendMasks,
  proofChallenge,
  proofTranscript,
  type SignContext,
  type Transcript,
} from "../../protocol/proofs/transcript.ts";
import type { SignRandomness } from "./derive-sign-randomness.ts";
import { EngineError } from "./engine.ts";

/**
 * Creates a Maurer proof of a statement: first messages for random witnesses, and w' + e*w with the transcript's
 * challenge.
 */
export function provePoints(
  context: SignContext,
  statement: PointStatement,
  witness: readonly bigint[],
  randomness: SignRandomness,
): PointProof {
  const { curve } = context;
  const transcript = proofTranscript(context, statement);
  const binding = transcriptBinding(transcript);
  const nonces = witness.map((_, index) => randomness.scalar(`${statement.label}/nonce/${index}`, binding));
  const masks = pointImages(curve, statement, nonces);
  appendMasks(transcript, statement.masksJson(masks));
  const challenge = proofChallenge(transcript);
  const responses = nonces.map((nonce, index) => (nonce + challenge * witness[index]!) % curve.order);
  return { masks, responses };
}

/** Creates a Fischlin proof that a commitment opens to `witness`. */
export function* proveRepeatedly(
  context: SignContext,
  statement: PointStatement,
  witness: readonly [bigint, bigint],
  randomness: SignRandomness,
): Steps<RepeatedProof> {
  const { curve } = context;
  const { order } = curve;
  const transcript = proofTranscript(context, statement);
  const binding = transcriptBinding(transcript);
  const nonces: (readonly [bigint, bigint])[] = [];
  const masks: CurvePoint[] = [];
  for (let index = 0; index < FISCHLIN_REPETITIONS; index++) {
    const nonce = (part: number) => randomness.scalar(`${statement.label}/nonce/${index}/${part}`, binding);
    const pair = [nonce(0), nonce(1)] as const;
    nonces.push(pair);
    masks.push(...pointImages(curve, statement, pair));
    yield;
  }
  appendMasks(transcript, statement.masksJson(masks));
  const commonHash = fischlinCommonHash(transcript);
  const responses: (readonly [bigint, bigint])[] = [];
  const challenges: bigint[] = [];
  const next = ([value, blinding]: readonly [bigint, bigint]) =>
    [(value + witness[0]) % order, (blinding + witness[1]) % order] as const;
  const json = (response: readonly [bigint, bigint]) => openingJson(curve, response);
  for (const [index, first] of nonces.entries()) {
    const answer = findFischlinAnswer(commonHash, index, first, next, json);
    if (answer === undefined) throw new EngineError("sign message: no challenge was found");
    responses.push(answer.response);
    challenges.push(answer.challenge);
    yield;
  }
  return { masks, responses, challenges };
}

/**
 * Returns the transcript's content so far, as an extra input of a proof's nonces. If the context, the language or the
 * statement differs, so do the nonces: one nonce never serves two challenges.
 */
export function transcriptBinding(transcript: Transcript): Uint8Array {
  const rewind = transcript.mark();
  const binding = transcript.challenge("prover's nonces", 32);
  rewind();
  return binding;
}

/** Returns the images of a witness of scalars between 1 and the order minus one. Multiplies points in constant time. */
function pointImages(
  curve: CurveArithmetic,
  { rows }: PointStatement,
  witness: readonly bigint[],
): CurvePoint[] {
  return rows.map((row) =>
    row.reduce<CurvePoint>(
      (sum, point, index) => (point === undefined ? sum : sum.add(point.multiply(witness[index]!))),
      curve.zero,
    ),
  );
}
