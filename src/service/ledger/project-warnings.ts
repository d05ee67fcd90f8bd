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
 * Returns a query that locks a project if it may hear of another refusal by a budget today (UTC), where `maxCount` is the
 * maximum. `projectId` is the SQL of the project's id. It returns the column `id` of the project, or no row.
 */
export function lockForRefusal(projectId: Sql, maxCount: number): Sql {
  return sql`SELECT p.id FROM project p
  WHERE p.id = ${projectId} AND (p.refusal_day IS DISTINCT FROM ${TODAY} OR p.refusals_on_day < ${maxCount})
  FOR NO KEY UPDATE`;
}

/** Returns a statement that counts a refusal that a locked project hears of: the row of `told`, with `project_id`. */
export function countRefusal(told: Sql): Sql {
  return sql`UPDATE project p SET refusal_day = ${TODAY},
    refusals_on_day = CASE WHEN p.refusal_day = ${TODAY} THEN p.refusals_on_day + 1 ELSE 1 END
  FROM ${told} t WHERE p.id = t.project_id`;
}

const TODAY = sql`(now() AT TIME ZONE 'utc')::date`;
