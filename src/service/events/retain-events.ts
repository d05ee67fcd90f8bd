import sql from "sql-template-tag";
import { type BackgroundLoop, createBackgroundLoop } from "../platform/lifecycle/background-loop.ts";
import type { Clock } from "../platform/lifecycle/clock.ts";
import { execute, type Queryable } from "../platform/store/database.ts";
import type { Log } from "../platform/telemetry/logger.ts";

/**
 * Creates the loop that deletes events after {@link EVENT_DAYS} days. Any number of processes may run it at once, because
 * each takes different rows.
 */
export function createEventRetention(deps: EventRetentionDeps): BackgroundLoop {
  const { database, clock, log, intervalMs = DEFAULT_INTERVAL_MS } = deps;
  return createBackgroundLoop({
    name: "event retention",
    intervalMs,
    clock,
    log,
    async pass() {
      const deletedCount = await deleteOldEvents(database, EVENT_DAYS, RETAINED_BATCH_COUNT);
      return deletedCount === 0 && { restMs: REST_INTERVALS * intervalMs };
    },
  });
}

/** Dependencies of {@link createEventRetention}. */
export interface EventRetentionDeps {
  readonly database: Queryable;
  readonly clock: Clock;
  readonly log: Log;
  /** Default 1 s. */
  readonly intervalMs?: number;
}

/** How long events are kept. */
const EVENT_DAYS = 30;
const DEFAULT_INTERVAL_MS = 1_000;
/** In intervals: the pause after a pass that found nothing. Events become old after weeks. */
const REST_INTERVALS = 60;
/** The number of events in one statement. */
export const RETAINED_BATCH_COUNT = 1_000;

/**
 * Deletes events that are at least `days` days old, among the oldest `maxCount`. Returns their number. The heads of their
 * projects tell how far events are lost, so that no reader continues behind them unawares. A lost event without a number
 * takes one, because a reader that has read everything before it must notice too. Locks the heads in one order and after
 * the events; {@link ./number-events.ts} waits for no event.
 */
export function deleteOldEvents(db: Queryable, days: number, maxCount: number): Promise<number> {
  return execute(
    db,
    sql`
WITH oldest AS MATERIALIZED (
  SELECT id, created_at FROM event ORDER BY id LIMIT ${maxCount}
), taken AS MATERIALIZED (
  SELECT id FROM event WHERE id IN (
    SELECT id FROM oldest WHERE created_at <= statement_timestamp() - ${days}::integer * interval '1 day'
  ) FOR UPDATE SKIP LOCKED
), deleted AS (
  DELETE FROM event WHERE id IN (SELECT id FROM taken) RETURNING id, project_id, sequence
), lost AS MATERIALIZED (
  SELECT project_id, coalesce(max(sequence), 0) AS sequence, bool_or(sequence IS NULL) AS was_unnumbered
  FROM deleted GROUP BY project_id
), heads AS MATERIALIZED (
  SELECT project_id FROM event_head WHERE project_id IN (SELECT project_id FROM lost) ORDER BY project_id FOR UPDATE
), marked AS (
  UPDATE event_head h SET
    last_sequence = CASE WHEN l.was_unnumbered THEN h.last_sequence + 1 ELSE h.last_sequence END,
    lost_sequence = CASE WHEN l.was_unnumbered THEN h.last_sequence + 1
                         ELSE greatest(h.lost_sequence, l.sequence) END
  FROM lost l JOIN heads USING (project_id) WHERE h.project_id = l.project_id
)
SELECT id FROM deleted`,
  );
}
