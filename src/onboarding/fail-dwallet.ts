import sql from "sql-template-tag";
import { auditInsert, SYSTEM_ORIGIN } from "../audit/audit-event.ts";
import { postings } from "../ledger/postings.ts";
import type { Queryable } from "../store/database.ts";
import { execute } from "../store/statements.ts";

/** Why there will be no dWallet. */
export interface DWalletFailure {
  /** The only state that the dWallet is moved from. */
  readonly from: "Submitting" | "AwaitingNetworkDKGVerification";
  readonly to: "Failed" | "NetworkRejectedDKGVerification";
  readonly reason: string;
  /**
   * Where the user's message may be the cause: how many such refunds, of dWallets and of signatures together, the
   * project may have on one day (UTC). Beyond that the price is kept, as the network was paid for its work.
   * Undefined: always refunded.
   */
  readonly refundsPerDay?: number;
}

/** Ends a dWallet that never will be one, and gives its price back, once and within the budget, in one statement. */
export async function failDWallet(
  db: Queryable,
  id: string,
  { from, to, reason, refundsPerDay }: DWalletFailure,
): Promise<void> {
  await execute(
    db,
    sql`
WITH request AS (
  SELECT id, project_id, price_micro_usd, ${refundsPerDay ?? null}::integer AS refunds_per_day FROM dwallet
  WHERE id = ${id} AND state = ${from} FOR UPDATE
), ${postings.refund(sql`request`, "dkg")}, failed AS (
  UPDATE dwallet d SET state = ${to}, failure_reason = ${reason}, refunded = p.id IS NOT NULL, updated_at = now()
  FROM request s LEFT JOIN posting_refund p USING (id) WHERE d.id = s.id
), refunded AS (
  SELECT id, project_id FROM request JOIN posting_refund USING (id)
)
${auditInsert("dwallet.refund", sql`refunded`, SYSTEM_ORIGIN)}`,
  );
}
