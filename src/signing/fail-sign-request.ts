import { postings } from "../billing/postings.ts";
import { CURVE_ALGORITHMS } from "../protocol/algorithms.ts";
import { isEcdsa } from "../protocol/signature-forms.ts";
import { auditInsert, auditParameters, SYSTEM_ORIGIN } from "../store/audit.ts";
import type { Sql } from "../store/database.ts";

/** Why there will be no signature. */
export interface SignFailure {
  /** The only state that the request is moved from. */
  readonly from: "queued" | "submitted";
  /** NETWORK_REJECTED, or why the operation cannot land. */
  readonly reason: string;
  /** May be shown to the caller. */
  readonly message: string;
  /**
   * Where the user's half may be the cause: how many such refunds the project may have on one day (UTC). Beyond that
   * the price is kept, so that junk does not use up presigns for free. It counts for ECDSA alone: SubmitSign verifies
   * every half of the Schnorr family, so the user is not at fault when the network rejects one, and the price is always
   * given back. Undefined: always refunded.
   */
  readonly refundsPerDay?: number;
}

/**
 * Ends a charged request as failed and gives the price back, once and within the budget, in one statement. A presign
 * that was not used is burnt: it was in a stored transaction and must never serve another request. Returns whether the
 * request was moved.
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

/** SQL for the algorithms, as (curve, algorithm), whose user halves the network alone verifies. */
const UNVERIFIED = CURVE_ALGORITHMS.filter(({ signatureAlgorithm }) => isEcdsa(signatureAlgorithm))
  .map(({ curveNumber, signatureAlgorithmNumber }) => `(${curveNumber}, ${signatureAlgorithmNumber})`)
  .join(", ");

const FAIL = `
WITH request AS (
  SELECT id, project_id, price_micro_usd,
    CASE WHEN (curve, signature_algorithm) IN (${UNVERIFIED}) THEN $5::integer END AS refunds_per_day
  FROM sign_request WHERE id = $1 AND status = $2 FOR UPDATE
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
