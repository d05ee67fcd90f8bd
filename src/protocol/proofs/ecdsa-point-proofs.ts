import {
  type Json,
  languageGroupsJson,
  pointGroupJson,
  productJson,
  scalarGroupJson,
} from "./canonical-parameters.ts";
import { type CurveArithmetic, type CurvePoint, pointJson, scalarJson } from "./curve.ts";
import type { PointProof, RepeatedProof } from "./ecdsa-message.ts";
import type { PointEquation } from "./equations.ts";
import { verifyFischlinHashes } from "./fischlin.ts";
import { pedersenJson, pedersenPairJson, randomnessGenerator } from "./pedersen.ts";
import {
  appendMasks,
  type ProofStatement,
  proofChallenge,
  proofTranscript,
  type SignContext,
} from "./transcript.ts";

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

/**
 * A statement about points: there is a witness w such that images[i] is the sum of w[j] * rows[i][j] over the bases in
 * row i. All proofs of an ECDSA sign message that are over the curve alone prove such statements.
 */
export interface PointStatement extends ProofStatement {
  /** The name of the proof in a rejection. */
  readonly label: string;
  readonly images: readonly CurvePoint[];
  readonly rows: readonly (readonly (CurvePoint | undefined)[])[];
  /** Encodes the first messages in the transcript's JSON. */
  masksJson(masks: readonly CurvePoint[]): Json[];
}

/** The commitments of an ECDSA sign message: to k, alpha and beta with base G, and to k with base X_A. */
export interface EcdsaCommitments {
  readonly commitK: CurvePoint;
  readonly commitAlpha: CurvePoint;
  readonly commitBeta: CurvePoint;
  readonly commitKx: CurvePoint;
}

/** R, and R_B = k*R, the network's nonce after the user's displacement. */
export interface EcdsaNonces {
  readonly nonce: CurvePoint;
  readonly displacedNonce: CurvePoint;
}

/** pi_k: G opens as a commitment to base C_k, so k is not zero. Witness: 1/k and -r/k for the commitment's r. */
export function statementK({ curve }: SignContext, { commitK }: EcdsaCommitments): PointStatement {
  const name = "$\\pi_{k}$ - Non-Zero Commitment to Centralized Party Signature Nonce Share Proof";
  return decommitment(curve, "pi_k", name, commitK, curve.base);
}

/** pi_alpha: the same for C_alpha. */
export function statementAlpha({ curve }: SignContext, { commitAlpha }: EcdsaCommitments): PointStatement {
  const name = "$\\pi_{\\alpha}$ - Non-Zero Commitment to Alpha Displacer Proof";
  return decommitment(curve, "pi_alpha", name, commitAlpha, curve.base);
}

/** pi_beta: C_beta opens. Uses Fischlin's transform, so that a simulator can extract beta. */
export function statementBeta({ curve }: SignContext, { commitBeta }: EcdsaCommitments): PointStatement {
  const name = "$\\pi_{\\beta}$ - Commitment to Beta Displacer UC Proof";
  return decommitment(curve, "pi_beta", name, curve.base, commitBeta);
}

/** pi_kx: C_k to base G and C_kx to base X_A commit to the same k. Witness: k and both commitments' randomness. */
export function statementKx(
  { curve, dwallet }: SignContext,
  { commitK, commitKx }: EcdsaCommitments,
): PointStatement {
  const [scalars, points, h] = [scalarGroupJson(curve), pointGroupJson(curve), randomnessGenerator(curve)];
  return {
    label: "pi_kx",
    language: "Equality Between Two Commitments With Different Public Parameters",
    name: "$\\pi_{kx}$ - Proof of Equality Between Centralized Party Nonce Share and Nonce Share by Secret Key Share Commitments",
    parameters: {
      canonical_groups_public_parameters: languageGroupsJson(
        [productJson(scalars, 1), productJson(scalars, 2)],
        productJson(points, 2),
      ),
      canonical_first_commitment_scheme_public_parameters: pedersenJson(curve, curve.base),
      canonical_second_commitment_scheme_public_parameters: pedersenJson(curve, dwallet.userPublicShare),
    },
    statement: [commitK, commitKx].map((point) => pointJson(curve, point)),
    masksJson: (masks) => [masks.map((mask) => pointJson(curve, mask))],
    images: [commitK, commitKx],
    rows: [
      [curve.base, h],
      [dwallet.userPublicShare, undefined, h],
    ],
  };
}

