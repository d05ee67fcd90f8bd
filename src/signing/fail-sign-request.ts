import { postings } from "../billing/postings.ts";
import { auditInsert, auditParameters, SYSTEM_ORIGIN } from "../store/audit.ts";
import type { Sql } from "../store/database.ts";

/** Why there will be no signature. */
export interface SignFailure {
  /** The only state that the request is moved from. */
  readonly from: "queued" | "submitted";
  /** NETWORK_REJECTED, SIGNATURE_INVALID, or why the operation cannot land. */
  readonly reason: string;
  /** May be shown to the caller. */
  readonly message: string;
  /**
   * Where the user's own message may be the cause: how many such refunds the project may have on one day (UTC). The
   * others are not given, so that junk never uses up presigns for free. Undefined: always refunded.
   */
  readonly refundsPerDay?: number;
}

/**
 * Ends a charged request as failed and gives the price back, once and within the budget, in one statement. A presign that was not used is
 * burnt: it was in a stored transaction and must never serve another request. Returns whether the request was moved.
 */
export async function failSignRequest(
  sql: Sql,
  id: string,
  { from, reason, message, refundsPerDay }: SignFailure,
): Promise<boolean> {
  const failed = await sql.query(FAIL, [
    ...[id, from, reason, message, refundsPerDay ?? null],
    ...auditParameters(SYSTEM_ORIGIN),
  ]);
  return failed.length > 0;
}

const FAIL = `
WITH request AS (
  SELECT id, project_id, price_micro_usd, $5::integer AS refunds_per_day FROM sign_request WHERE id = $1 AND status = $2 FOR UPDATE
), ${postings.refund("request")}, failed AS (
  UPDATE sign_request r SET status = 'failed', failure_reason = $3, refunded = p.id IS NOT NULL, updated_at = now(),
    failure_message = CASE WHEN p.id IS NULL
      THEN $4 || '; not refunded: the project has had its refunds of the day' ELSE $4 END
  FROM request s LEFT JOIN posting_refund p USING (id) WHERE r.id = s.id
  RETURNING r.id, r.project_id, r.presign_id
), burnt AS (
  UPDATE presign p SET state = 'burnt', updated_at = now() FROM failed f
  WHERE p.id = f.presign_id AND p.state = 'held'
), refunded AS (
  SELECT id, project_id FROM request JOIN posting_refund USING (id)
), audited AS (${auditInsert("sign.fail", "failed", 6)}
), refund_audited AS (${auditInsert("sign.refund", "refunded", 6)})
SELECT id FROM failed`;
