import type { Queryable } from "../store/database.ts";
import type { AuditSeal } from "./audit-seal.ts";
import { type ExportedEntry, encodeLine } from "./export-line.ts";
import { SEAL_COLUMNS } from "./seal-columns.ts";
import { GENESIS_HASH } from "./sha256.ts";

/** Which seals are exported, with all their entries. */
export interface ExportRange {
  /** Undefined: from the first one on. */
  readonly fromSeal?: bigint | undefined;
  /** Undefined: to the newest one. */
  readonly toSeal?: bigint | undefined;
}

/**
 * Reads an export line by line, and holds one seal's entries at a time. Writes what the database has; whether that is
 * what was sealed, `verifyExport` finds out. Throws when there is no seal of a number that the range names.
 */
export async function* exportAudit(db: Queryable, range: ExportRange = {}): AsyncGenerator<Buffer, void> {
  const newest = await readNewestNumber(db);
  const { fromSeal = 1n, toSeal = newest } = range;
  const named = [range.fromSeal, range.toSeal].filter((number) => number !== undefined);
  const unknown = named.find((number) => number < 1n || number > newest);
  if (unknown !== undefined) throw new Error(`seal ${unknown} does not exist; the newest one is ${newest}`);
  if (fromSeal > toSeal && named.length > 0) throw new Error("the range ends before it begins");
  let [sealCount, entryCount] = [0n, 0n];
  yield encodeLine({ kind: "head", previousChainHash: await readChainHash(db, fromSeal - 1n) });
  for (let number = fromSeal; number <= toSeal; number++) {
    const seal = await readSeal(db, number);
    if (seal === undefined) continue;
    yield encodeLine({ kind: "seal", seal });
    sealCount++;
    for (const entry of await readEntries(db, seal)) {
      yield encodeLine({ kind: "entry", entry });
      entryCount++;
    }
  }
  yield encodeLine({ kind: "end", sealCount, entryCount });
}

async function readNewestNumber(db: Queryable): Promise<bigint> {
  const [row] = await db.query<{ number: bigint | null }>("SELECT max(number) AS number FROM audit_seal", []);
  return row?.number ?? 0n;
}

async function readChainHash(db: Queryable, number: bigint): Promise<Uint8Array> {
  return (await readSeal(db, number))?.chainHash ?? GENESIS_HASH;
}

async function readSeal(db: Queryable, number: bigint): Promise<AuditSeal | undefined> {
  const [seal] = await db.query<AuditSeal>(`SELECT ${SEAL_COLUMNS} FROM audit_seal s WHERE s.number = $1`, [
    number,
  ]);
  return seal;
}

function readEntries(db: Queryable, { firstSequence, lastSequence }: AuditSeal): Promise<ExportedEntry[]> {
  return db.query<ExportedEntry>(
    `SELECT l.sequence, e.id AS "auditEventId", e.created_at AS "createdAt", e.actor, e.action, e.subject,
            e.project_id AS "projectId", e.request_id AS "requestId", e.address,
            l.leaf_hash AS "leafHash", l.chain_hash AS "chainHash"
     FROM audit_leaf l JOIN audit_event e ON e.id = l.audit_event_id
     WHERE l.sequence BETWEEN $1 AND $2 ORDER BY l.sequence`,
    [firstSequence, lastSequence],
  );
}
