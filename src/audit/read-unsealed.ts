import type { Sql } from "../store/database.ts";

/** What waits for its seal. */
export interface Unsealed {
  readonly count: number;
  /** How long the oldest event has waited; 0 where there is none. Grows while no replica seals. */
  readonly oldestAgeMs: number;
}

/** Reads how many committed events no seal covers yet, and for how long. */
export async function readUnsealed(sql: Sql): Promise<Unsealed> {
  const [row] = await sql.query<{ count: bigint; ageMs: number }>(
    `SELECT count(*) AS count,
            coalesce(extract(epoch FROM clock_timestamp() - min(e.created_at)) * 1000, 0)::float8 AS "ageMs"
     FROM audit_unsealed u JOIN audit_event e ON e.id = u.audit_event_id`,
    [],
  );
  return { count: Number(row?.count ?? 0n), oldestAgeMs: Math.max(0, row?.ageMs ?? 0) };
}
