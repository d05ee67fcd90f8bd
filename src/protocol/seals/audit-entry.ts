import { concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { sha256, uint64 } from "./merkle-tree.ts";

/** An event of the audit trail at its place in the sealed chain. */
export interface AuditEntry {
  /** Counts from 1, without gaps. */
  readonly sequence: bigint;
  readonly auditEventId: bigint;
  /** Precise to the millisecond. */
  readonly createdAt: Date;
  readonly actor: string;
  readonly action: string;
  readonly subject: string;
  readonly projectId: string | null;
  readonly requestId: string | null;
  readonly address: string | null;
  /** The id of the ledger entry that the same statement wrote; null for an event that moved no money, and for older ones. */
  readonly ledgerEntryId: string | null;
  /** The amount of that ledger entry, in millionths of a US dollar; negative for a charge. Null without a ledger entry. */
  readonly amountMicroUsd: bigint | null;
}

const ENTRY_VERSION = utf8ToBytes("tss.audit.entry.v1");
const ENTRY_VERSION_WITH_MONEY = utf8ToBytes("tss.audit.entry.v2");
const CHAIN_VERSION = utf8ToBytes("tss.audit.chain.v1");
const LEAF = Uint8Array.of(0x00);
const ABSENT = Uint8Array.of(0x00);
const PRESENT = Uint8Array.of(0x01);

/**
 * Returns the canonical bytes of an entry, as docs/audit.md defines them. No two entries have the same bytes. Only an
 * entry with a ledger entry has the second version, so the hashes of all others stay as they are.
 */
export function encodeEntry(entry: AuditEntry): Uint8Array {
  const { ledgerEntryId, amountMicroUsd } = entry;
  return concatBytes(
    ledgerEntryId === null ? ENTRY_VERSION : ENTRY_VERSION_WITH_MONEY,
    uint64(entry.sequence),
    uint64(entry.auditEventId),
    uint64(BigInt(entry.createdAt.getTime())),
    ...[entry.actor, entry.action, entry.subject].flatMap(text),
    ...[entry.projectId, entry.requestId, entry.address].flatMap((value) =>
      value === null ? [ABSENT] : [PRESENT, ...text(value)],
    ),
    ...(ledgerEntryId === null
      ? []
      : [...text(ledgerEntryId), uint64(BigInt.asUintN(64, amountMicroUsd ?? 0n))]),
  );
}

/** Returns the entry's leaf in its seal's Merkle tree (RFC 6962, section 2.1). */
export function leafHash(entry: AuditEntry): Uint8Array {
  return sha256(LEAF, encodeEntry(entry));
}

/** Appends a leaf to the chain hash of all earlier leaves. */
export function chainHash(previous: Uint8Array, leaf: Uint8Array): Uint8Array {
  return sha256(CHAIN_VERSION, previous, leaf);
}

function text(value: string): Uint8Array[] {
  const bytes = utf8ToBytes(value);
  const length = new Uint8Array(4);
  new DataView(length.buffer).setUint32(0, bytes.length);
  return [length, bytes];
}
