import sql, { join, type Sql } from "sql-template-tag";
import { auditInsert, SYSTEM_ORIGIN } from "../audit/audit-event.ts";
import { postings } from "../ledger/postings.ts";
import { presignMoves } from "../presigns/presign-moves.ts";
import { CURVE_ALGORITHMS, type CurveAlgorithm } from "../protocol/algorithms.ts";
import { isEcdsa } from "../protocol/signature-forms.ts";
import type { Queryable } from "../store/database.ts";
import { execute } from "../store/statements.ts";

/**
 * Fails a charged request and refunds the price, once and within the budget, in one statement. Burns a presign that was
 * not used: it was in a stored transaction and must never serve another request. Returns whether the request changed
 * its state.
 */
export async function failSignRequest(
  db: Queryable,
  id: string,
  { from, reason, message, refundsPerDay, isOwnersDoing = false }: SignFailure,
): Promise<boolean> {
  const unverified = CURVE_ALGORITHMS.filter(({ signatureAlgorithm }) => isEcdsa(signatureAlgorithm));
  const failedCount = await execute(
    db,
    sql`
WITH request AS (
  SELECT id, project_id, price_micro_usd,
    CASE WHEN ${isOwnersDoing}::boolean OR (curve, signature_algorithm) IN (${join(unverified.map(numbersOf))})
         THEN ${refundsPerDay ?? null}::integer END AS refunds_per_day
  FROM sign_request WHERE id = ${id} AND status = ${from} FOR UPDATE
), ${postings.refund(sql`request`)}, failed AS (
  UPDATE sign_request r SET status = 'failed', failure_reason = ${reason}, refunded = p.id IS NOT NULL,
    updated_at = now(), failure_message = ${message}::text
      || CASE WHEN p.id IS NULL THEN '; not refunded: the project has used up its refunds of the day' ELSE '' END
  FROM request s LEFT JOIN posting_refund p USING (id) WHERE r.id = s.id
  RETURNING r.id, r.project_id, r.presign_id
), burnt AS (${presignMoves.burn(sql`failed`)}), refunded AS (
  SELECT id, project_id FROM request JOIN posting_refund USING (id)
), audited AS (${auditInsert("sign.fail", sql`failed`, SYSTEM_ORIGIN)}
), refund_audited AS (${auditInsert("sign.refund", sql`refunded`, SYSTEM_ORIGIN)})
SELECT id FROM failed`,
  );
  return failedCount > 0;
}

export interface SignFailure {
  /** The state that the request must be in. */
  readonly from: "queued" | "submitted";
  /** NETWORK_REJECTED, or the reason why the operation cannot land. */
  readonly reason: string;
  /** Visible to the caller. */
  readonly message: string;
  /**
   * The maximum number of refunds that a project gets on one day (UTC) for failures that the user's half may have
   * caused. Beyond it the service keeps the price, so that invalid halves do not use up presigns for free. It applies
   * to failures that the owner of the dWallet has caused, and otherwise to ECDSA only: SubmitSign verifies every half
   * of the Schnorr family, so if the network rejects one, the user is not at fault and always gets the refund.
   * Undefined: always refunded.
   */
  readonly refundsPerDay?: number;
  /** True if the owner of the dWallet has made the signature impossible. */
  readonly isOwnersDoing?: boolean;
}

const numbersOf = ({ curveNumber, signatureAlgorithmNumber }: CurveAlgorithm): Sql =>
  sql`(${curveNumber}::integer, ${signatureAlgorithmNumber}::integer)`;
