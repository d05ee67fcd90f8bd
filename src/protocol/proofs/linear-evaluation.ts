import { bytesToHex } from "@noble/hashes/utils.js";
import { bigIntToLittleEndian } from "../bytes.ts";
import type { Form } from "../class-groups/forms.ts";
import type { Ciphertext } from "../parameters/network-key-output.ts";
import {
  ciphertextGroupJson,
  ciphertextJson,
  encryptionSchemeJson,
  languageGroupsJson,
  pointGroupJson,
  productJson,
  RANDOMNESS_SPACE,
  scalarGroupJson,
} from "./canonical-parameters.ts";
import { type CurvePoint, pointJson } from "./curve.ts";
import { COEFFICIENT_SPACE, type LinearEvaluationProof } from "./ecdsa-message.ts";
import type { ProofEquations } from "./equations.ts";
import { pedersenPairJson, randomnessGenerator } from "./pedersen.ts";
import {
  appendMasks,
  proofChallenge,
  proofTranscript,
  type SignContext,
  type Transcript,
} from "./transcript.ts";

/** ciphertext = c1*inputs[0] + c2*inputs[1] + Enc(0); the commitments (base G) commit to c1 and c2 modulo q. */
export interface LinearEvaluation {
  readonly ciphertext: Ciphertext;
  readonly inputs: readonly [Ciphertext, Ciphertext];
  readonly commitments: readonly [CurvePoint, CurvePoint];
}

/** The names of a linear evaluation proof: `label` in rejections, `name` in the protocol's context. */
export interface LinearEvaluationName {
  readonly label: string;
  readonly name: string;
}

/** pi_ctA: the encrypted partial signature. */
export const PARTIAL_SIGNATURE_PROOF: LinearEvaluationName = {
  label: "pi_ctA",
  name: "$\\pi_{\\ct_{\\CentralizedParty}}$ - Encryption of Partial Signature Proof",
};

/** pi_ctab: the encrypted displaced nonce share. */
export const DISPLACED_NONCE_PROOF: LinearEvaluationName = {
  label: "pi_ctab",
  name: "$\\pi_{\\ctab}$ - Encryption of Displaced Decentralized Party Nonce Share Proof",
};

/** Returns the transcript of a linear evaluation up to its statement. */
export function evaluationTranscript(
  context: SignContext,
  encryptionKey: Form,
  { name }: LinearEvaluationName,
  { ciphertext, inputs, commitments }: LinearEvaluation,
): Transcript {
  return proofTranscript(context, {
    language: "Committed Linear Evaluation",
    name,
    parameters: languageJson(context, encryptionKey, inputs),
    statement: imageJson(context, ciphertext, commitments),
  });
}

/** Encodes a first message, or a statement, in the transcript's JSON. */
export function imageJson(
  { curve }: SignContext,
  ciphertext: Ciphertext,
  commitments: readonly CurvePoint[],
) {
  return [ciphertextJson(ciphertext), commitments.map((point) => pointJson(curve, point))];
}

/**
 * Returns the equations of the proof of a committed linear evaluation: a Maurer proof over both groups. The
 * coefficients are integers, blinded by a large multiple of q so that the ciphertext reveals them only modulo q.
 */
export function evaluationEquations(
  context: SignContext,
  encryptionKey: Form,
  proofName: LinearEvaluationName,
  evaluation: LinearEvaluation,
  proof: LinearEvaluationProof,
): ProofEquations {
  const { curve } = context;
  const { label } = proofName;
  const { ciphertext, inputs, commitments } = evaluation;
  const transcript = evaluationTranscript(context, encryptionKey, proofName, evaluation);
  appendMasks(transcript, [imageJson(context, proof.maskCiphertext, proof.maskCommitments)]);
  const challenge = proofChallenge(transcript);
  const [first, second] = proof.coefficientResponses;
  const generator = randomnessGenerator(curve);
  return {
    points: commitments.map((commitment, index) => ({
      label: `${label}: commitments do not match`,
      terms: [
        { point: curve.base, scalar: proof.coefficientResponses[index]! },
        { point: generator, scalar: proof.commitmentResponses[index]! },
        { point: proof.maskCommitments[index]!, scalar: -1n },
        { point: commitment, scalar: -challenge },
      ],
    })),
    // c1*z1 + c2*z2 + Enc(0; rho) - e*ct must be the first message.
    forms: ([0, 1] as const).map((part) => ({
      label: `${label}: ciphertext does not match`,
      part,
      terms: [
        { base: inputs[0][part], exponent: first },
        { base: inputs[1][part], exponent: second },
        { base: part === 0 ? curve.group.h : encryptionKey, exponent: proof.randomnessResponse },
        { base: ciphertext[part], exponent: -challenge },
        { base: proof.maskCiphertext[part], exponent: -1n },
      ],
    })),
  };
}

function languageJson(
  { curve }: SignContext,
  encryptionKey: Form,
  inputs: readonly [Ciphertext, Ciphertext],
) {
  const scalars = scalarGroupJson(curve);
  const largestScalar = bytesToHex(bigIntToLittleEndian(curve.order - 1n, 32));
  return {
    canonical_groups_public_parameters: languageGroupsJson(
      [[[productJson(COEFFICIENT_SPACE, 2), productJson(scalars, 2)], scalars], RANDOMNESS_SPACE],
      [ciphertextGroupJson(curve), productJson(pointGroupJson(curve), 2)],
    ),
    canonical_encryption_scheme_public_parameters: encryptionSchemeJson(curve, encryptionKey),
    canonical_commitment_scheme_public_parameters: pedersenPairJson(curve),
    ciphertexts_and_encoded_messages_upper_bounds: inputs.map((input) => [
      ciphertextJson(input),
      largestScalar,
    ]),
  };
}
