import { ServiceError } from "../errors/service-error.ts";
import type { Queryable } from "../store/database.ts";

/** What a project may create a limited number of in 24 hours, because the service pays for each on the chain. */
export type QuotaTable = "dwallet" | "encryption_key";

/**
 * Locks the project until the transaction ends, so that concurrent calls of it are counted one after the other. To be
 * called before the row is inserted, and {@link checkQuota} after it.
 */
export async function lockForQuota(db: Queryable, projectId: string): Promise<void> {
  await db.query("SELECT 1 FROM project WHERE id = $1 FOR NO KEY UPDATE", [projectId]);
}

/**
 * Throws QUOTA_EXCEEDED when the project has more than it may of the last 24 hours: rows of dWallets, or tries to
 * register encryption keys, of which a key that the chain refused may have several. The transaction undoes them.
 */
export async function checkQuota(
  db: Queryable,
  table: QuotaTable,
  projectId: string,
  maxCount: number,
): Promise<void> {
  const { count, time } = COUNTED[table];
  const [row] = await db.query<{ excess: boolean; retryAfterSeconds: number }>(
    `SELECT coalesce(sum(${count}), 0) > $2 AS excess,
       ceil(extract(epoch FROM min(${time}) + interval '24 hours' - now()))::integer AS "retryAfterSeconds"
     FROM ${table} WHERE project_id = $1 AND ${time} > now() - interval '24 hours'`,
    [projectId, maxCount],
  );
  if (!row?.excess) return;
  throw new ServiceError("QUOTA_EXCEEDED", `the project may create ${maxCount} in 24 hours`, {
    metadata: { maxCount: String(maxCount) },
    retryAfterSeconds: Math.max(1, row.retryAfterSeconds),
  });
}

/** SQL for what a row counts for, and from when on. */
const COUNTED = {
  dwallet: { count: "1", time: "created_at" },
  encryption_key: { count: "tries", time: "tried_at" },
} as const;
