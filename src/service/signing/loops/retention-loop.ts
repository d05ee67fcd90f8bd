import sql from "sql-template-tag";
import { emptyTransactions } from "../../chain/submit/outbox.ts";
import { type BackgroundLoop, createBackgroundLoop } from "../../platform/lifecycle/background-loop.ts";
import type { Clock } from "../../platform/lifecycle/clock.ts";
import { execute, type Queryable } from "../../platform/store/database.ts";
import type { Log } from "../../platform/telemetry/logger.ts";

/**
 * Creates the loop that empties large columns of old rows. Any number of processes may run it at once, because each
 * takes different rows.
 */
export function createRetentionLoop(deps: RetentionLoopDeps): BackgroundLoop {
  const { database, retentionDays, clock, log, onRetained, intervalMs = DEFAULT_INTERVAL_MS } = deps;
  return createBackgroundLoop({
    name: "retention",
    intervalMs,
    clock,
    log,
    async pass(signal) {
      const rest = { restMs: REST_INTERVALS * intervalMs };
      if (retentionDays === 0) return rest;
      let retainedCount = 0;
      const failures: unknown[] = [];
      for (const kind of RETAINED_KINDS) {
        if (signal.aborted) return false;
        try {
          const count = await WORK[kind](database, retentionDays, RETENTION_BATCH_COUNT);
          retainedCount += count;
          if (count > 0) onRetained?.(kind, count);
        } catch (cause) {
          // Gives the other kinds their turn.
          failures.push(cause);
        }
      }
      if (failures.length > 0) throw failures[0];
      return retainedCount === 0 && rest;
    },
  });
}

/** The kinds of data that retention removes: users' halves, bytes of transactions, and expired reservations. */
export const RETAINED_KINDS = ["user_sign_message", "chain_transaction", "expired_reservation"] as const;

/** One of {@link RETAINED_KINDS}. */
export type RetainedKind = (typeof RETAINED_KINDS)[number];

export interface RetentionLoopDeps {
  readonly database: Queryable;
  /** The number of days after which the large columns of ended rows are emptied; 0 means never. */
  readonly retentionDays: number;
  readonly clock: Clock;
  readonly log: Log;
  /** Called with the result of each statement. Default: none. */
  readonly onRetained?: ((what: RetainedKind, count: number) => void) | undefined;
  /** Default 1 s. */
  readonly intervalMs?: number;
}

const DEFAULT_INTERVAL_MS = 1_000;
/** In intervals: the pause after a pass that found nothing. Rows become old after days. */
const REST_INTERVALS = 60;
/** The number of rows per statement. A pass runs one statement per kind, so that a large backlog shrinks slowly. */
export const RETENTION_BATCH_COUNT = 500;

const WORK = {
  user_sign_message: emptyRequests,
  chain_transaction: emptyTransactions,
  expired_reservation: deleteLapsedReservations,
} as const satisfies Record<RetainedKind, (db: Queryable, days: number, maxCount: number) => Promise<number>>;

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
                  WHERE o.kind = CASE WHEN r.hold_state IS NULL THEN 'sign' ELSE 'partial_sign' END
                    AND o.subject_id = r.id), true)
  ORDER BY r.updated_at LIMIT ${maxCount} FOR UPDATE SKIP LOCKED
)) RETURNING id`;

const deletion = (days: number, maxCount: number) => sql`
DELETE FROM sign_request WHERE ctid = ANY(ARRAY(
  SELECT ctid FROM sign_request
  WHERE failure_reason = 'RESERVATION_EXPIRED' AND user_sign_message IS NULL
    AND updated_at <= statement_timestamp() - ${days} * interval '1 day'
  ORDER BY updated_at LIMIT ${maxCount} FOR UPDATE SKIP LOCKED
)) RETURNING id`;
