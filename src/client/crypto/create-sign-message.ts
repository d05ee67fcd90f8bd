import type { Steps } from "../../protocol/chain/read-errors.ts";
import { floorMod } from "../../protocol/class-groups/integers.ts";
import { encodePoint, encodeScalar, scaleBase } from "../../protocol/proofs/curve.ts";
import { encodeVersion0 } from "../../protocol/proofs/message-parts.ts";
import { withoutTables } from "../../protocol/proofs/parameters-ends.ts";
import {
  partialSignatureTerms,
  type SchnorrAlgorithmName,
  verifyPartialSignature,
} from "../../protocol/signatures/verify-partial-signature.ts";
import { createEcdsaMessage } from "./create-ecdsa-message.ts";
import { EngineError } from "./engine.ts";
import { BOTH_PARTS, type PartSplit } from "./part-split.ts";
import { isDerivedFrom, openSignRequest, type SignRequest } from "./sign-request.ts";

/**
 * Computes the user's half of one signature, 00 | vec(body): 7,144 bytes for ECDSA, 69 for Taproot, else 66. The same
 * request always gives the same bytes. The function has no state, so any thread can run it. Two threads can share an
 * ECDSA half, each with its own `split`. Throws MalformedBytesError, InvalidFormError, RejectedInput or EngineError. No
 * error contains a secret.
 *
 * It computes with one copy of the request and verifies the result against another one, from which it also derives all
 * random numbers again. So a bit that flips in memory during the computation cannot give a half whose nonce belongs to
 * another challenge: together with the right half, it would reveal the share.
 */
export function* createSignMessage(request: SignRequest, split: PartSplit = BOTH_PARTS): Steps<Uint8Array> {
  const used = copyOf(request);
  const kept = copyOf(request);
  try {
    return yield* create(used, kept, split);
  } finally {
    for (const { userSecretKeyShare } of [used, kept]) userSecretKeyShare.fill(0);
  }
}

function* create(used: SignRequest, kept: SignRequest, split: PartSplit): Steps<Uint8Array> {
  const { signatureAlgorithm } = used.triple;
  switch (signatureAlgorithm) {
    case "ECDSASecp256k1":
    case "ECDSASecp256r1":
      return yield* createEcdsaMessage(used, kept, split);
    case "Taproot":
    case "EdDSA":
    case "Schnorrkel":
      yield;
      return createPartialSignature(used, kept, signatureAlgorithm);
  }
}

/** Copies a request, which the caller could otherwise change between two of its uses. */
function copyOf(request: SignRequest): SignRequest {
  const { triple, parameters, dwalletOutput, userSecretKeyShare, presign, message } = request;
  return {
    triple: { ...triple },
    parameters: Uint8Array.from(withoutTables(parameters)),
    dwalletOutput: Uint8Array.from(dwalletOutput),
    userSecretKeyShare: Uint8Array.from(userSecretKeyShare),
    presign: Uint8Array.from(presign),
    message: Uint8Array.from(message),
  };
}

/**
 * Computes the user's half of a Taproot, EdDSA or Schnorrkel signature: the user's nonce K_A = k_A G and the user's
 * part z_A = k_A + e x_A of the response. k_A is derived from the share and all inputs of e, so one nonce never serves
 * two challenges. Verifies the result against a second copy of the request. Takes a few milliseconds. Throws as
 * {@link openSignRequest} does, and EngineError.
 */
function createPartialSignature(
  request: SignRequest,
  kept: SignRequest,
  signatureAlgorithm: SchnorrAlgorithmName,
): Uint8Array {
  const { curve, share, randomness } = openSignRequest(request);
  try {
    const nonce = randomness.scalar("nonce");
    const publicNonce = scaleBase(curve, nonce);
    const terms = partialSignatureTerms({ ...request, signatureAlgorithm }, publicNonce);
    const signed = (value: bigint, isNegated: boolean): bigint => (isNegated ? -value : value);
    const answer = terms.challenge * signed(share, terms.isShareNegated);
    const response = floorMod(signed(nonce, terms.isNonceNegated) + answer, curve.order);
    const userSignMessage = encodeVersion0(encodePoint(curve, publicNonce), encodeScalar(curve, response));
    const isSound =
      isDerivedFrom(randomness, kept) &&
      verifyPartialSignature({ ...kept, signatureAlgorithm, userSignMessage });
    if (!isSound) throw new EngineError("sign message: the result failed its check; nothing was sent");
    return userSignMessage;
  } finally {
    randomness.destroy();
  }
}
