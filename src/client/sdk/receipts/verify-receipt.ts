import type { SignRequest } from "../../../../gen/client/tss/v1/signing_pb.ts";
import { equalBytes } from "../../../protocol/bytes.ts";
import type { ChargeClaim } from "../../../protocol/seals/proved-charge.ts";
import type { AuditProofReply } from "../../../protocol/seals/verify-proof.ts";
import {
  findReceiptFaults,
  type ReceiptFault as ProofFault,
  type SealTrust,
} from "../../../protocol/seals/verify-receipt.ts";
import { tripleOfProto } from "../names.ts";

/**
 * Checks the receipt of a signature without the service: that the signature is valid under the dWallet's key, that a
 * seal which you trust covers the submission of this request by this project, and that the price and the ledger entry
 * are the submission's. Returns what is wrong; an empty list means that everything holds. An older submission names no
 * charge: `isChargeProved` tells. The other times and the objects on the chain in `signRequest` are not proved.
 *
 * @example
 * const faults = verifyReceipt(receipt, { dwalletPublicKey, publicKeys: [sealKey] });
 * if (faults.length > 0) throw new Error(`the receipt is wrong: ${faults.join(", ")}`);
 */
export function verifyReceipt(
  receipt: SignReceipt,
  { dwalletPublicKey, ...trust }: ReceiptTrust,
): ReceiptFault[] {
  const { signRequestId, curve, signatureAlgorithm, hashScheme, message, signature } =
    receipt.signRequest ?? {};
  const triple =
    signature === undefined ||
    curve === undefined ||
    signatureAlgorithm === undefined ||
    hashScheme === undefined
      ? undefined
      : tripleOfProto(curve, signatureAlgorithm, hashScheme);
  const claim = {
    signRequestId: signRequestId ?? "",
    projectId: receipt.projectId,
    publicKey: dwalletPublicKey,
    message: message ?? new Uint8Array(),
    proof: receipt,
    charge: receipt.charge,
  };
  const faults: ReceiptFault[] = equalBytes(receipt.publicKey, dwalletPublicKey) ? [] : ["public_key"];
  // An unknown algorithm cannot be verified. An empty signature is never valid.
  return faults.concat(
    findReceiptFaults(
      triple === undefined || signature === undefined
        ? { ...claim, signatureAlgorithm: "EdDSA", hash: "SHA512", signature: new Uint8Array() }
        : { ...claim, signatureAlgorithm: triple.signatureAlgorithm, hash: triple.hash, signature },
      trust,
    ),
  );
}

/** What proves that the service accepted a sign request and answered it: a reply of `getReceipt`. */
export interface SignReceipt extends AuditProofReply {
  /** The project of the request. */
  readonly projectId: string;
  /** The completed request. */
  readonly signRequest?:
    | Pick<
        SignRequest,
        "signRequestId" | "curve" | "signatureAlgorithm" | "hashScheme" | "message" | "signature"
      >
    | undefined;
  /** What the project paid. */
  readonly charge?: ChargeClaim | undefined;
  /** The dWallet's public key, as the service claims it. */
  readonly publicKey: Uint8Array;
}

/** What the verifier knows from elsewhere. */
export interface ReceiptTrust extends SealTrust {
  /**
   * The dWallet's public key, from its creation: 33 bytes compressed for the secp curves, else 32. A key that comes with
   * the receipt proves nothing, because its sender could have made it.
   */
  readonly dwalletPublicKey: Uint8Array;
}

/** What is wrong with a receipt. `public_key`: the receipt is about another key. For the others see {@link SealTrust}. */
export type ReceiptFault = ProofFault | "public_key";
