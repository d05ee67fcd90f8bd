import type { Steps } from "../protocol/steps.ts";
import { createEcdsaMessage } from "./create-ecdsa-message.ts";
import { createPartialSignature } from "./create-partial-signature.ts";
import { BOTH_PARTS, type PartSplit } from "./part-split.ts";
import type { SignRequest } from "./sign-request.ts";

/**
 * Computes the user's half of one signature, 00 | vec(body): 7,144 bytes for ECDSA, 69 for Taproot, else 66. The same
 * request always gives the same bytes. The function has no state, so any thread can run it. It verifies the result. Two
 * threads can share an ECDSA half, each with its own `split`. Throws MalformedBytesError, InvalidFormError,
 * RejectedInput or EngineError. No error contains a secret.
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
