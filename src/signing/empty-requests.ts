import sql from "sql-template-tag";
import type { Queryable } from "../store/database.ts";
import { execute } from "../store/statements.ts";

/**
 * Empties the user's half of at most `maxCount` requests that ended at least `days` days ago, the oldest first. Returns
 * the number of requests. An empty half still shows that the request was submitted and charged. A request keeps its
 * half until its operation has ended, because the submitter compares the half with the chain.
 */
export async function emptyRequests(db: Queryable, days: number, maxCount: number): Promise<number> {
  return execute(db, empty(days, maxCount));
}

/**
 * Deletes at most `maxCount` reservations that expired at least `days` days ago, the oldest first. Returns their
 * number. They were never charged, so no ledger entry refers to them.
 */
export async function deleteLapsedReservations(
  db: Queryable,
  days: number,
  maxCount: number,
): Promise<number> {
  return execute(db, deletion(days, maxCount));
}

/** Looks up the operation for each row: a join would read all operations. */
const empty = (days: number, maxCount: number) => sql`
UPDATE sign_request SET user_sign_message = '' WHERE ctid = ANY(ARRAY(
  SELECT r.ctid FROM sign_request r
  WHERE r.status IN ('completed', 'failed') AND octet_length(r.user_sign_message) > 0
    AND r.updated_at <= statement_timestamp() - ${days} * interval '1 day'
    AND coalesce((SELECT o.state IN ('landed', 'failed') FROM chain_operation o
                  WHERE o.kind = 'sign' AND o.subject_id = r.id), true)
  ORDER BY r.updated_at LIMIT ${maxCount} FOR UPDATE SKIP LOCKED
)) RETURNING id`;

const deletion = (days: number, maxCount: number) => sql`
DELETE FROM sign_request WHERE ctid = ANY(ARRAY(
  SELECT ctid FROM sign_request
  WHERE failure_reason = 'RESERVATION_EXPIRED' AND user_sign_message IS NULL
    AND updated_at <= statement_timestamp() - ${days} * interval '1 day'
  ORDER BY updated_at LIMIT ${maxCount} FOR UPDATE SKIP LOCKED
)) RETURNING id`;
