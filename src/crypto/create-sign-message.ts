import { withoutTables } from "../protocol/proofs/parameters-ends.ts";
import type { Steps } from "../protocol/steps.ts";
import { createEcdsaMessage } from "./create-ecdsa-message.ts";
import { createPartialSignature } from "./create-partial-signature.ts";
import { BOTH_PARTS, type PartSplit } from "./part-split.ts";
import type { SignRequest } from "./sign-request.ts";

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
