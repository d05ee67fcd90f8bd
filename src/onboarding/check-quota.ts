import { ServiceError } from "../errors/service-error.ts";
import type { Sql } from "../store/database.ts";

/** What a project may create only so many of in 24 hours, because the service pays for each on the chain. */
export type QuotaTable = "dwallet" | "encryption_key";

/**
 * Locks the project until the transaction ends, so that concurrent calls of it are counted one after the other. To be
 * called before the row is inserted, and {@link checkQuota} after it.
 */
export async function lockForQuota(sql: Sql, projectId: string): Promise<void> {
  await sql.query("SELECT 1 FROM project WHERE id = $1 FOR NO KEY UPDATE", [projectId]);
}

/** Throws QUOTA_EXCEEDED when the project has more rows of the last 24 hours than it may; the transaction undoes them. */
export async function checkQuota(
  sql: Sql,
  table: QuotaTable,
  projectId: string,
  maxCount: number,
): Promise<void> {
  const [row] = await sql.query<{ excess: boolean; retryAfterSeconds: number }>(
    `SELECT count(*) > $2 AS excess,
       ceil(extract(epoch FROM min(created_at) + interval '24 hours' - now()))::integer AS "retryAfterSeconds"
     FROM ${table} WHERE project_id = $1 AND created_at > now() - interval '24 hours'`,
    [projectId, maxCount],
  );
  if (!row?.excess) return;
  throw new ServiceError("QUOTA_EXCEEDED", `the project may create ${maxCount} in 24 hours`, {
    metadata: { maxCount: String(maxCount) },
    retryAfterSeconds: Math.max(1, row.retryAfterSeconds),
  });
}
