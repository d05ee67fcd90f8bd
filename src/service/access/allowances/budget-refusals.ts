import sql, { type Sql } from "sql-template-tag";
import { countRefusal, lockForRefusal } from "../../ledger/project-warnings.ts";

/**
 * Returns an expression `told` for a larger statement. It has one row if the project should hear of a refusal by this
 * budget: the first one in a window, and at most {@link REFUSALS_TOLD_PER_DAY} a day for all budgets of the project. Its
 * columns are `project_id`, `id`, `window_seconds`, `max_count` and `max_micro_usd`.
 *
 * A budget that was told of lately locks nothing. Like every statement, this one locks a project before its allowances,
 * and only then sees whether another call has told of the budget meanwhile.
 */
export function refusalToTell(allowanceId: string): Sql {
  const isDue = sql`(a.refused_at IS NULL
    OR a.refused_at <= clock_timestamp() - a.window_seconds * interval '1 second')`;
  return sql`warned_project AS MATERIALIZED (
  ${lockForRefusal(
    sql`(SELECT a.project_id FROM allowance a WHERE a.id = ${allowanceId}::uuid AND ${isDue})`,
    REFUSALS_TOLD_PER_DAY,
  )}
), told AS (
  UPDATE allowance a SET refused_at = clock_timestamp() FROM warned_project c
  WHERE a.id = ${allowanceId}::uuid AND a.project_id = c.id AND ${isDue}
  RETURNING a.project_id, a.id, a.window_seconds, a.max_count, a.max_micro_usd
), counted AS (${countRefusal(sql`told`)})`;
}

/** The maximum number of refusals that a project hears of on one day (UTC). */
export const REFUSALS_TOLD_PER_DAY = 1_000;
