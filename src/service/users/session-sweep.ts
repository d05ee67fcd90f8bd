import sql from "sql-template-tag";
import { deleteAllowances } from "../access/allowances.ts";
import { type BackgroundLoop, createBackgroundLoop } from "../platform/lifecycle/background-loop.ts";
import type { Clock } from "../platform/lifecycle/clock.ts";
import { execute, type Queryable } from "../platform/store/database.ts";
import type { Log } from "../platform/telemetry/logger.ts";

/**
 * Creates the loop that deletes sessions a day after their expiry, with their allowances. Any number of processes may run
 * it at once, because each takes different rows.
 */
export function createSessionSweep({ database, clock, log, intervalMs }: SessionSweepDeps): BackgroundLoop {
  return createBackgroundLoop({
    name: "sessions",
    intervalMs: intervalMs ?? DEFAULT_INTERVAL_MS,
    clock,
    log,
    async pass() {
      return (await sweepSessions(database, SWEEP_BATCH_COUNT)) === SWEEP_BATCH_COUNT;
    },
  });
}

/** Dependencies of {@link createSessionSweep}. */
export interface SessionSweepDeps {
  readonly database: Queryable;
  readonly clock: Clock;
  readonly log: Pick<Log, "error">;
  /** Default 60 s. */
  readonly intervalMs?: number;
}

const DEFAULT_INTERVAL_MS = 60_000;
/** The maximum number of sessions in one statement. The loop then checks whether to stop. */
export const SWEEP_BATCH_COUNT = 1_000;

/**
 * Deletes at most `maxCount` sessions that expired at least a day ago, the oldest first, with their allowances. Returns
 * the number of sessions. Until then, a caller learns that its session has expired.
 */
export function sweepSessions(db: Queryable, maxCount: number): Promise<number> {
  return execute(
    db,
    sql`WITH gone AS (
          DELETE FROM session WHERE ctid = ANY(ARRAY(
            SELECT ctid FROM session WHERE expires_at <= statement_timestamp() - interval '1 day'
            ORDER BY expires_at LIMIT ${maxCount} FOR UPDATE SKIP LOCKED
          )) RETURNING id
        ), allowed AS (${deleteAllowances(sql`gone`)})
        SELECT id FROM gone`,
  );
}
