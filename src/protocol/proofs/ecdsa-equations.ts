import { bigIntFromBigEndian } from "../bytes.ts";
import type { Form } from "../class-groups/forms.ts";
import type { Ciphertext } from "../parameters/network-key-output.ts";
import { type CurveArithmetic, type CurvePoint, pointBytes, scale, scaleBase } from "./curve.ts";
import { nonceRandomizers } from "./dkg-transcripts.ts";
import type { EcdsaSignMessage } from "./ecdsa-message.ts";
import {
  pointProofEquations,
  repeatedProofEquations,
  statementAlpha,
  statementBeta,
  statementDisplacedNonce,
  statementK,
  statementKx,
  statementNonce,
} from "./ecdsa-point-proofs.ts";
import type { ProofEquations } from "./equations.ts";
import { DISPLACED_NONCE_PROOF, evaluationEquations, PARTIAL_SIGNATURE_PROOF } from "./linear-evaluation.ts";
import type { CiphertextTerm } from "./message-parts.ts";
import { rejectUnless } from "./rejected-input.ts";
import type { SignContext } from "./transcript.ts";

/**
 * Returns the equations of the eight proofs of an ECDSA sign message. This function checks the hashes and throws
 * RejectedInput; the caller checks the equations. `digest` is the message's hash modulo the order.
 */
export function ecdsaEquations(
  context: SignContext,
  encryptionKey: Form,
  message: EcdsaSignMessage,
  digest: bigint,
  { maskedKeyShare, maskedNonceShare }: DerivedCiphertexts,
): ProofEquations {
  const { curve, presign } = context;
  const r = nonceAbscissa(curve, message.nonce);
  const weights = nonceRandomizers(context, message, digest, maskedKeyShare);
  const displacement = statementDisplacedNonce(
    context,
    message,
    message.displacedNonce,
    networkNonce(context, weights),
  );
  const mask = presign.ciphertexts[0]!;
  const partialSignature = evaluationEquations(
    context,
    encryptionKey,
    PARTIAL_SIGNATURE_PROOF,
    {
      ciphertext: message.partialSignature,
      inputs: [mask, maskedKeyShare],
      commitments: partialSignatureCommitments(curve, message, r, digest),
    },
    message.proofPartialSignature,
  );
  const displacedNonceShare = evaluationEquations(
    context,
    encryptionKey,
    DISPLACED_NONCE_PROOF,
    {
      ciphertext: message.displacedNonceShare,
      inputs: [mask, maskedNonceShare(weights)],
      commitments: [message.commitBeta, message.commitAlpha],
    },
    message.proofDisplacedNonceShare,
  );
  return {
    points: [
      ...pointProofEquations(context, statementK(context, message), message.proofK),
      ...pointProofEquations(context, statementAlpha(context, message), message.proofAlpha),
      ...repeatedProofEquations(context, statementBeta(context, message), message.proofBeta),
      ...pointProofEquations(context, statementKx(context, message), message.proofKx),
      ...pointProofEquations(context, statementNonce(context, message, message), message.proofNonce),
      ...pointProofEquations(context, displacement, message.proofDisplacedNonce),
      ...partialSignature.points,
      ...displacedNonceShare.points,
    ],
    forms: [...partialSignature.forms, ...displacedNonceShare.forms],
  };
}

/** The weights of a pair of encryptions and of the encryption of g, in this order. */
type Weights = readonly [bigint, bigint, bigint];

/** Ciphertexts that follow from the presign. A verifier computes them, or checks claimed values. */
export interface DerivedCiphertexts {
  /** g times the dWallet's network share. */
  readonly maskedKeyShare: Ciphertext;
  /** Returns g times the network's nonce share under these weights. */
  readonly maskedNonceShare: (weights: Weights) => Ciphertext;
}

/** Returns r, the nonce's x coordinate modulo the order. Rejects zero. */
export function nonceAbscissa(curve: CurveArithmetic, nonce: CurvePoint): bigint {
  const r = bigIntFromBigEndian(pointBytes(nonce).subarray(1)) % curve.order;
  rejectUnless(r !== 0n, "nonce has x = 0");
  return r;
}

/** Returns R'_B, the network's nonce under the message's weights. Rejects the neutral point. */
export function networkNonce({ curve, presign }: SignContext, weights: Weights): CurvePoint {
  const nonce = scale(curve, presign.noncePoints[0], weights[0])
    .add(scale(curve, presign.noncePoints[1], weights[1]))
    .add(scaleBase(curve, weights[2]));
  rejectUnless(!nonce.equals(curve.zero), "network's nonce is the neutral point");
  return nonce;
}

/** Returns the terms whose sum is the network's masked key share of a dWallet. */
export function maskedKeyShareTerms({ dwallet, presign }: SignContext): readonly CiphertextTerm[] {
  return weighted(
    [presign.ciphertexts[1]!, presign.ciphertexts[2]!, presign.ciphertexts[0]!],
    dwallet.randomizers,
  );
}

/** Returns the terms whose sum is the network's masked nonce share. */
export function maskedNonceShareTerms({ presign }: SignContext, weights: Weights): readonly CiphertextTerm[] {
  return weighted([presign.ciphertexts[3]!, presign.ciphertexts[4]!, presign.ciphertexts[0]!], weights);
}

/**
 * Returns the commitments to the coefficients of the encrypted partial signature, r*k*x_A + m*k and r*k. They follow
 * homomorphically from the commitments to k.
 */
export function partialSignatureCommitments(
  curve: CurveArithmetic,
  { commitK, commitKx }: Pick<EcdsaSignMessage, "commitK" | "commitKx">,
  r: bigint,
  digest: bigint,
): readonly [CurvePoint, CurvePoint] {
  return [scale(curve, commitKx, r).add(scale(curve, commitK, digest)), scale(curve, commitK, r)];
}

function weighted(ciphertexts: readonly [Ciphertext, Ciphertext, Ciphertext], weights: Weights) {
  return ciphertexts.map((ciphertext, index) => ({ ciphertext, weight: weights[index]! }));
}
