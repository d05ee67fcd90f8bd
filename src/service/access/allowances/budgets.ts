import sql, { empty, type Sql } from "sql-template-tag";
import { ServiceError } from "../../platform/errors/service-error.ts";
import { boolean, type Columns } from "../../platform/store/columns.ts";
import type { Allowance } from "./allowance.ts";
import { BUDGET_LEFT_COLUMNS, type BudgetLeft } from "./allowances.ts";

/**
 * Returns what a caller's budget adds to a statement that takes a price. `locked` is the name of an expression with one
 * row that has locked the project: all statements lock a project before its allowances, so that they never wait for each
 * other in a circle. `at` is the SQL of the time.
 */
export function budgetParts(
  allowance: Pick<Allowance, "id" | "budget"> | undefined,
  priceMicroUsd: bigint,
  { locked, at = sql`clock_timestamp()` }: { readonly locked: Sql; readonly at?: Sql },
): BudgetParts {
  if (allowance?.budget === undefined) return NO_BUDGET;
  const fits = sql`(SELECT coalesce(left_count >= 1, true) AND coalesce(left_micro_usd >= ${priceMicroUsd}::bigint, true)
    FROM budget)`;
  return {
    look: sql`budget_row AS (
  SELECT * FROM allowance WHERE id = ${allowance.id}::uuid AND (SELECT count(*) FROM ${locked}) = 1 FOR UPDATE
), budget_now AS (
  SELECT *, greatest(newest_slot, budget_slot(${at}, window_seconds)) AS slot FROM budget_row
), budget AS (
  SELECT id, slot, counts, amounts, max_count - budget_sum(counts) AS left_count,
    max_micro_usd - budget_sum(amounts) AS left_micro_usd, budget_grows_at(counts, slot, window_seconds) AS grows_at
  FROM budget_now CROSS JOIN LATERAL (
    SELECT budget_slots_at(slot_counts::bigint[], newest_slot, slot) AS counts,
           budget_slots_at(slot_micro_usd, newest_slot, slot) AS amounts) s
), `,
    andFits: sql` AND ${fits}`,
    take: (posted) => sql`budget_taken AS (
  UPDATE allowance a SET newest_slot = b.slot, slot_counts = budget_slots_with(b.counts, 1, 1)::integer[],
    slot_micro_usd = budget_slots_with(b.amounts, 1, ${priceMicroUsd}::bigint)
  FROM budget b CROSS JOIN ${posted} WHERE a.id = b.id
), `,
    allowanceId: sql`(SELECT id FROM budget)`,
    slot: sql`(SELECT slot FROM budget)`,
    outcome: sql`coalesce(${fits}, false) AS "fitsBudget", (SELECT left_count::float8 FROM budget) AS "leftCount",
      (SELECT left_micro_usd FROM budget) AS "leftMicroUsd", (SELECT grows_at FROM budget) AS "growsAt"`,
  };
}

/**
 * Parts of a larger statement, so that price and budget are decided together. For a caller without a budget they are
 * empty or constant, and the statement locks nothing more.
 *
 * The counters are in the row of the allowance. A statement sees the newest version of a row that it locks, but other
 * rows as they were when it began, so a sum over requests would miss those of concurrent calls.
 */
export interface BudgetParts {
  /** Expressions, each followed by a comma. They lock the allowance and read its budget. */
  readonly look: Sql;
  /** A condition after others: the price fits. */
  readonly andFits: Sql;
  /** An expression, followed by a comma, that takes the price once the posting has a row. */
  readonly take: (posted: Sql) => Sql;
  /** The value of the column `allowance_id` of what is charged. */
  readonly allowanceId: Sql;
  /** The value of its column `allowance_slot`. */
  readonly slot: Sql;
  /** The columns {@link BUDGET_OUTCOME_COLUMNS} of the result. */
  readonly outcome: Sql;
}

const NO_BUDGET: BudgetParts = {
  look: empty,
  andFits: empty,
  take: () => empty,
  allowanceId: sql`NULL::uuid`,
  slot: sql`NULL::bigint`,
  outcome: sql`true AS "fitsBudget", NULL::float8 AS "leftCount", NULL::bigint AS "leftMicroUsd",
    NULL::timestamptz AS "growsAt"`,
};

/** Whether a price fitted a budget, and what was left before it. */
export interface BudgetOutcome extends BudgetLeft {
  /** True without a budget. */
  readonly fitsBudget: boolean;
}

/** The columns of {@link BudgetOutcome}. */
export const BUDGET_OUTCOME_COLUMNS: Columns<BudgetOutcome> = { fitsBudget: boolean, ...BUDGET_LEFT_COLUMNS };

/**
 * Returns an expression that gives a price back to the slot that it was taken from, if that still counts. `source` holds
 * at most one row with the columns `id`, `price_micro_usd`, `allowance_id` and `allowance_slot`, the last two null if
 * nothing was taken. `posted` is the posting that gives back the money: the budget follows it, also in its locks.
 */
export function budgetReturn(source: Sql, posted: Sql): Sql {
  const at = sql`a.newest_slot - s.allowance_slot + 1`;
  return sql`budget_returned AS (
  UPDATE allowance a SET slot_counts = budget_slots_with(a.slot_counts::bigint[], ${at}, -1)::integer[],
    slot_micro_usd = budget_slots_with(a.slot_micro_usd, ${at}, -s.price_micro_usd)
  FROM ${source} s JOIN ${posted} USING (id) WHERE a.id = s.allowance_id
)`;
}

/** Returns the error of a price that does not fit the budget. */
export function budgetExceeded({ leftCount, leftMicroUsd, growsAt }: BudgetLeft): ServiceError {
  return new ServiceError("BUDGET_EXCEEDED", "the budget of the key does not cover this request", {
    metadata: {
      ...(leftCount !== null && { leftCount: String(leftCount) }),
      ...(leftMicroUsd !== null && { leftMicroUsd: String(leftMicroUsd) }),
      ...(growsAt !== null && { growTime: growsAt.toISOString() }),
    },
  });
}
