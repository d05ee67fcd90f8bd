import sql from "sql-template-tag";
import { deleteAllowances } from "../access/allowances/allowances.ts";
import { type BackgroundLoop, createBackgroundLoop } from "../platform/lifecycle/background-loop.ts";
import type { Clock } from "../platform/lifecycle/clock.ts";
import { execute, type Queryable } from "../platform/store/database.ts";
import type { Log } from "../platform/telemetry/logger.ts";

/**
 * Creates the loop that deletes sessions a day after their expiry, with their allowances, and the rows of removed
 * identity providers whose sessions are gone. Any number of processes may run it at once, because each takes different
 * rows.
 */
export function createSessionSweep({ database, clock, log, intervalMs }: SessionSweepDeps): BackgroundLoop {
  return createBackgroundLoop({
    name: "sessions",
    intervalMs: intervalMs ?? DEFAULT_INTERVAL_MS,
    clock,
    log,
    async pass() {
      if ((await sweepSessions(database, SWEEP_BATCH_COUNT)) === SWEEP_BATCH_COUNT) return true;
      await sweepRemovedProviders(database);
      return false;
    },
  });
}

/** Dependencies of {@link createSessionSweep}. */
export interface SessionSweepDeps {
  readonly database: Queryable;
  readonly clock: Clock;
  readonly log: Log;
  /** Default 60 s. */
  readonly intervalMs?: number;
}

const DEFAULT_INTERVAL_MS = 60_000;
/** The maximum number of sessions in one statement. The loop then checks whether to stop. */
export const SWEEP_BATCH_COUNT = 1_000;

/**
 * Deletes at most `maxCount` sessions that expired at least a day ago, the oldest first, with their allowances. Returns
 * the number of sessions. Until then, a caller learns that its session has expired. A session that gave a half which is
 * held stays until the half is released or ends, because the release asks whether it was revoked.
 */
export function sweepSessions(db: Queryable, maxCount: number): Promise<number> {
  return execute(
    db,
    sql`WITH gone AS (
          DELETE FROM session WHERE ctid = ANY(ARRAY(
            SELECT ctid FROM session s WHERE expires_at <= statement_timestamp() - interval '1 day'
              AND NOT EXISTS (SELECT FROM sign_request r
                WHERE r.project_id = s.project_id AND r.status = 'queued'
                  AND r.hold_state IN ('sending', 'verifying', 'held') AND r.held_by = 'session:' || s.id)
            ORDER BY expires_at LIMIT ${maxCount} FOR UPDATE SKIP LOCKED
          )) RETURNING id
        ), allowed AS (${deleteAllowances(sql`gone`)})
        SELECT id FROM gone`,
  );
}

/**
 * Deletes the rows of removed identity providers that no session needs any more. Keeps that of a provider whose removal
 * was interrupted, because its tokens would be accepted again. Returns their number.
 */
export function sweepRemovedProviders(db: Queryable): Promise<number> {
  return execute(
    db,
    sql`DELETE FROM removed_identity_provider r WHERE removed_at <= statement_timestamp() - interval '2 days'
          AND NOT EXISTS (SELECT FROM session s WHERE s.identity_provider_id = r.id)
          AND NOT EXISTS (SELECT FROM identity_provider i WHERE i.id = r.id) RETURNING id`,
  );
}
