import sql from "sql-template-tag";
import type { Queryable } from "../store/database.ts";
import { execute } from "../store/statements.ts";

/**
 * Empties the user's half of at most `maxCount` requests that ended `days` days ago or earlier, the oldest first, and
 * returns how many. An empty half still says that the request was submitted and charged. A request whose operation is
 * not over keeps its half, as the submitter compares it with what is on the chain.
 */
export async function emptyRequests(db: Queryable, days: number, maxCount: number): Promise<number> {
  return execute(db, empty(days, maxCount));
}

/**
 * Deletes at most `maxCount` reservations that expired `days` days ago or earlier, the oldest first, and returns how
 * many. They were never charged, so that no ledger entry names them.
 */
export async function deleteLapsedReservations(
  db: Queryable,
  days: number,
  maxCount: number,
): Promise<number> {
  return execute(db, deletion(days, maxCount));
}

/** The operation is looked up row by row: a join would read all operations. */
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
