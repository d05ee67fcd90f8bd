import type { Steps } from "../protocol/steps.ts";
import { createEcdsaMessage } from "./create-ecdsa-message.ts";
import { createPartialSignature } from "./create-partial-signature.ts";
import { BOTH_PARTS, type PartSplit } from "./part-split.ts";
import type { SignRequest } from "./sign-request.ts";

/**
 * The user's half of one signature, 00 | vec(body): 7,144 bytes for ECDSA, 69 for Taproot, else 66. The same request
 * gives the same bytes. It keeps no state and needs nothing of its surroundings, so that any thread can run it. What
 * it returns was verified. Two threads share an ECDSA half where each has a `split`. Throws MalformedBytesError, InvalidFormError, RejectedInput or EngineError, never with a
 * secret.
 */
export function* createSignMessage(request: SignRequest, split: PartSplit = BOTH_PARTS): Steps<Uint8Array> {
  const { signatureAlgorithm } = request.triple;
  switch (signatureAlgorithm) {
    case "ECDSASecp256k1":
    case "ECDSASecp256r1":
      return yield* createEcdsaMessage(request, split);
    case "Taproot":
    case "EdDSA":
    case "Schnorrkel":
      yield;
      return createPartialSignature(request, signatureAlgorithm);
  }
}
