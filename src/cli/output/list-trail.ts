import { randomUUID } from "node:crypto";
import { open, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { AuditEvent } from "../../../gen/proto/tss/v1/admin_pb.ts";
import type { AuditSeal as AuditSealMessage } from "../../../gen/proto/tss/v1/audit_pb.ts";
import { type AuditEntry, chainHash, leafHash } from "../../protocol/seals/audit-entry.ts";
import { type AuditSeal, SEAL_MAX_COUNT } from "../../protocol/seals/audit-seal.ts";
import { GENESIS_HASH } from "../../protocol/seals/merkle-tree.ts";
import { type ExportRange, encodeLine } from "../../service/audit/export-line.ts";
import type { Clients } from "../connections/with-clients.ts";

/**
 * Yields the lines of an export from a service's lists of seals and events, which begin with the newest. Holds the
 * entries of about one seal in memory, and writes each finished seal into a temporary file, which it then reads
 * backwards. Computes the hashes of the entries itself, so that a change of an event shows against its seal. Throws if
 * the range names a seal that does not exist, or if the service does not list an entry.
 */
export async function* listTrail(
  admin: Pick<Clients["admin"], "listAuditSeals" | "listAuditEvents">,
  range: ExportRange,
  onUnsealed: () => void,
): AsyncGenerator<Buffer, void> {
  const name = path.join(tmpdir(), `tss-audit-export-${randomUUID()}`);
  const file = await open(name, "wx+", 0o600);
  try {
    // Without a name, the file ends with this process, even if the process is killed.
    await unlink(name);
    const blocks: { readonly offset: number; readonly length: number }[] = [];
    let [offset, entryCount, previousChainHash] = [0, 0n, GENESIS_HASH];
    const entries = takeEntries(listEvents(admin), onUnsealed);
    for await (const { seal, before } of sealsOf(admin, range)) {
      const lines = [encodeLine({ kind: "seal", seal })];
      previousChainHash = before;
      let last = before;
      for (const entry of await entries(seal)) {
        const leaf = leafHash(entry);
        last = chainHash(last, leaf);
        lines.push(encodeLine({ kind: "entry", entry: { ...entry, leafHash: leaf, chainHash: last } }));
      }
      entryCount += BigInt(lines.length - 1);
      const block = Buffer.concat(lines);
      await file.write(block, 0, block.length, offset);
      blocks.push({ offset, length: block.length });
      offset += block.length;
    }
    yield encodeLine({ kind: "head", previousChainHash });
    for (const block of blocks.reverse()) {
      const { buffer } = await file.read(Buffer.alloc(block.length), 0, block.length, block.offset);
      yield buffer;
    }
    yield encodeLine({ kind: "end", sealCount: BigInt(blocks.length), entryCount });
  } finally {
    await file.close();
  }
}

/** Yields the seals of the range, the newest first, each with the chain hash before its first entry. */
async function* sealsOf(
  admin: Pick<Clients["admin"], "listAuditSeals">,
  range: ExportRange,
): AsyncGenerator<{ readonly seal: AuditSeal; readonly before: Uint8Array }, void> {
  let newer: AuditSeal | undefined;
  let isFirst = true;
  const isIn = ({ number }: AuditSeal) =>
    number >= (range.fromSeal ?? 1n) && (range.toSeal === undefined || number <= range.toSeal);
  for await (const seal of listSeals(admin)) {
    if (isFirst) checkRange(range, seal.number);
    isFirst = false;
    if (newer !== undefined && isIn(newer)) yield { seal: newer, before: seal.chainHash };
    newer = seal;
    if (seal.number < (range.fromSeal ?? 1n)) return;
  }
  if (isFirst) checkRange(range, 0n);
  if (newer !== undefined && isIn(newer)) yield { seal: newer, before: GENESIS_HASH };
}

/** Throws if the range names a seal that does not exist, or ends before it begins. */
function checkRange({ fromSeal, toSeal }: ExportRange, newest: bigint): void {
  const named = [fromSeal, toSeal].filter((number) => number !== undefined);
  const unknown = named.find((number) => number < 1n || number > newest);
  if (unknown !== undefined) throw new Error(`seal ${unknown} does not exist; the newest one is ${newest}`);
  if ((fromSeal ?? 1n) > (toSeal ?? newest) && named.length > 0)
    throw new Error("the range ends before it begins");
}

/** The most entries that are kept for later seals. Events that are written at once may be sealed a little apart. */
const AHEAD_MAX_COUNT = 8 * SEAL_MAX_COUNT;

/** Returns a function that takes the entries of one seal after the other, from the newest to the oldest. */
function takeEntries(
  events: AsyncGenerator<AuditEvent, void>,
  onUnsealed: () => void,
): (seal: AuditSeal) => Promise<AuditEntry[]> {
  /** Entries that were read before their seal's turn: an event may be sealed after events that came later. */
  const known = new Map<bigint, AuditEntry>();
  return async ({ firstSequence, lastSequence }) => {
    const count = Number(lastSequence - firstSequence) + 1;
    if (count < 1 || count > SEAL_MAX_COUNT)
      throw new Error(`the service lists a seal of ${count} entries; a seal has 1 to ${SEAL_MAX_COUNT}`);
    const wanted = Array.from({ length: count }, (_, index) => firstSequence + BigInt(index));
    let missingCount = wanted.filter((sequence) => !known.has(sequence)).length;
    while (missingCount > 0) {
      const { value: event } = await events.next();
      // One that is missing would otherwise let all older entries pile up.
      if (event === undefined || known.size > AHEAD_MAX_COUNT) {
        const missing = wanted.find((sequence) => !known.has(sequence));
        throw new Error(
          `the service does not list entry ${missing}: the key may not see every network, or the event was deleted`,
        );
      }
      if (event.sequence === undefined) onUnsealed();
      else if (event.sequence <= lastSequence) known.set(event.sequence, entryOf(event, event.sequence));
      if (event.sequence !== undefined && event.sequence >= firstSequence && event.sequence <= lastSequence)
        missingCount--;
    }
    return wanted.map((sequence) => {
      const entry = known.get(sequence)!;
      known.delete(sequence);
      return entry;
    });
  };
}

function entryOf(event: AuditEvent, sequence: bigint): AuditEntry {
  const { auditEventId, createTime, actor, action, subject, projectId, requestId, address } = event;
  const { ledgerEntryId, amountMicroUsd } = event;
  if (createTime === undefined) throw new Error(`the service lists entry ${sequence} without its time`);
  return {
    sequence,
    auditEventId,
    createdAt: timestampDate(createTime),
    actor,
    action,
    subject,
    // The contract has no null, so absent values are empty.
    projectId: projectId || null,
    requestId: requestId || null,
    address: address || null,
    ledgerEntryId: ledgerEntryId || null,
    amountMicroUsd: amountMicroUsd ?? null,
  };
}

async function* listEvents(
  admin: Pick<Clients["admin"], "listAuditEvents">,
): AsyncGenerator<AuditEvent, void> {
  let pageToken = "";
  do {
    const page = await admin.listAuditEvents({ pageSize: PAGE_COUNT, pageToken });
    yield* page.auditEvents;
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
}

async function* listSeals(admin: Pick<Clients["admin"], "listAuditSeals">): AsyncGenerator<AuditSeal, void> {
  let pageToken = "";
  do {
    const page = await admin.listAuditSeals({ pageSize: PAGE_COUNT, pageToken });
    for (const seal of page.auditSeals) yield sealOf(seal);
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
}

function sealOf({ createTime, publicKey, signature, ...seal }: AuditSealMessage): AuditSeal {
  if (createTime === undefined) throw new Error(`the service lists seal ${seal.number} without its time`);
  const isSigned = publicKey.length > 0;
  return {
    ...seal,
    createdAt: timestampDate(createTime),
    publicKey: isSigned ? publicKey : null,
    signature: isSigned ? signature : null,
  };
}

/** The service's maximum page size. */
const PAGE_COUNT = 200;
