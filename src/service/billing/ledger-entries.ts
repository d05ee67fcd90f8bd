import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import sql, { type Sql } from "sql-template-tag";
import {
  type LedgerEntry,
  LedgerEntry_Kind,
  LedgerEntrySchema,
} from "../../../gen/proto/tss/v1/billing_pb.ts";
import { bigint, type Columns, nullable, text, time } from "../platform/store/columns.ts";
import { type Queryable, readRows } from "../platform/store/database.ts";
import { type Page, type PageRequest, readPage } from "../platform/store/read-page.ts";

/**
 * Reads a page of the project's ledger, newest entry first. Entries never change, so a page token carries the balance
 * at the start of the next page, and no page adds up the ledger again.
 */
export function listLedgerEntries(
  db: Queryable,
  projectId: string,
  request: PageRequest,
): Promise<Page<LedgerEntryRow>> {
  return readPage(request, {
    scope: ["ledger", projectId],
    positionOf: ({ key, balanceMicroUsd, amountMicroUsd }) => `${balanceMicroUsd - amountMicroUsd}:${key}`,
    position: POSITION,
    read(after, count) {
      const colon = after?.indexOf(":") ?? 0;
      const start = { key: after?.slice(colon + 1) ?? null, balance: after?.slice(0, colon) ?? null };
      return readRows(db, entries(projectId, start, count), LEDGER_ENTRY_COLUMNS);
    },
  });
}

/** One movement of money, as the contract shows it. */
export interface LedgerEntryRow {
  /** The unique key, which names the cause of the entry. */
  readonly key: string;
  readonly kind: string;
  readonly amountMicroUsd: bigint;
  readonly createdAt: Date;
  /** The project's balance after this entry. */
  readonly balanceMicroUsd: bigint;
  readonly description: string;
  /** The object id of the dWallet that the entry concerns; null if there is none. */
  readonly dwalletId: string | null;
  /** The reference of the deposit address that was paid; null if there is none. */
  readonly depositReference: string | null;
}

export const LEDGER_ENTRY_COLUMNS: Columns<LedgerEntryRow> = {
  key: text,
  kind: text,
  amountMicroUsd: bigint,
  createdAt: time,
  balanceMicroUsd: bigint,
  description: text,
  dwalletId: nullable(text),
  depositReference: nullable(text),
};

/** The balance before an entry, and the entry's key. */
const POSITION = /^-?\d{1,18}:[^\0]+$/;

/**
 * The service writes a project's entries under the lock of the project's row. Their ids are therefore in the order of
 * their commits, and the balance is the sum of all entries at any time. The bounds are those of the index (project,
 * id). With an equality, the planner might walk back through all projects' entries to those of a project that has long
 * been quiet.
 */
const entries = (
  projectId: string,
  start: { readonly key: string | null; readonly balance: string | null },
  count: number,
): Sql => sql`
SELECT e.key, e.kind, e.amount_micro_usd AS "amountMicroUsd", e.created_at AS "createdAt", e.description,
  (SELECT d.object_id FROM dwallet d
   WHERE d.id = CASE WHEN e.kind IN ('dkg', 'dkg_refund') THEN split_part(e.key, ':', 2)::uuid
     WHEN e.kind IN ('share', 'share_refund')
       THEN (SELECT s.dwallet_id FROM dwallet_share s WHERE s.id = split_part(e.key, ':', 2)::uuid) END) AS "dwalletId",
  (SELECT nullif(a.reference, '') FROM deposit_address a
   WHERE a.address = CASE WHEN e.kind = 'deposit' THEN split_part(e.key, ':', 4) END) AS "depositReference",
  (coalesce(${start.balance}::bigint, p.balance_micro_usd) - coalesce(sum(e.amount_micro_usd) OVER (
    ORDER BY e.id DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0))::bigint AS "balanceMicroUsd"
FROM project p CROSS JOIN LATERAL (
  SELECT id, key, kind, amount_micro_usd, created_at, description FROM ledger_entry
  WHERE project_id >= ${projectId}::uuid AND (project_id, id) < (${projectId}::uuid,
    CASE WHEN ${start.key}::text IS NULL THEN 9223372036854775807
    ELSE (SELECT id FROM ledger_entry WHERE key = ${start.key} AND project_id = ${projectId}::uuid) END)
  ORDER BY project_id DESC, ledger_entry.id DESC LIMIT ${count}
) e WHERE p.id = ${projectId}::uuid ORDER BY e.id DESC`;

/** Reads the charges and refunds of one sign request, dWallet or share, by the id of its row, the oldest first. */
export function readEntriesOf(db: Queryable, subjectId: string): Promise<SubjectEntryRow[]> {
  const keys = CHARGED_KINDS.map((kind) => `${kind}:${subjectId}`);
  return readRows(
    db,
    sql`SELECT key, kind, amount_micro_usd AS "amountMicroUsd", created_at AS "createdAt" FROM ledger_entry
        WHERE key = ANY(${keys}::text[]) ORDER BY id`,
    SUBJECT_ENTRY,
  );
}

const CHARGED_KINDS = ["sign", "refund", "dkg", "dkg_refund", "share", "share_refund"] as const;

/** One movement of money because of a subject. */
export type SubjectEntryRow = Pick<LedgerEntryRow, "key" | "kind" | "amountMicroUsd" | "createdAt">;

const SUBJECT_ENTRY: Columns<SubjectEntryRow> = {
  key: text,
  kind: text,
  amountMicroUsd: bigint,
  createdAt: time,
};

/** Encodes a ledger entry. */
export function encodeLedgerEntry(row: LedgerEntryRow): LedgerEntry {
  const { key, kind, amountMicroUsd, balanceMicroUsd, createdAt, description, dwalletId, depositReference } =
    row;
  const isOfRequest = kind === "sign" || kind === "refund";
  return create(LedgerEntrySchema, {
    ledgerEntryId: key,
    createTime: timestampFromDate(createdAt),
    kind: kindEnum(kind),
    amountMicroUsd,
    balanceMicroUsd,
    description,
    // The key of such an entry is `<kind>:<id of the request>`.
    ...(isOfRequest && { signRequestId: key.slice(kind.length + 1) }),
    ...(dwalletId && { dwalletId }),
    ...(depositReference && { depositReference }),
  });
}

/** Returns the kind of an entry as the contract's value. */
export function kindEnum(kind: string): LedgerEntry_Kind {
  const value = Object.entries(LedgerEntry_Kind).find(([name]) => name === kind)?.[1];
  if (value === undefined) throw new Error(`the ledger has an entry of the kind ${kind}`);
  return value;
}
