import sql from "sql-template-tag";
import { auditInsert, SYSTEM_ORIGIN } from "../audit/audit-event.ts";
import { postings } from "../ledger/postings.ts";
import type { Queryable } from "../store/database.ts";
import { execute } from "../store/statements.ts";

/** Fails a dWallet and refunds its price, once and within the budget, in one statement. */
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

export interface DWalletFailure {
  /** The state that the dWallet must be in. */
  readonly from: "Submitting" | "AwaitingNetworkDKGVerification";
  readonly to: "Failed" | "NetworkRejectedDKGVerification";
  readonly reason: string;
  /**
   * The maximum number of refunds, for dWallets and signatures together, that a project gets on one day (UTC) for
   * failures that the user's message may have caused. Beyond it the service keeps the price, because it has paid the
   * network. Undefined: always refunded.
   */
  readonly refundsPerDay?: number;
}
