import sql from "sql-template-tag";
import { ServiceError } from "../platform/errors/service-error.ts";
import { boolean, nullable, number } from "../platform/store/columns.ts";
import { execute, type Queryable, readRows } from "../platform/store/database.ts";

/**
 * Throws QUOTA_EXCEEDED, which rolls the transaction back, if the project exceeds the limit of the last 24 hours: of
 * dWallet rows, of rows of shares, or of attempts to register encryption keys. A key that the chain refused may have several attempts.
 */
export async function checkQuota(
  db: Queryable,
  table: QuotaTable,
  projectId: string,
  maxCount: number,
): Promise<void> {
  const { rows, count, time } = COUNTED[table];
  const [row] = await readRows(
    db,
    sql`SELECT coalesce(sum(${count}), 0) > ${maxCount} AS excess,
          ceil(extract(epoch FROM min(${time}) + interval '24 hours' - now()))::integer AS "retryAfterSeconds"
        FROM ${rows} WHERE project_id = ${projectId} AND ${time} > now() - interval '24 hours'`,
    { excess: boolean, retryAfterSeconds: nullable(number) },
  );
  if (!row?.excess) return;
  throw new ServiceError("QUOTA_EXCEEDED", `the project may create ${maxCount} in 24 hours`, {
    metadata: { maxCount: String(maxCount) },
    retryAfterSeconds: Math.max(1, row.retryAfterSeconds ?? 0),
  });
}

/** The kinds of objects with a limit per project and 24 hours, because the service pays for each on the chain. */
export type QuotaTable = "dwallet" | "encryption_key" | "dwallet_share";

/**
 * Locks the project until the transaction ends, so that its concurrent calls are counted one after the other. Call it
 * before the row is inserted, and {@link checkQuota} after that.
 */
export async function lockForQuota(db: Queryable, projectId: string): Promise<void> {
  await execute(db, sql`SELECT 1 FROM project WHERE id = ${projectId} FOR NO KEY UPDATE`);
}

/** The table, the count of each row, and the time from which a row counts. */
const COUNTED = {
  dwallet: { rows: sql`dwallet`, count: sql`1`, time: sql`created_at` },
  dwallet_share: { rows: sql`dwallet_share`, count: sql`1`, time: sql`created_at` },
  encryption_key: { rows: sql`encryption_key`, count: sql`tries`, time: sql`tried_at` },
} as const;
