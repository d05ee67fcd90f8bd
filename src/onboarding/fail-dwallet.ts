import { postings } from "../billing/postings.ts";
import { auditInsert, auditParameters, SYSTEM_ORIGIN } from "../store/audit.ts";
import type { Sql } from "../store/database.ts";

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
  sql: Sql,
  id: string,
  { from, to, reason, refundsPerDay }: DWalletFailure,
): Promise<void> {
  await sql.query(FAIL, [
    ...[id, from, to, reason, refundsPerDay ?? null],
    ...auditParameters(SYSTEM_ORIGIN),
  ]);
}

const FAIL = `
WITH request AS (
  SELECT id, project_id, price_micro_usd, $5::integer AS refunds_per_day FROM dwallet
  WHERE id = $1 AND state = $2 FOR UPDATE
), ${postings.refund("request", "dkg")}, failed AS (
  UPDATE dwallet d SET state = $3, failure_reason = $4, refunded = p.id IS NOT NULL, updated_at = now()
  FROM request s LEFT JOIN posting_refund p USING (id) WHERE d.id = s.id
), refunded AS (
  SELECT id, project_id FROM request JOIN posting_refund USING (id)
)
${auditInsert("dwallet.refund", "refunded", 6)}`;
