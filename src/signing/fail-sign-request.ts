import { postings } from "../billing/postings.ts";
import type { Sql } from "../store/database.ts";

/** Why there will be no signature. */
export interface SignFailure {
  /** The only state that the request is moved from. */
  readonly from: "queued" | "submitted";
  /** NETWORK_REJECTED, SIGNATURE_INVALID, or why the operation cannot land. */
  readonly reason: string;
  /** May be shown to the caller. */
  readonly message: string;
}

/**
 * Ends a charged request as failed and gives the price back, once, in one statement. A presign that was not used is
 * burnt: it was in a stored transaction and must never serve another request. Returns whether the request was moved.
 */
export async function failSignRequest(
  sql: Sql,
  id: string,
  { from, reason, message }: SignFailure,
): Promise<boolean> {
  const failed = await sql.query(FAIL, [id, from, reason, message]);
  return failed.length > 0;
}

const FAIL = `
WITH request AS (
  SELECT id, project_id, price_micro_usd FROM sign_request WHERE id = $1 AND status = $2 FOR UPDATE
), ${postings.refund("request")}, failed AS (
  UPDATE sign_request r SET status = 'failed', failure_reason = $3, failure_message = $4, refunded = true,
    updated_at = now()
  FROM request s JOIN posting_refund USING (id) WHERE r.id = s.id
  RETURNING r.id, r.presign_id
), burnt AS (
  UPDATE presign p SET state = 'burnt', updated_at = now() FROM failed f
  WHERE p.id = f.presign_id AND p.state = 'held'
)
SELECT id FROM failed`;
