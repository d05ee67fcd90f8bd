import { bigIntToLittleEndian, bytesToHex } from "../../protocol/bytes.ts";
import { multiPower } from "../../protocol/class-groups/exponentiation.ts";
import { composeForms, type Form } from "../../protocol/class-groups/forms.ts";
import type { Ciphertext } from "../../protocol/parameters/network-key-output.ts";
import {
  ciphertextGroupJson,
  ciphertextJson,
  encryptionSchemeJson,
  languageGroupsJson,
  pointGroupJson,
  productJson,
  RANDOMNESS_SPACE,
  scalarGroupJson,
} from "../../protocol/proofs/canonical-parameters.ts";
import { type CurvePoint, pointJson, scale } from "../../protocol/proofs/curve.ts";
import { rejectUnless } from "../../protocol/proofs/rejected-input.ts";
import { proofChallenge } from "../../protocol/proofs/transcript.ts";
import { equalCiphertexts } from "./ciphertext.ts";
import { COEFFICIENT_SPACE, type LinearEvaluationProof } from "./ecdsa-message.ts";
import { type FixedBase, fixedBaseFactors } from "./fixed-base.ts";
import type { NetworkKey } from "./network-key.ts";
import { pedersenCommit, pedersenPairJson } from "./pedersen.ts";
import { proofTranscript, type SignContext } from "./sign-context.ts";

/** ciphertext = c1*inputs[0] + c2*inputs[1] + Enc(0), with c1 and c2 modulo q in the commitments (to base G). */
export interface LinearEvaluation {
  readonly ciphertext: Ciphertext;
  readonly inputs: readonly [Ciphertext, Ciphertext];
  readonly commitments: readonly [CurvePoint, CurvePoint];
}

/** What a linear evaluation proof is called: in reasons, and in the protocol's context. */
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

/**
 * Checks a committed linear evaluation: a Maurer proof that mixes both groups, with coefficients as integers (blinded
 * by a large multiple of q, so that the ciphertext shows them modulo q only). Throws a verdict if it fails.
 */
export function verifyLinearEvaluation(
  context: SignContext,
  key: NetworkKey,
  { label, name }: LinearEvaluationName,
  evaluation: LinearEvaluation,
  proof: LinearEvaluationProof,
): void {
  const { curve } = context;
  const { ciphertext, inputs, commitments } = evaluation;
  const json = (point: CurvePoint) => pointJson(curve, point);
  const challenge = proofChallenge(
    proofTranscript(context, {
      language: "Committed Linear Evaluation",
      name,
      parameters: languageJson(context, key, inputs),
      statement: [ciphertextJson(ciphertext), commitments.map(json)],
      masks: [[ciphertextJson(proof.maskCiphertext), proof.maskCommitments.map(json)]],
    }),
  );
  commitments.forEach((commitment, index) => {
    const value = proof.coefficientResponses[index]! % curve.order;
    const opened = pedersenCommit(curve, curve.base, value, proof.commitmentResponses[index]!);
    const expected = proof.maskCommitments[index]!.add(scale(curve, commitment, challenge));
    rejectUnless(opened.equals(expected), `${label}: commitments do not match`);
  });
  const [first, second] = proof.coefficientResponses;
  // c1*z1 + c2*z2 + Enc(0; rho) - e*ct must be the first message.
  const recovered = (part: 0 | 1, base: FixedBase): Form => {
    const { power, rest } = fixedBaseFactors(curve.group, base, proof.randomnessResponse);
    const product = multiPower(curve.group, [
      { base: inputs[0][part], exponent: first },
      { base: inputs[1][part], exponent: second },
      { base: ciphertext[part], exponent: -challenge },
      rest,
    ]);
    return composeForms(curve.group, product, power);
  };
  const both = [recovered(0, key.h), recovered(1, key.ek)] as const;
  rejectUnless(equalCiphertexts(both, proof.maskCiphertext), `${label}: ciphertext does not match`);
}

function languageJson({ curve }: SignContext, key: NetworkKey, inputs: readonly [Ciphertext, Ciphertext]) {
  const scalars = scalarGroupJson(curve);
  const largestScalar = bytesToHex(bigIntToLittleEndian(curve.order - 1n, 32));
  return {
    canonical_groups_public_parameters: languageGroupsJson(
      [[[productJson(COEFFICIENT_SPACE, 2), productJson(scalars, 2)], scalars], RANDOMNESS_SPACE],
      [ciphertextGroupJson(curve), productJson(pointGroupJson(curve), 2)],
    ),
    canonical_encryption_scheme_public_parameters: encryptionSchemeJson(curve, key.encryptionKey),
    canonical_commitment_scheme_public_parameters: pedersenPairJson(curve),
    ciphertexts_and_encoded_messages_upper_bounds: inputs.map((input) => [
      ciphertextJson(input),
      largestScalar,
    ]),
  };
}
