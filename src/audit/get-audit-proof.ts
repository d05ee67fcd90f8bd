import sql from "sql-template-tag";
import { ServiceError } from "../errors/service-error.ts";
import type { AuditSeal } from "../seals/audit-seal.ts";
import { auditPath } from "../seals/merkle-tree.ts";
import type { Database, Queryable } from "../store/database.ts";
import { readRows } from "../store/statements.ts";
import { AUDIT_EVENT_COLUMNS, type AuditEventRow, SELECT_AUDIT_EVENT } from "./list-audit-events.ts";

/**
 * Reads the proof of an event that belongs to a project of the networks or to no project. Throws AUDIT_EVENT_NOT_FOUND,
 * and WRONG_STATE while the event is not sealed.
 */
export async function getAuditProof(
  database: Pick<Database, "prisma" | "query">,
  networks: readonly string[],
  auditEventId: bigint,
): Promise<AuditProof> {
  const event = await readEvent(database, networks, auditEventId);
  if (event.sequence === null) {
    throw new ServiceError("WRONG_STATE", "the event is not sealed yet; retry in a few seconds", {
      metadata: { state: "unsealed" },
    });
  }
  const { prisma } = database;
  const seal = await prisma.auditSeal.findFirst({
    where: { lastSequence: { gte: event.sequence } },
    orderBy: { lastSequence: "asc" },
  });
  if (seal === null) throw new Error(`no seal covers entry ${event.sequence}`);
  const leaves = await prisma.auditLeaf.findMany({
    where: { sequence: { gte: seal.firstSequence, lte: seal.lastSequence } },
    orderBy: { sequence: "asc" },
    select: { leafHash: true },
  });
  const hashes = leaves.map(({ leafHash }) => leafHash);
  return { event, seal, path: auditPath(hashes, Number(event.sequence - seal.firstSequence)) };
}

/** An event with the proof that a seal covers it. */
export interface AuditProof {
  readonly event: AuditEventRow;
  readonly seal: AuditSeal;
  readonly path: readonly Uint8Array[];
}

async function readEvent(
  db: Queryable,
  networks: readonly string[],
  auditEventId: bigint,
): Promise<AuditEventRow> {
  const [event] = await readRows(
    db,
    sql`${SELECT_AUDIT_EVENT} WHERE e.id = ${auditEventId} AND (e.project_id IS NULL OR p.network = ANY(${networks}::text[]))`,
    AUDIT_EVENT_COLUMNS,
  );
  if (event !== undefined) return event;
  throw new ServiceError("AUDIT_EVENT_NOT_FOUND", "the network has no audit event with this id", {
    metadata: { auditEventId: String(auditEventId) },
  });
}
