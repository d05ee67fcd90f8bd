import type { CurveName, SignatureAlgorithmName } from "../protocol/algorithms.ts";
import { MalformedBytesError } from "../protocol/bytes.ts";
import { checkSignMessageLayout } from "../protocol/sign-message-layout.ts";
import { verifyPartialSignature } from "../protocol/verify-partial-signature.ts";

/**
 * Checks a user's sign message as far as public data allows cheaply, before money or a presign is spent on it: the
 * layout, and for the Schnorr family the partial signature. The network checks the eight proofs of an ECDSA message.
 * Throws MalformedBytesError, which names the fault.
 */
export function checkSignMessage(claim: SignMessageClaim): void {
  const { curve, signatureAlgorithm, userSignMessage } = claim;
  checkSignMessageLayout(curve, signatureAlgorithm, userSignMessage);
  if (signatureAlgorithm === "ECDSASecp256k1" || signatureAlgorithm === "ECDSASecp256r1") return;
  if (!verifyPartialSignature({ ...claim, signatureAlgorithm })) {
    throw new MalformedBytesError("user sign message: the partial signature does not verify");
  }
}

/** A user's sign message and the public data that it belongs to. */
export interface SignMessageClaim {
  readonly curve: CurveName;
  readonly signatureAlgorithm: SignatureAlgorithmName;
  readonly dwalletOutput: Uint8Array;
  readonly presign: Uint8Array;
  /** The message before hashing. */
  readonly message: Uint8Array;
  readonly userSignMessage: Uint8Array;
}
