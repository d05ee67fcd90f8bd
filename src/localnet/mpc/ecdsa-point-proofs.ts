import {
  languageGroupsJson,
  pointGroupJson,
  productJson,
  scalarGroupJson,
} from "../../protocol/proofs/canonical-parameters.ts";
import { type CurvePoint, pointJson, scalarJson, scale } from "../../protocol/proofs/curve.ts";
import { verifyFischlinHashes } from "../../protocol/proofs/fischlin.ts";
import { rejectUnless } from "../../protocol/proofs/rejected-input.ts";
import { proofChallenge } from "../../protocol/proofs/transcript.ts";
import type { EcdsaSignMessage, PointProof } from "./ecdsa-message.ts";
import { pedersenCommit, pedersenJson, pedersenPairJson } from "./pedersen.ts";
import { type ProofStatement, proofTranscript, type SignContext } from "./sign-context.ts";

/**
 * The six proofs of an ECDSA sign message that live on the curve. All are Maurer proofs: for a homomorphism phi, a
 * statement S = phi(w) and a first message M, the response z must satisfy phi(z) = M + e*S with the transcript's e.
 * Each function throws a verdict if its proof fails.
 */

/** pi_k: the user can open G as a commitment to base C_k, so k is not zero. */
export function verifyProofK(context: SignContext, message: EcdsaSignMessage): void {
  const name = "$\\pi_{k}$ - Non-Zero Commitment to Centralized Party Signature Nonce Share Proof";
  verifyDecommitment(context, "pi_k", name, message.commitK, message.proofK);
}

/** pi_alpha: the same for C_alpha. */
export function verifyProofAlpha(context: SignContext, message: EcdsaSignMessage): void {
  const name = "$\\pi_{\\alpha}$ - Non-Zero Commitment to Alpha Displacer Proof";
  verifyDecommitment(context, "pi_alpha", name, message.commitAlpha, message.proofAlpha);
}

/** pi_beta: the user can open C_beta, by Fischlin's transform so that a simulator could extract it. */
export function verifyProofBeta(context: SignContext, message: EcdsaSignMessage): void {
  const { curve } = context;
  const { masks, responses, challenges } = message.proofBeta;
  const proof = proofTranscript(context, {
    language: DECOMMITMENT,
    name: "$\\pi_{\\beta}$ - Commitment to Beta Displacer UC Proof",
    parameters: decommitmentJson(context, curve.base),
    statement: pointJson(curve, message.commitBeta),
    masks: masks.map((mask) => pointJson(curve, mask)),
  });
  const repetitions = masks.map((mask, index) => {
    const [value, randomness] = responses[index]!;
    const responseJson = [[scalarJson(curve, value)], scalarJson(curve, randomness)];
    return { mask, value, randomness, challenge: challenges[index]!, responseJson };
  });
  verifyFischlinHashes(proof, repetitions, "pi_beta");
  for (const { mask, value, randomness, challenge } of repetitions) {
    const opened = pedersenCommit(curve, curve.base, value, randomness);
    rejectUnless(equation(context, opened, mask, message.commitBeta, challenge), "pi_beta does not verify");
  }
}

/** pi_kx: C_k to base G and C_kx to base X_A commit to the same k. */
export function verifyProofKx(context: SignContext, message: EcdsaSignMessage): void {
  const { curve, dwallet } = context;
  const { masks, responses } = message.proofKx;
  const [scalars, points] = [scalarGroupJson(curve), pointGroupJson(curve)];
  const challenge = challengeOf(context, {
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
    statement: [message.commitK, message.commitKx].map((point) => pointJson(curve, point)),
    masks: [masks.map((mask) => pointJson(curve, mask))],
  });
  const [value, first, second] = responses as [bigint, bigint, bigint];
  const opened = [
    pedersenCommit(curve, curve.base, value, first),
    pedersenCommit(curve, dwallet.userPublicShare, value, second),
  ];
  const valid =
    equation(context, opened[0]!, masks[0]!, message.commitK, challenge) &&
    equation(context, opened[1]!, masks[1]!, message.commitKx, challenge);
  rejectUnless(valid, "pi_kx does not verify");
}

