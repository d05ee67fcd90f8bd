import sql from "sql-template-tag";
import { type BackgroundLoop, createBackgroundLoop } from "../lifecycle/background-loop.ts";
import type { Clock } from "../lifecycle/clock.ts";
import type { Queryable } from "../store/database.ts";
import { execute } from "../store/statements.ts";
import type { Log } from "../telemetry/log.ts";

/**
 * Deletes at most `maxCount` keys. Returns their number. Skips a key that a call is taking over.
 *
 * Selects rows by their ctid and by the statement's own time. An index cannot be searched by clock_timestamp(), which
 * may change from row to row, and a join by the key would read all keys of the day.
 */
export function sweepKeys(db: Queryable, maxCount: number): Promise<number> {
  return execute(
    db,
    sql`DELETE FROM idempotency_key WHERE ctid = ANY(ARRAY(
          SELECT ctid FROM idempotency_key WHERE expires_at <= statement_timestamp()
          ORDER BY expires_at LIMIT ${maxCount} FOR UPDATE SKIP LOCKED
        )) RETURNING key`,
  );
}

export interface KeySweepDeps {
  readonly database: Queryable;
  readonly clock: Clock;
  readonly log: Pick<Log, "error">;
  /** Default 60 s. */
  readonly intervalMs?: number;
}

const DEFAULT_INTERVAL_MS = 60_000;
/** The maximum number in one pass. The loop then checks whether to stop. */
const PASS_MAX_COUNT = 1_000;

/** Deletes expired idempotency keys. A key stops counting when it expires, not when it is deleted. */
export function createKeySweep({ database, clock, log, intervalMs }: KeySweepDeps): BackgroundLoop {
  return createBackgroundLoop({
    name: "idempotency keys",
    intervalMs: intervalMs ?? DEFAULT_INTERVAL_MS,
    clock,
    log,
    async pass() {
      return (await sweepKeys(database, PASS_MAX_COUNT)) === PASS_MAX_COUNT;
    },
  });
}
