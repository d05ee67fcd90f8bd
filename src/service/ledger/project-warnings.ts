import sql, { type Sql } from "sql-template-tag";
import { type AuditOrigin, auditInsert } from "../audit/audit-event.ts";
import { execute, type Queryable } from "../platform/store/database.ts";

/**
 * Sets the balance below which the project gets an event `balance.low`; undefined for none. A trigger of the database
 * writes the event, in the transaction that lowers the balance or sets the threshold. Returns false for the same value,
 * which changes nothing.
 */
export async function setLowBalance(
  db: Queryable,
  { projectId, origin }: { readonly projectId: string; readonly origin: AuditOrigin },
  lowBalanceMicroUsd: bigint | undefined,
): Promise<boolean> {
  const low = sql`${lowBalanceMicroUsd ?? null}::bigint`;
  const changedCount = await execute(
    db,
    sql`
WITH changed AS (
  UPDATE project SET low_balance_micro_usd = ${low}
  WHERE id = ${projectId}::uuid AND low_balance_micro_usd IS DISTINCT FROM ${low} RETURNING id, id AS project_id
), audited AS (${auditInsert("project.low_balance", sql`changed`, origin)})
SELECT id FROM changed`,
  );
  return changedCount > 0;
}

/**
 * Returns a statement that counts a refusal by a budget that the project hears of, up to `maxCount` on one day (UTC).
 * `projectId` is the SQL of the project's id. It returns the column `id` of the project, and no row beyond the maximum.
 */
export function countRefusal(projectId: Sql, maxCount: number): Sql {
  return sql`UPDATE project p SET refusal_day = ${TODAY},
    refusals_on_day = CASE WHEN p.refusal_day = ${TODAY} THEN p.refusals_on_day + 1 ELSE 1 END
  WHERE p.id = ${projectId} AND (p.refusal_day IS DISTINCT FROM ${TODAY} OR p.refusals_on_day < ${maxCount})
  RETURNING p.id`;
}

const TODAY = sql`(now() AT TIME ZONE 'utc')::date`;