/** pi_R: R_B = k*R for the k in C_k. */
export function verifyProofNonce(context: SignContext, message: EcdsaSignMessage): void {
  const { curve } = context;
  const { masks, responses } = message.proofNonce;
  const challenge = challengeOf(context, {
    language: "Commitment of Discrete Log",
    name: "$\\pi_{R}$ - Public Signature Nonce Proof",
    parameters: {
      canonical_groups_public_parameters: languageGroupsJson(
        productJson(scalarGroupJson(curve), 2),
        productJson(pointGroupJson(curve), 2),
      ),
      canonical_commitment_scheme_public_parameters: pedersenJson(curve, curve.base),
      base: pointJson(curve, message.nonce),
    },
    statement: [message.commitK, message.displacedNonce].map((point) => pointJson(curve, point)),
    masks: [masks.map((mask) => pointJson(curve, mask))],
  });
  const [value, randomness] = responses as [bigint, bigint];
  const opened = pedersenCommit(curve, curve.base, value, randomness);
  const valid =
    equation(context, opened, masks[0]!, message.commitK, challenge) &&
    equation(context, scale(curve, message.nonce, value), masks[1]!, message.displacedNonce, challenge);
  rejectUnless(valid, "pi_R does not verify");
}

/** pi_RB: R_B = alpha*R'_B + beta*G for the alpha and beta in their commitments; R'_B is the network's nonce. */
export function verifyProofDisplacedNonce(
  context: SignContext,
  message: EcdsaSignMessage,
  networkNonce: CurvePoint,
): void {
  const { curve } = context;
  const { masks, responses } = message.proofDisplacedNonce;
  const json = (point: CurvePoint) => pointJson(curve, point);
  const scalars = productJson(scalarGroupJson(curve), 2);
  const challenge = challengeOf(context, {
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
    statement: [[message.commitAlpha, message.commitBeta].map(json), json(message.displacedNonce)],
    masks: [[masks.slice(0, 2).map(json), json(masks[2]!)]],
  });
  const [alpha, beta, alphaRandomness, betaRandomness] = responses as [bigint, bigint, bigint, bigint];
  const opened = [
    pedersenCommit(curve, curve.base, alpha, alphaRandomness),
    pedersenCommit(curve, curve.base, beta, betaRandomness),
    scale(curve, networkNonce, alpha).add(scale(curve, curve.base, beta)),
  ];
  const statements = [message.commitAlpha, message.commitBeta, message.displacedNonce];
  const valid = opened.every((point, i) => equation(context, point, masks[i]!, statements[i]!, challenge));
  rejectUnless(valid, "pi_RB does not verify");
}

const DECOMMITMENT = "Knowledge of Decommitment";

function verifyDecommitment(
  context: SignContext,
  label: string,
  name: string,
  base: CurvePoint,
  proof: PointProof,
): void {
  const { curve } = context;
  const [mask] = proof.masks as [CurvePoint];
  const challenge = challengeOf(context, {
    language: DECOMMITMENT,
    name,
    parameters: decommitmentJson(context, base),
    statement: pointJson(curve, curve.base),
    masks: [pointJson(curve, mask)],
  });
  const [value, randomness] = proof.responses as [bigint, bigint];
  const opened = pedersenCommit(curve, base, value, randomness);
  rejectUnless(equation(context, opened, mask, curve.base, challenge), `${label} does not verify`);
}

function decommitmentJson({ curve }: SignContext, base: CurvePoint) {
  const scalars = scalarGroupJson(curve);
  return {
    canonical_groups_public_parameters: languageGroupsJson(
      [productJson(scalars, 1), scalars],
      pointGroupJson(curve),
    ),
    canonical_commitment_scheme_public_parameters: pedersenJson(curve, base),
  };
}

function challengeOf(context: SignContext, statement: ProofStatement): bigint {
  return proofChallenge(proofTranscript(context, statement));
}

/** phi(z) = M + e*S. */
function equation(
  { curve }: SignContext,
  opened: CurvePoint,
  mask: CurvePoint,
  statement: CurvePoint,
  challenge: bigint,
): boolean {
  return opened.equals(mask.add(scale(curve, statement, challenge)));
}
