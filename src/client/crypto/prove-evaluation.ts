import type { Steps } from "../../protocol/chain/read-errors.ts";
import { ladderProduct, type PowerLadder } from "../../protocol/class-groups/exponentiation.ts";
import type { Form } from "../../protocol/class-groups/forms.ts";
import { bitLength } from "../../protocol/class-groups/integers.ts";
import { fromMaximalOrder } from "../../protocol/class-groups/maximal-order.ts";
import type { Ciphertext } from "../../protocol/parameters/network-key-output.ts";
import type { CurvePoint } from "../../protocol/proofs/curve.ts";
import type { LinearEvaluationProof } from "../../protocol/proofs/ecdsa-message.ts";
import {
  evaluationTranscript,
  imageJson,
  type LinearEvaluation,
  type LinearEvaluationName,
} from "../../protocol/proofs/linear-evaluation.ts";
import { commitSecretly } from "../../protocol/proofs/pedersen.ts";
import { appendMasks, proofChallenge, type SignContext } from "../../protocol/proofs/transcript.ts";
import type { SignRandomness } from "./derive-sign-randomness.ts";
import type { PartSplit } from "./part-split.ts";
import { transcriptBinding } from "./prove-points.ts";

/** Computes c1*inputs[0] + c2*inputs[1] + Enc(0), and proves that the coefficients are the committed ones. */
export function* proveEvaluation(
  context: SignContext,
  task: EvaluationTask,
  randomness: SignRandomness,
): Steps<{ readonly ciphertext: Ciphertext; readonly proof: LinearEvaluationProof }> {
  const { curve } = context;
  const { label } = task.name;
  // A multiple of q does not change the plaintext. It hides the coefficient as an integer.
  const blinded = task.coefficients.map(
    (coefficient, index) =>
      coefficient + randomness.integer(`${label}/blinding/${index}`, RANDOMNESS_BITS) * curve.order,
  ) as unknown as Pair;
  const encryptionRandomness = randomness.integer(`${label}/randomness`, RANDOMNESS_BITS);
  const ciphertext = yield* evaluate(context, task, blinded, encryptionRandomness);

  const { inputs, commitments } = task;
  const evaluation: LinearEvaluation = { ciphertext, inputs, commitments };
  const transcript = evaluationTranscript(context, task.encryptionKey, task.name, evaluation);
  const binding = transcriptBinding(transcript);
  const pair = (draw: (index: number) => bigint): Pair => [draw(0), draw(1)];
  const masks = pair((index) =>
    randomness.integer(`${label}/coefficient mask/${index}`, COEFFICIENT_MASK_BITS, binding),
  );
  const randomnessMask = randomness.integer(`${label}/randomness mask`, MASK_BITS, binding);
  const nonces = pair((index) => randomness.scalar(`${label}/commitment nonce/${index}`, binding));
  const plaintextMaskResponse = randomness.scalar(`${label}/plaintext mask`, binding);
  const maskCiphertext = yield* evaluate(context, task, masks, randomnessMask);
  const commit = (index: 0 | 1) =>
    commitSecretly(curve, curve.base, masks[index] % curve.order, nonces[index]);
  const maskCommitments = [commit(0), commit(1)] as const;
  appendMasks(transcript, [imageJson(context, maskCiphertext, maskCommitments)]);
  const challenge = proofChallenge(transcript);
  const proof = {
    maskCiphertext,
    maskCommitments,
    coefficientResponses: pair((index) =>
      maskedResponse(masks[index]!, challenge, blinded[index]!, COEFFICIENT_BITS),
    ),
    commitmentResponses: pair(
      (index) => (nonces[index]! + challenge * task.commitmentRandomness[index]!) % curve.order,
    ),
    plaintextMaskResponse,
    randomnessResponse: maskedResponse(randomnessMask, challenge, encryptionRandomness, RANDOMNESS_BITS),
  };
  return { ciphertext, proof };
}

/** A pair of numbers, one for each input. */
type Pair = readonly [bigint, bigint];

/** A linear evaluation with the ladders of all bases. */
interface EvaluationTask {
  readonly name: LinearEvaluationName;
  readonly encryptionKey: Form;
  readonly inputs: readonly [Ciphertext, Ciphertext];
  /** The ladders of the inputs' forms, h and the encryption key, by part. Undefined for parts outside the split. */
  readonly ladders: readonly (EvaluationLadders | undefined)[];
  readonly split: PartSplit;
  /** c1 and c2 modulo the order. Secret. */
  readonly coefficients: Pair;
  /** Pedersen commitments to the coefficients, and their randomness. */
  readonly commitments: readonly [CurvePoint, CurvePoint];
  readonly commitmentRandomness: Pair;
}

/** The ladders of one part of the ciphertexts. */
export interface EvaluationLadders {
  readonly inputs: readonly [PowerLadder, PowerLadder];
  readonly randomizer: PowerLadder;
}

/** Returns c1*inputs[0] + c2*inputs[1] + Enc(0; randomness), with coefficients as integers. */
function* evaluate(
  { curve }: SignContext,
  { ladders, split }: EvaluationTask,
  coefficients: Pair,
  randomness: bigint,
): Steps<Ciphertext> {
  const forms: (Form | undefined)[] = [undefined, undefined];
  for (const part of split.parts) {
    const { inputs, randomizer } = ladders[part]!;
    const terms = inputs.map((ladder, index) => ({ ladder, exponent: coefficients[index]! }));
    const product = yield* ladderProduct(curve.group, [
      ...terms,
      { ladder: randomizer, exponent: randomness },
    ]);
    forms[part] = fromMaximalOrder(curve.group, product);
  }
  return yield* split.join(forms);
}

/**
 * The lengths in bits of the integers in the class-group proofs. A response is mask + challenge * secret over the
 * integers. It hides the secret only if the mask is much longer than challenge * secret: a short mask leaks the secret.
 */

/** Encryption randomness, and the blinding of a coefficient: 2^749 is the bound on the group's order. */
export const RANDOMNESS_BITS = 749;
const CHALLENGE_BITS = 128;
/** The responses of any two secrets have a statistical distance of 2^-64. */
const STATISTICAL_BITS = 64;

/** The mask for encryption randomness: 941. */
export const MASK_BITS = RANDOMNESS_BITS + CHALLENGE_BITS + STATISTICAL_BITS;

/** A coefficient with its blinding, c + s*q: 749 bits, 256 bits for the order, and one for the sum. */
const COEFFICIENT_BITS = 1006;

/** The mask for such a coefficient: 1198. */
export const COEFFICIENT_MASK_BITS = COEFFICIENT_BITS + CHALLENGE_BITS + STATISTICAL_BITS;

/**
 * Returns mask + challenge * secret. Throws a RangeError if the secret exceeds `bits` bits or the challenge exceeds
 * 128.
 */
export function maskedResponse(mask: bigint, challenge: bigint, secret: bigint, bits: number): bigint {
  const isInBounds = bitLength(secret) <= bits && bitLength(challenge) <= CHALLENGE_BITS && secret >= 0n;
  if (!isInBounds) throw new RangeError("a secret is too long for its mask");
  return mask + challenge * secret;
}
