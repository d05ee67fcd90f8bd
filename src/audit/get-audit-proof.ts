import { ServiceError } from "../errors/service-error.ts";
import type { Queryable } from "../store/database.ts";
import type { AuditSeal } from "./audit-seal.ts";
import { AUDIT_EVENT_COLUMNS, type AuditEventRow } from "./list-audit-events.ts";
import { auditPath } from "./merkle-tree.ts";
import { SEAL_COLUMNS } from "./seal-columns.ts";

/** An event with the proof that a seal is over it. */
export interface AuditProof {
  readonly event: AuditEventRow;
  readonly seal: AuditSeal;
  readonly path: readonly Uint8Array[];
}

/**
 * Reads the proof of an event of the network's projects, or of no project. Throws AUDIT_EVENT_NOT_FOUND, and
 * WRONG_STATE while the event is not sealed.
 */
export async function getAuditProof(
  db: Queryable,
  network: string,
  auditEventId: bigint,
): Promise<AuditProof> {
  const event = await readEvent(db, network, auditEventId);
  if (event.sequence === null) {
    throw new ServiceError("WRONG_STATE", "the event is not sealed yet; retry in a few seconds", {
      metadata: { state: "unsealed" },
    });
  }
  const [seal] = await db.query<AuditSeal>(
    `SELECT ${SEAL_COLUMNS} FROM audit_seal s WHERE s.last_sequence >= $1 ORDER BY s.last_sequence LIMIT 1`,
    [event.sequence],
  );
  if (seal === undefined) throw new Error(`no seal is over the entry ${event.sequence}`);
  const leaves = await db.query<{ leafHash: Uint8Array }>(
    `SELECT leaf_hash AS "leafHash" FROM audit_leaf WHERE sequence BETWEEN $1 AND $2 ORDER BY sequence`,
    [seal.firstSequence, seal.lastSequence],
  );
  const hashes = leaves.map(({ leafHash }) => leafHash);
  return { event, seal, path: auditPath(hashes, Number(event.sequence - seal.firstSequence)) };
}

async function readEvent(db: Queryable, network: string, auditEventId: bigint): Promise<AuditEventRow> {
  const [event] = await db.query<AuditEventRow>(
    `SELECT ${AUDIT_EVENT_COLUMNS}
     FROM audit_event e LEFT JOIN project p ON p.id = e.project_id LEFT JOIN audit_leaf l ON l.audit_event_id = e.id
     WHERE e.id = $1 AND (e.project_id IS NULL OR p.network = $2)`,
    [auditEventId, network],
  );
  if (event !== undefined) return event;
  throw new ServiceError("AUDIT_EVENT_NOT_FOUND", "the network has no audit event with this id", {
    metadata: { auditEventId: String(auditEventId) },
  });
}
