import { floorMod } from "../protocol/class-groups/integers.ts";
import { encodePoint, encodeScalar, scaleBase } from "../protocol/proofs/curve.ts";
import { encodeVersion0 } from "../protocol/proofs/message-parts.ts";
import {
  partialSignatureTerms,
  type SchnorrAlgorithmName,
  verifyPartialSignature,
} from "../protocol/verify-partial-signature.ts";
import { EngineError } from "./engine.ts";
import { openSignRequest, type SignRequest } from "./sign-request.ts";

/**
 * The user's half of a Taproot, EdDSA or Schnorrkel signature: his nonce K_A = k_A G and his part z_A = k_A + e x_A of
 * the response. k_A follows from the share and all that e follows from, so that no two challenges ever meet one nonce.
 * What is returned was verified. A few milliseconds. Throws as {@link openSignRequest} does, and EngineError.
 */
export function createPartialSignature(
  request: SignRequest,
  signatureAlgorithm: SchnorrAlgorithmName,
): Uint8Array {
  const { curve, share, randomness } = openSignRequest(request);
  const nonce = randomness.scalar("nonce");
  randomness.destroy();
  const publicNonce = scaleBase(curve, nonce);
  const terms = partialSignatureTerms({ ...request, signatureAlgorithm }, publicNonce);
  const signed = (value: bigint, isNegated: boolean): bigint => (isNegated ? -value : value);
  const answer = terms.challenge * signed(share, terms.isShareNegated);
  const response = floorMod(signed(nonce, terms.isNonceNegated) + answer, curve.order);
  const userSignMessage = encodeVersion0(encodePoint(curve, publicNonce), encodeScalar(curve, response));
  if (!verifyPartialSignature({ ...request, signatureAlgorithm, userSignMessage })) {
    throw new EngineError("sign message: the computation went wrong; nothing was sent");
  }
  return userSignMessage;
}
