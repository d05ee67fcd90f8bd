import sql from "sql-template-tag";
import { number } from "../store/columns.ts";
import type { Database, Queryable } from "../store/database.ts";
import { readRows } from "../store/statements.ts";

/** Counts the committed events that no seal covers yet. Reads one row per event. */
export function countUnsealed({ prisma }: Pick<Database, "prisma">): Promise<number> {
  return prisma.auditUnsealed.count();
}

/**
 * Returns how long the oldest event has waited for its seal, in milliseconds; 0 if none waits. It grows while no
 * replica seals. Reads only the row with the smallest id, which is the oldest except among concurrent transactions.
 */
export async function readUnsealedAgeMs(db: Queryable): Promise<number> {
  const [row] = await readRows(
    db,
    sql`SELECT (extract(epoch FROM clock_timestamp() - e.created_at) * 1000)::float8 AS "ageMs"
     FROM audit_unsealed u JOIN audit_event e ON e.id = u.audit_event_id ORDER BY u.audit_event_id LIMIT 1`,
    { ageMs: number },
  );
  return Math.max(0, row?.ageMs ?? 0);
}
