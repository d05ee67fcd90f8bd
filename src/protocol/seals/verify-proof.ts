import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { equalBytes } from "../bytes.ts";
import { verifyEd25519 } from "../signatures/verify-ed25519.ts";
import { leafHash } from "./audit-entry.ts";
import { isOwnHash, signedBytes } from "./audit-seal.ts";
import { rootOfPath } from "./merkle-tree.ts";

/**
 * Returns true if the audit path leads from the event to its seal's Merkle root, and the seal's hash matches its
 * fields. If that hash is trusted, the seal then covers the event.
 */
export function isProved({ auditEvent: event, auditSeal: seal, auditPath }: AuditProofReply): boolean {
  if (event?.sequence === undefined || seal === undefined) return false;
  const [eventAt, sealedAt] = [dateOf(event.createTime), dateOf(seal.createTime)];
  if (eventAt === undefined || sealedAt === undefined) return false;
  // The hash covers an amount only beside the id of its ledger entry.
  if ((event.ledgerEntryId === "") !== (event.amountMicroUsd === undefined)) return false;
  if (!isOwnHash({ ...seal, createdAt: sealedAt })) return false;
  const leaf = leafHash({
    ...event,
    sequence: event.sequence,
    createdAt: eventAt,
    // The contract has no null, so absent values are empty.
    projectId: event.projectId || null,
    requestId: event.requestId || null,
    address: event.address || null,
    ledgerEntryId: event.ledgerEntryId || null,
    amountMicroUsd: event.amountMicroUsd ?? null,
  });
  const position = {
    index: Number(event.sequence - seal.firstSequence),
    leafCount: Number(seal.lastSequence - seal.firstSequence) + 1,
  };
  const root = rootOfPath(leaf, position, auditPath);
  return root !== undefined && equalBytes(root, seal.merkleRoot);
}

/** Returns undefined for an absent time and for one outside the range of a date. */
function dateOf(time: Timestamp | undefined): Date | undefined {
  const date = time && timestampDate(time);
  return date && !Number.isNaN(date.getTime()) ? date : undefined;
}

/** Checks whether a seal is signed, and whether the signature verifies under the key that the seal itself names. */
export function checkSealSignature({
  sealHash,
  publicKey,
  signature,
}: SealInProof): "none" | "valid" | "wrong" {
  if (publicKey.length === 0 && signature.length === 0) return "none";
  return verifyEd25519(publicKey, signedBytes(sealHash), signature) ? "valid" : "wrong";
}

/** The reply of GetAuditProof, as the contract defines it. */
export interface AuditProofReply {
  readonly auditEvent?: EventInProof | undefined;
  readonly auditSeal?: SealInProof | undefined;
  readonly auditPath: readonly Uint8Array[];
}

interface EventInProof {
  readonly auditEventId: bigint;
  readonly createTime?: Timestamp | undefined;
  readonly actor: string;
  readonly projectId: string;
  readonly action: string;
  readonly subject: string;
  readonly requestId: string;
  readonly address: string;
  readonly sequence?: bigint | undefined;
  readonly ledgerEntryId: string;
  readonly amountMicroUsd?: bigint | undefined;
}

/** A seal, as the contract defines it. */
export interface SealInProof {
  readonly number: bigint;
  readonly firstSequence: bigint;
  readonly lastSequence: bigint;
  readonly createTime?: Timestamp | undefined;
  readonly merkleRoot: Uint8Array;
  readonly chainHash: Uint8Array;
  readonly previousSealHash: Uint8Array;
  readonly sealHash: Uint8Array;
  readonly publicKey: Uint8Array;
  readonly signature: Uint8Array;
}