/** pi_R: R_B = k*R for the k in C_k. Witness: k and the commitment's randomness. */
export function statementNonce(
  { curve }: SignContext,
  { commitK }: EcdsaCommitments,
  { nonce, displacedNonce }: EcdsaNonces,
): PointStatement {
  return {
    label: "pi_R",
    language: "Commitment of Discrete Log",
    name: "$\\pi_{R}$ - Public Signature Nonce Proof",
    parameters: {
      canonical_groups_public_parameters: languageGroupsJson(
        productJson(scalarGroupJson(curve), 2),
        productJson(pointGroupJson(curve), 2),
      ),
      canonical_commitment_scheme_public_parameters: pedersenJson(curve, curve.base),
      base: pointJson(curve, nonce),
    },
    statement: [commitK, displacedNonce].map((point) => pointJson(curve, point)),
    masksJson: (masks) => [masks.map((mask) => pointJson(curve, mask))],
    images: [commitK, displacedNonce],
    rows: [[curve.base, randomnessGenerator(curve)], [nonce]],
  };
}

/**
 * pi_RB: R_B = alpha*R'_B + beta*G for the alpha and beta in their commitments; R'_B is the network's nonce. Witness:
 * alpha, beta and their commitments' randomness.
 */
export function statementDisplacedNonce(
  { curve }: SignContext,
  { commitAlpha, commitBeta }: EcdsaCommitments,
  displacedNonce: CurvePoint,
  networkNonce: CurvePoint,
): PointStatement {
  const json = (point: CurvePoint) => pointJson(curve, point);
  const scalars = productJson(scalarGroupJson(curve), 2);
  const h = randomnessGenerator(curve);
  return {
    label: "pi_RB",
    language: "Vector Commitment of Discrete Log",
    name: "$\\pi_{R_{\\DistributedParty}$ - Decentralized Party Nonce Public Share Displacement Proof",
    parameters: {
      canonical_groups_public_parameters: languageGroupsJson(
        [scalars, scalars],
        [productJson(pointGroupJson(curve), 2), pointGroupJson(curve)],
      ),
      canonical_commitment_scheme_public_parameters: pedersenPairJson(curve),
      bases: [json(networkNonce), json(curve.base)],
    },
    statement: [[commitAlpha, commitBeta].map(json), json(displacedNonce)],
    masksJson: (masks) => [[masks.slice(0, 2).map(json), json(masks[2]!)]],
    images: [commitAlpha, commitBeta, displacedNonce],
    rows: [
      [curve.base, undefined, h],
      [undefined, curve.base, undefined, h],
      [networkNonce, curve.base],
    ],
  };
}

/** States knowledge of an opening of `image` as a commitment with the message generator `base`. */
function decommitment(
  curve: CurveArithmetic,
  label: string,
  name: string,
  base: CurvePoint,
  image: CurvePoint,
): PointStatement {
  const scalars = scalarGroupJson(curve);
  return {
    label,
    language: "Knowledge of Decommitment",
    name,
    parameters: {
      canonical_groups_public_parameters: languageGroupsJson(
        [productJson(scalars, 1), scalars],
        pointGroupJson(curve),
      ),
      canonical_commitment_scheme_public_parameters: pedersenJson(curve, base),
    },
    statement: pointJson(curve, image),
    masksJson: (masks) => masks.map((mask) => pointJson(curve, mask)),
    images: [image],
    rows: [[base, randomnessGenerator(curve)]],
  };
}
