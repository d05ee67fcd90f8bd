import type { SignRequest } from "../../../gen/client/tss/v1/signing_pb.ts";
import type { AuditProofReply } from "../../protocol/seals/verify-proof.ts";
import { findReceiptFaults, type ReceiptFault, type SealTrust } from "../../protocol/seals/verify-receipt.ts";
import { tripleOfProto } from "./names.ts";

/**
 * Checks the receipt of a signature without the service: that the signature is valid, and that a seal which you trust
 * covers the submission of this request by this project. Returns what is wrong; an empty list means that everything
 * holds. The price, the times and the objects on the chain in `signRequest` are not proved.
 *
 * @example
 * const faults = verifyReceipt({ projectId, signRequest, publicKey, proof }, { publicKeys: [sealKey] });
 * if (faults.length > 0) throw new Error(`the receipt is wrong: ${faults.join(", ")}`);
 */
export function verifyReceipt(
  { projectId, signRequest, publicKey, proof }: SignReceipt,
  trust: SealTrust,
): ReceiptFault[] {
  const { signRequestId, curve, signatureAlgorithm, hashScheme, message, signature } = signRequest;
  const triple = tripleOfProto(curve, signatureAlgorithm, hashScheme);
  const claim = { signRequestId, projectId, publicKey, message, proof };
  // An unknown algorithm cannot be verified. An empty signature is never valid.
  return findReceiptFaults(
    triple === undefined || signature === undefined
      ? { ...claim, signatureAlgorithm: "EdDSA", hash: "SHA512", signature: new Uint8Array() }
      : { ...claim, signatureAlgorithm: triple.signatureAlgorithm, hash: triple.hash, signature },
    trust,
  );
}

/** What proves that the service accepted a sign request and answered it. */
export interface SignReceipt {
  /** The project of the request: the `projectId` of `getAccount`. */
  readonly projectId: string;
  /** The completed request, as `getSign` returns it. */
  readonly signRequest: Pick<
    SignRequest,
    "signRequestId" | "curve" | "signatureAlgorithm" | "hashScheme" | "message" | "signature"
  >;
  /** The dWallet's public key, which you know from its creation: 33 bytes compressed for the secp curves, else 32. */
  readonly publicKey: Uint8Array;
  /** The reply of GetAuditProof for the request's event `sign.submit`, from the operator. */
  readonly proof: AuditProofReply;
}
