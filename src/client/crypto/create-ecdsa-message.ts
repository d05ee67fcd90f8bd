import { bigIntFromBigEndian } from "../../protocol/bytes.ts";
import type { Steps } from "../../protocol/chain/read-errors.ts";
import { type PowerLadder, powerLadder } from "../../protocol/class-groups/exponentiation.ts";
import type { Form } from "../../protocol/class-groups/forms.ts";
import { invertMod } from "../../protocol/class-groups/integers.ts";
import type { Ciphertext } from "../../protocol/parameters/network-key-output.ts";
import type { CurveArithmetic } from "../../protocol/proofs/curve.ts";
import { nonceRandomizers } from "../../protocol/proofs/dkg-transcripts.ts";
import {
  maskedKeyShareTerms,
  maskedNonceShareTerms,
  networkNonce,
  nonceAbscissa,
  partialSignatureCommitments,
} from "../../protocol/proofs/ecdsa-equations.ts";
import { type EcdsaSignMessage, encodeEcdsaSignMessage } from "../../protocol/proofs/ecdsa-message.ts";
import {
  statementAlpha,
  statementBeta,
  statementDisplacedNonce,
  statementK,
  statementKx,
  statementNonce,
} from "../../protocol/proofs/ecdsa-point-proofs.ts";
import { DISPLACED_NONCE_PROOF, PARTIAL_SIGNATURE_PROOF } from "../../protocol/proofs/linear-evaluation.ts";
import { type CiphertextTerm, combineParts } from "../../protocol/proofs/message-parts.ts";
import { commitSecretly } from "../../protocol/proofs/pedersen.ts";
import { messageDigest } from "../../protocol/signatures/verify-signature.ts";
import { checkEcdsaMessage, type ProverState } from "./check-ecdsa-message.ts";
import { EngineError } from "./engine.ts";
import { forgetLadders, knownLadder } from "./known-network-key.ts";
import type { Part, PartSplit } from "./part-split.ts";
import { COEFFICIENT_MASK_BITS, type EvaluationLadders, proveEvaluation } from "./prove-evaluation.ts";
import { provePoints, proveRepeatedly } from "./prove-points.ts";
import { type OpenSignRequest, openSignRequest, type SignRequest, signContext } from "./sign-request.ts";

/**
 * Computes the user's half of an ECDSA signature with its eight proofs, 7,144 bytes. With the nonce share k, the
 * displacers alpha and beta, and the network's nonce R'_B for this message, the signature's nonce is
 * R = (alpha R'_B + beta G) / k. The two ciphertexts contain r*k*x_A + m*k + r*k*x_B and alpha k' + beta, each times
 * the presign's mask. All randomness is derived from the share and the request. Verifies the result against a second
 * copy of the request. Takes about half a second.
 *
 * Two threads can share the work: each runs this function with the same request and its own `split`. Both return the
 * same bytes and each verifies its own parts, so the caller must use the bytes only if both threads return them.
 * Throws as {@link openSignRequest} does, and EngineError.
 */
export function* createEcdsaMessage(
  request: SignRequest,
  kept: SignRequest,
  split: PartSplit,
): Steps<Uint8Array> {
  const opened = openSignRequest(request);
  const { curve, key, randomness } = opened;
  try {
    const { bytes, state } = yield* prove(opened, digestOf(request, curve), split);
    const again = openSignRequest(kept);
    const isDerived = randomness.isEqualTo(again.randomness);
    again.randomness.destroy();
    if (!isDerived)
      throw new EngineError("sign message: an input changed during the computation; nothing was sent");
    yield;
    yield* checkEcdsaMessage(
      signContext(again),
      again.key.encryptionKey,
      bytes,
      digestOf(kept, curve),
      state,
    );
    return bytes;
  } catch (error) {
    forgetLadders(curve.group.h, key.encryptionKey);
    throw error;
  } finally {
    randomness.destroy();
  }
}

function digestOf({ triple, message }: SignRequest, { order }: CurveArithmetic): bigint {
  return bigIntFromBigEndian(messageDigest(triple.hash, message)) % order;
}

