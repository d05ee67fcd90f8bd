import sql from "sql-template-tag";
import type { AuditSeal } from "../seals/audit-seal.ts";
import { GENESIS_HASH } from "../seals/merkle-tree.ts";
import { bigint, bytea, type Columns, nullable, text, time } from "../store/columns.ts";
import type { Database, Queryable } from "../store/database.ts";
import { readRows } from "../store/statements.ts";
import { type ExportedEntry, encodeLine } from "./export-line.ts";

/**
 * Yields the lines of an export, and holds one seal's entries in memory at a time. Exports the data of the database
 * unchecked; `verifyExport` checks whether it matches the seals. Throws if the range names a seal that does not exist.
 */
export async function* exportAudit(
  database: Pick<Database, "prisma" | "query">,
  range: ExportRange = {},
): AsyncGenerator<Buffer, void> {
  const newest = await readNewestNumber(database);
  const { fromSeal = 1n, toSeal = newest } = range;
  const named = [range.fromSeal, range.toSeal].filter((number) => number !== undefined);
  const unknown = named.find((number) => number < 1n || number > newest);
  if (unknown !== undefined) throw new Error(`seal ${unknown} does not exist; the newest one is ${newest}`);
  if (fromSeal > toSeal && named.length > 0) throw new Error("the range ends before it begins");
  let [sealCount, entryCount] = [0n, 0n];
  yield encodeLine({ kind: "head", previousChainHash: await readChainHash(database, fromSeal - 1n) });
  for (let number = fromSeal; number <= toSeal; number++) {
    const seal = await readSeal(database, number);
    if (seal === null) continue;
    yield encodeLine({ kind: "seal", seal });
    sealCount++;
    for (const entry of await readEntries(database, seal)) {
      yield encodeLine({ kind: "entry", entry });
      entryCount++;
    }
  }
  yield encodeLine({ kind: "end", sealCount, entryCount });
}

/** The range of seals to export, with all their entries. */
export interface ExportRange {
  /** Default: the first seal. */
  readonly fromSeal?: bigint | undefined;
  /** Default: the newest seal. */
  readonly toSeal?: bigint | undefined;
}

async function readNewestNumber({ prisma }: Pick<Database, "prisma">): Promise<bigint> {
  const newest = await prisma.auditSeal.findFirst({ orderBy: { number: "desc" }, select: { number: true } });
  return newest?.number ?? 0n;
}

async function readChainHash(database: Pick<Database, "prisma">, number: bigint): Promise<Uint8Array> {
  return (await readSeal(database, number))?.chainHash ?? GENESIS_HASH;
}

function readSeal({ prisma }: Pick<Database, "prisma">, number: bigint): Promise<AuditSeal | null> {
  return prisma.auditSeal.findUnique({ where: { number } });
}

function readEntries(db: Queryable, { firstSequence, lastSequence }: AuditSeal): Promise<ExportedEntry[]> {
  return readRows(
    db,
    sql`SELECT l.sequence, e.id AS "auditEventId", e.created_at AS "createdAt", e.actor, e.action, e.subject,
          e.project_id AS "projectId", e.request_id AS "requestId", e.address,
          l.leaf_hash AS "leafHash", l.chain_hash AS "chainHash"
        FROM audit_leaf l JOIN audit_event e ON e.id = l.audit_event_id
        WHERE l.sequence BETWEEN ${firstSequence} AND ${lastSequence} ORDER BY l.sequence`,
    ENTRY_COLUMNS,
  );
}

const ENTRY_COLUMNS: Columns<ExportedEntry> = {
  sequence: bigint,
  auditEventId: bigint,
  createdAt: time,
  actor: text,
  action: text,
  subject: text,
  projectId: nullable(text),
  requestId: nullable(text),
  address: nullable(text),
  leafHash: bytea,
  chainHash: bytea,
};
