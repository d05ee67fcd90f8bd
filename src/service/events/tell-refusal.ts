import sql from "sql-template-tag";
import type { Allowance } from "../access/allowances/allowance.ts";
import type { BudgetLeft } from "../access/allowances/allowances.ts";
import { refusalToTell } from "../access/allowances/budget-refusals.ts";
import type { Signals } from "../platform/coordination/signals.ts";
import { type Database, execute } from "../platform/store/database.ts";
import { announceEvents, eventInsert } from "./event.ts";

/**
 * Tells a project that a budget of a key, a session or a user refused a request: once in the budget's window. Call it
 * outside a transaction, because the refusal rolls that back.
 */
export async function tellRefusal(
  { database, signals }: { readonly database: Database; readonly signals: Signals },
  { projectId, allowance, origin: { actor } }: RefusedCaller,
  { userReference, left }: Refusal,
): Promise<void> {
  if (allowance === undefined) return;
  const growsAt = left.growsAt?.toISOString() ?? null;
  const toldCount = await execute(
    database,
    sql`
WITH ${refusalToTell(allowance.id)}
${eventInsert(
  "budget.exceeded",
  sql`(
  SELECT project_id, id::text AS subject, ${userReference ?? null}::text AS user_reference, jsonb_build_object(
    'budget_id', id::text, 'actor', ${actor}::text, 'window_seconds', window_seconds::text,
    'max_count', max_count::text, 'max_micro_usd', max_micro_usd::text,
    'left_count', ${left.leftCount?.toString() ?? null}::text,
    'left_micro_usd', ${left.leftMicroUsd?.toString() ?? null}::text, 'grow_time', ${growsAt}::text) AS data
  FROM told) AS refused`,
)} RETURNING id`,
  );
  if (toldCount > 0) announceEvents(signals, projectId);
}

/** Whose budget it is. */
interface RefusedCaller {
  readonly projectId: string;
  readonly allowance?: Pick<Allowance, "id"> | undefined;
  /** The key or the session that asked, as the audit trail names it. */
  readonly origin: { readonly actor: string };
}

/** A request that did not fit the budget. */
interface Refusal {
  /** The user of the request; undefined or null if there is none. */
  readonly userReference: string | null | undefined;
  readonly left: BudgetLeft;
}