/** Computes a half, and returns it with what its check needs. */
function* prove(
  opened: OpenSignRequest,
  digest: bigint,
  split: PartSplit,
): Steps<{ readonly bytes: Uint8Array; readonly state: ProverState }> {
  const { curve, key, randomness } = opened;
  const { order } = curve;
  const context = signContext(opened);
  const draw = (name: string): bigint => randomness.scalar(name);
  const [k, alpha, beta] = [draw("k"), draw("alpha"), draw("beta")];
  const [blindK, blindAlpha, blindBeta, blindKx] = [
    draw("k/commitment"),
    draw("alpha/commitment"),
    draw("beta/commitment"),
    draw("kx/commitment"),
  ];
  const commitments = {
    commitK: commitSecretly(curve, curve.base, k, blindK),
    commitAlpha: commitSecretly(curve, curve.base, alpha, blindAlpha),
    commitBeta: commitSecretly(curve, curve.base, beta, blindBeta),
    commitKx: commitSecretly(curve, opened.userPublicShare, k, blindKx),
  };
  const point = (...[statement, witness]: [Parameters<typeof provePoints>[1], readonly bigint[]]) =>
    provePoints(context, statement, witness, randomness);
  /** Returns the witness of G = (1/k) C_k - (blinding/k) H. */
  const opening = (secret: bigint, blinding: bigint): [bigint, bigint] => {
    const inverse = invertMod(secret, order);
    return [inverse, order - ((inverse * blinding) % order)];
  };
  const proofK = point(statementK(context, commitments), opening(k, blindK));
  const proofAlpha = point(statementAlpha(context, commitments), opening(alpha, blindAlpha));
  const proofBeta = yield* proveRepeatedly(
    context,
    statementBeta(context, commitments),
    [beta, blindBeta],
    randomness,
  );
  const proofKx = point(statementKx(context, commitments), [k, blindK, blindKx]);
  yield;

  const maskedKeyShare = yield* combine(curve, maskedKeyShareTerms(context), split);
  const nonceCommitments = { ...commitments, proofK, proofAlpha, proofBeta };
  const weights = nonceRandomizers(context, nonceCommitments, digest, maskedKeyShare);
  const maskedNonceShare = yield* combine(curve, maskedNonceShareTerms(context, weights), split);
  const network = networkNonce(context, weights);
  const displacedNonce = network.multiply(alpha).add(curve.base.multiply(beta));
  const nonce = displacedNonce.multiply(invertMod(k, order));
  const nonces = { nonce, displacedNonce };
  const r = nonceAbscissa(curve, nonce);
  const displacement = statementDisplacedNonce(context, commitments, displacedNonce, network);
  const proofDisplacedNonce = point(displacement, [alpha, beta, blindAlpha, blindBeta]);
  const proofNonce = point(statementNonce(context, commitments, nonces), [k, blindK]);
  yield;

  const ladders = yield* buildLadders(opened, split.parts, maskedKeyShare, maskedNonceShare);
  const mask = opened.presign.ciphertexts[0]!;
  const rk = (r * k) % order;
  const partialSignature = yield* proveEvaluation(
    context,
    {
      name: PARTIAL_SIGNATURE_PROOF,
      encryptionKey: key.encryptionKey,
      inputs: [mask, maskedKeyShare],
      ladders: ladders.partialSignature,
      split,
      coefficients: [(rk * opened.share + digest * k) % order, rk],
      commitments: partialSignatureCommitments(curve, commitments, r, digest),
      commitmentRandomness: [(r * blindKx + digest * blindK) % order, (r * blindK) % order],
    },
    randomness,
  );
  const displacedNonceShare = yield* proveEvaluation(
    context,
    {
      name: DISPLACED_NONCE_PROOF,
      encryptionKey: key.encryptionKey,
      inputs: [mask, maskedNonceShare],
      ladders: ladders.displacedNonceShare,
      split,
      coefficients: [beta, alpha],
      commitments: [commitments.commitBeta, commitments.commitAlpha],
      commitmentRandomness: [blindBeta, blindAlpha],
    },
    randomness,
  );
  const message: EcdsaSignMessage = {
    ...commitments,
    ...nonces,
    partialSignature: partialSignature.ciphertext,
    displacedNonceShare: displacedNonceShare.ciphertext,
    proofK,
    proofAlpha,
    proofBeta,
    proofKx,
    proofNonce,
    proofDisplacedNonce,
    proofPartialSignature: partialSignature.proof,
    proofDisplacedNonceShare: displacedNonceShare.proof,
  };
  const bytes = encodeEcdsaSignMessage(curve, message);
  const { parts } = split;
  return { bytes, state: { maskedKeyShare, maskedNonceShare, ladders: ladders.all, parts } };
}

/** Computes this thread's parts of a linear combination of ciphertexts. */
function* combine(
  curve: CurveArithmetic,
  terms: readonly CiphertextTerm[],
  split: PartSplit,
): Steps<Ciphertext> {
  const forms: (Form | undefined)[] = [undefined, undefined];
  for (const part of split.parts) {
    forms[part] = combineParts(curve, terms, part);
    yield;
  }
  return yield* split.join(forms);
}

interface MessageLadders {
  /** By part. Undefined for a part that this thread does not compute. */
  readonly partialSignature: readonly (EvaluationLadders | undefined)[];
  readonly displacedNonceShare: readonly (EvaluationLadders | undefined)[];
  readonly all: readonly PowerLadder[];
}

/** Builds the ladders of one message. Both ciphertexts use those of the mask; all messages share h's and the key's. */
function* buildLadders(
  { curve, key, presign }: OpenSignRequest,
  parts: readonly Part[],
  maskedKeyShare: Ciphertext,
  maskedNonceShare: Ciphertext,
): Steps<MessageLadders> {
  const { group } = curve;
  const partialSignature: (EvaluationLadders | undefined)[] = [undefined, undefined];
  const displacedNonceShare: (EvaluationLadders | undefined)[] = [undefined, undefined];
  const all: PowerLadder[] = [];
  for (const part of parts) all.push(yield* knownLadder(curve, part === 0 ? group.h : key.encryptionKey));
  for (const [index, part] of parts.entries()) {
    const randomizer = all[index]!;
    const ladder = (of: Ciphertext) => powerLadder(group, of[part], COEFFICIENT_MASK_BITS);
    const mask = yield* ladder(presign.ciphertexts[0]!);
    const keyShare = yield* ladder(maskedKeyShare);
    const nonceShare = yield* ladder(maskedNonceShare);
    partialSignature[part] = { inputs: [mask, keyShare], randomizer };
    displacedNonceShare[part] = { inputs: [mask, nonceShare], randomizer };
    all.push(mask, keyShare, nonceShare);
  }
  return { partialSignature, displacedNonceShare, all };
}
