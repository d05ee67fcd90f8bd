import type { Queryable } from "../store/database.ts";

/** Counts the committed events that no seal covers yet. Reads as many rows as there are. */
export async function countUnsealed(db: Queryable): Promise<number> {
  const [row] = await db.query<{ count: bigint }>("SELECT count(*) AS count FROM audit_unsealed", []);
  return Number(row?.count ?? 0n);
}

/**
 * How long the oldest event has waited for its seal, in milliseconds; 0 where none waits. Grows while no replica seals.
 * Reads one row, however many wait: that of the smallest id, which is the oldest but for transactions that ran at once.
 */
export async function readUnsealedAgeMs(db: Queryable): Promise<number> {
  const [row] = await db.query<{ ageMs: number }>(
    `SELECT (extract(epoch FROM clock_timestamp() - e.created_at) * 1000)::float8 AS "ageMs"
     FROM audit_unsealed u JOIN audit_event e ON e.id = u.audit_event_id ORDER BY u.audit_event_id LIMIT 1`,
    [],
  );
  return Math.max(0, row?.ageMs ?? 0);
}
