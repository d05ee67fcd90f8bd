import sql from "sql-template-tag";
import { budgetReturn } from "../access/allowances/budgets.ts";
import { auditInsert, SYSTEM_ORIGIN } from "../audit/audit-event.ts";
import { postings } from "../ledger/postings.ts";
import { execute, type Queryable } from "../platform/store/database.ts";
import { signEventInsert } from "./sign-event.ts";

/** A sign request that the chain knows and the database has lost. */
export interface LostSignRequest {
  readonly id: string;
  readonly projectId: string;
  /** The id of the dWallet's row. */
  readonly dwalletId: string;
  /** The id of the presign's row. */
  readonly presignId: string;
  readonly network: string;
  readonly curve: number;
  readonly signatureAlgorithm: number;
  readonly hashScheme: number;
  readonly message: Uint8Array;
  readonly userSignMessage: Uint8Array;
  /** The price. The request costs nothing if the project lacks the credit. */
  readonly priceMicroUsd: bigint;
  /** When it was sent; null if the chain does not say. */
  readonly sentAt: Date | null;
}

/** Inserts a lost request as queued and charges it. */
export async function insertLostSignRequest(db: Queryable, request: LostSignRequest): Promise<void> {
  const { id, projectId, dwalletId, presignId, network, curve, signatureAlgorithm, hashScheme } = request;
  const { message, userSignMessage, priceMicroUsd, sentAt } = request;
  await execute(
    db,
    sql`
WITH source AS (
  SELECT ${id}::uuid AS id, ${projectId}::uuid AS project_id, ${priceMicroUsd}::bigint AS price_micro_usd
), ${postings.charge(sql`source`)}, inserted AS (
  INSERT INTO sign_request (id, project_id, dwallet_id, presign_id, network, curve, signature_algorithm, hash_scheme,
                            message, user_sign_message, price_micro_usd, status, expires_at, created_at)
  SELECT s.id, s.project_id, ${dwalletId}, ${presignId}, ${network}, ${curve}, ${signatureAlgorithm}, ${hashScheme},
         ${message}, ${userSignMessage}, CASE WHEN p.id IS NULL THEN 0 ELSE s.price_micro_usd END, 'queued',
         coalesce(${sentAt}::timestamptz, now()), coalesce(${sentAt}::timestamptz, now())
  FROM source s LEFT JOIN posting_charge p USING (id) RETURNING id, project_id
)
${auditInsert("sign.rebuild", sql`inserted`, SYSTEM_ORIGIN)}`,
  );
}

/** Captures the price of a reservation whose submission the database has lost. Changes no request in another state. */
export async function captureLostSubmission(
  db: Queryable,
  id: string,
  userSignMessage: Uint8Array,
): Promise<void> {
  await execute(
    db,
    sql`
WITH reservation AS (
  SELECT id, project_id, price_micro_usd FROM sign_request WHERE id = ${id} AND status = 'prepared' FOR UPDATE
), ${postings.capture(sql`reservation`)}, queued AS (
  UPDATE sign_request r SET status = 'queued', user_sign_message = ${userSignMessage}, updated_at = now(),
    hold_state = CASE WHEN r.hold_seconds IS NOT NULL THEN 'released' END
  FROM reservation s JOIN posting_capture USING (id) WHERE r.id = s.id RETURNING r.id, r.project_id
)
${auditInsert("sign.rebuild", sql`queued`, SYSTEM_ORIGIN)}`,
  );
}

/** Restores a user's half that retention has emptied, because the submitter compares it with the chain. */
export async function refillUserHalf(db: Queryable, id: string, userSignMessage: Uint8Array): Promise<void> {
  await execute(
    db,
    sql`UPDATE sign_request SET user_sign_message = ${userSignMessage} WHERE id = ${id} AND user_sign_message = ''`,
  );
}

/** Ends the reservation that holds the presign in the restored, older copy of the database, and releases its price. */
export async function endReservationOf(db: Queryable, presignId: string): Promise<void> {
  await execute(
    db,
    sql`
WITH reservation AS (
  SELECT id, project_id, price_micro_usd, allowance_id, allowance_slot FROM sign_request
  WHERE presign_id = ${presignId} AND status = 'prepared' FOR UPDATE
), ${postings.release(sql`reservation`)}, ${budgetReturn(sql`reservation`, sql`posting_release`)}, failed AS (
  UPDATE sign_request r SET status = 'failed', failure_reason = 'RESERVATION_EXPIRED',
    failure_message = 'the reservation expired before the user''s half was submitted', updated_at = now()
  FROM reservation s JOIN posting_release USING (id) WHERE r.id = s.id RETURNING r.id, r.project_id, r.dwallet_id, r.failure_reason
), noted AS (${signEventInsert("sign.failed", sql`failed`)})
${auditInsert("sign.expire", sql`failed`, SYSTEM_ORIGIN)}`,
  );
}
