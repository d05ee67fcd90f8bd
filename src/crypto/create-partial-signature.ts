import { floorMod } from "../protocol/class-groups/integers.ts";
import { encodePoint, encodeScalar, scaleBase } from "../protocol/proofs/curve.ts";
import { encodeVersion0 } from "../protocol/proofs/message-parts.ts";
import {
  partialSignatureTerms,
  type SchnorrAlgorithmName,
  verifyPartialSignature,
} from "../protocol/verify-partial-signature.ts";
import { EngineError } from "./engine.ts";
import { isDerivedFrom, openSignRequest, type SignRequest } from "./sign-request.ts";

/**
 * Computes the user's half of a Taproot, EdDSA or Schnorrkel signature: the user's nonce K_A = k_A G and the user's
 * part z_A = k_A + e x_A of the response. k_A is derived from the share and all inputs of e, so one nonce never serves
 * two challenges. Verifies the result against a second copy of the request. Takes a few milliseconds. Throws as
 * {@link openSignRequest} does, and EngineError.
 */
export function createPartialSignature(
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
