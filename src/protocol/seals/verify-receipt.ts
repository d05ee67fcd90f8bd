import { equalBytes } from "../bytes.ts";
import { type SignatureClaim, verifySignature } from "../signatures/verify-signature.ts";
import { type ChargeClaim, isChargeAudited } from "./proved-charge.ts";
import { type AuditProofReply, checkSealSignature, isProved, type SealInProof } from "./verify-proof.ts";

/**
 * Checks a receipt without the service: that the signature is valid, and that a seal which the caller trusts covers the
 * submission of this request by this project. Returns the faults in the order of {@link ReceiptFault}; an empty list
 * means that everything holds.
 */
export function findReceiptFaults(receipt: ReceiptClaim, trust: SealTrust): ReceiptFault[] {
  const { auditEvent: event, auditSeal: seal } = receipt.proof;
  const faults: ReceiptFault[] = [];
  if (!verifySignature(receipt)) faults.push("signature");
  if (
    event?.action !== SUBMISSION ||
    event.subject !== receipt.signRequestId ||
    event.projectId !== receipt.projectId
  ) {
    faults.push("entry");
  }
  if (!isChargeAudited(receipt)) faults.push("charge");
  if (!isProved(receipt.proof)) faults.push("proof");
  if (seal === undefined || !isAnchored(seal, trust)) faults.push("anchor");
  if (seal === undefined || !isSealSignatureGood(seal, trust)) faults.push("seal_signature");
  return faults;
}

/** A signature, the request that it answers, and the proof of the request's submission. */
export interface ReceiptClaim extends SignatureClaim {
  /** A UUID in lower case, as the service returns it. */
  readonly signRequestId: string;
  /** A UUID in lower case, as the service returns it. */
  readonly projectId: string;
  /** The proof of the event `sign.submit` of this request. */
  readonly proof: AuditProofReply;
  /** What the receipt says about the charge. */
  readonly charge?: ChargeClaim | undefined;
}

/**
 * What the verifier knows about the service's seals. At least one of the two is needed, because a seal cannot vouch for
 * itself. Both are checked if both are given.
 */
export interface SealTrust {
  /** The hash of the seal that covers the submission, noted elsewhere: 32 bytes. */
  readonly expectedSealHash?: Uint8Array | undefined;
  /** The Ed25519 keys that may sign seals: 32 bytes each. Default and empty: any key, and seals without a signature. */
  readonly publicKeys?: readonly Uint8Array[] | undefined;
}

/**
 * What is wrong with a receipt.
 *
 * - `signature`: the signature is not valid under the public key, for this message and algorithm.
 * - `entry`: the event is not the submission of this request by this project.
 * - `charge`: the price or the ledger entry is not the event's, or the event names the ledger entry of another request.
 * - `proof`: the event or the seal does not match its hashes, or the audit path does not lead to the seal.
 * - `anchor`: the seal is not the expected one, or neither a hash nor a key was given to trust it by.
 * - `seal_signature`: the seal's signature is wrong, or none of the given keys made it.
 */
export type ReceiptFault = "signature" | "entry" | "charge" | "proof" | "anchor" | "seal_signature";

/** The action of the event that the service writes when it accepts the user's half and charges the price. */
const SUBMISSION = "sign.submit";

function isAnchored({ sealHash }: SealInProof, { expectedSealHash, publicKeys = [] }: SealTrust): boolean {
  if (expectedSealHash === undefined) return publicKeys.length > 0;
  return equalBytes(sealHash, expectedSealHash);
}

function isSealSignatureGood(seal: SealInProof, { publicKeys = [] }: SealTrust): boolean {
  const state = checkSealSignature(seal);
  if (publicKeys.length === 0) return state !== "wrong";
  return state === "valid" && publicKeys.some((key) => equalBytes(key, seal.publicKey));
}
