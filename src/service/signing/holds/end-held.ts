import sql, { type Sql } from "sql-template-tag";
import { budgetReturn } from "../../access/allowances/budgets.ts";
import { type AuditOrigin, auditInsertWithMoney, SYSTEM_ORIGIN } from "../../audit/audit-event.ts";
import { postings } from "../../ledger/postings.ts";
import { text } from "../../platform/store/columns.ts";
import { signEventInsert } from "../sign-event.ts";

/**
 * Returns the statement that ends one held half, and refunds its price without the price of the hold: held -> failed. It
 * selects the id, the project and the network of the request, and its reason.
 *
 * @param chosen a query for the row of at most one request that {@link isHeld}, which it locks, with the further columns
 *   `end_reason` and `end_message`
 */
export function endHeld(chosen: Sql, { action, origin = SYSTEM_ORIGIN }: HoldEnd): Sql {
  return sql`
WITH request AS (
  SELECT c.id, c.project_id, c.price_micro_usd - c.hold_price_micro_usd AS price_micro_usd, c.allowance_id,
    c.allowance_slot, c.end_reason, c.end_message, NULL::integer AS refunds_per_day
  FROM (${chosen}) AS c
), ${postings.refund(sql`request`)}, ${budgetReturn(sql`request`, sql`posting_refund`)}, failed AS (
  UPDATE sign_request r SET status = 'failed', hold_state = 'ended', failure_reason = s.end_reason,
    failure_message = s.end_message, refunded = true, updated_at = ${laterThan(sql`r`)}
  FROM request s JOIN posting_refund USING (id) WHERE r.id = s.id
  RETURNING r.id, r.project_id, r.network, r.dwallet_id, r.failure_reason
), noted AS (${signEventInsert("sign.failed", sql`failed`)}), refunded AS (
  SELECT id, project_id, ledger_entry_id, amount_micro_usd FROM failed JOIN refund_entry USING (id)
), audited AS (${auditInsertWithMoney(action, sql`refunded`, origin)})
SELECT id, project_id AS "projectId", network, failure_reason AS reason FROM failed`;
}

/** The columns of the result of {@link endHeld}. */
export const ENDED_HOLD = { id: text, projectId: text, network: text, reason: text } as const;

interface HoldEnd {
  /** The action in the audit trail. */
  readonly action: string;
  readonly origin?: AuditOrigin;
}

/** The condition that the network has verified the half of a request `r`, and that nothing has released or ended it. */
export const isHeld = sql`r.status = 'queued' AND r.hold_state = 'held'`;

/** The time of a change of a request, which differs from that of the change before: watches compare it. */
export function laterThan(r: Sql): Sql {
  return sql`greatest(now(), ${r}.updated_at + interval '1 millisecond')`;
}
