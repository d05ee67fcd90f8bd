import sql from "sql-template-tag";
import { keysToNotice } from "../access/keys/expiring-keys.ts";
import type { Signals } from "../platform/coordination/signals.ts";
import { type BackgroundLoop, createBackgroundLoop } from "../platform/lifecycle/background-loop.ts";
import type { Clock } from "../platform/lifecycle/clock.ts";
import { text } from "../platform/store/columns.ts";
import { type Queryable, readRows } from "../platform/store/database.ts";
import type { Log } from "../platform/telemetry/logger.ts";
import { announceEvents, eventInsert } from "./event.ts";

/**
 * Creates the loop that tells projects which of their API keys expire soon. Any number of processes may run it at once,
 * because each takes different keys.
 */
export function createExpiryNotices(deps: ExpiryNoticesDeps): BackgroundLoop {
  const { database, signals, clock, log, intervalMs = DEFAULT_INTERVAL_MS } = deps;
  return createBackgroundLoop({
    name: "expiring keys",
    intervalMs,
    clock,
    log,
    async pass() {
      const projectIds = await tellExpiringKeys(database, NOTICED_BATCH_COUNT);
      for (const projectId of new Set(projectIds)) announceEvents(signals, projectId);
      return projectIds.length < NOTICED_BATCH_COUNT && { restMs: REST_INTERVALS * intervalMs };
    },
  });
}

/** Dependencies of {@link createExpiryNotices}. */
export interface ExpiryNoticesDeps {
  readonly database: Queryable;
  readonly signals: Signals;
  readonly clock: Clock;
  readonly log: Log;
  /** Default 1 s. */
  readonly intervalMs?: number;
}

const DEFAULT_INTERVAL_MS = 1_000;
/** In intervals: the pause after a pass that left no key. A notice may be ten minutes late. */
const REST_INTERVALS = 600;
/** The maximum number of keys in one statement. */
export const NOTICED_BATCH_COUNT = 100;

/** Writes an event for up to `maxCount` keys that expire soon. Returns the project of each. */
export async function tellExpiringKeys(db: Queryable, maxCount: number): Promise<string[]> {
  const rows = await readRows(
    db,
    sql`
WITH ${keysToNotice(maxCount)}
${eventInsert(
  "key.expiring",
  sql`(
  SELECT project_id, id::text AS subject, NULL::text AS user_reference, jsonb_build_object('api_key_id', id::text,
    'name', name, 'prefix', prefix,
    'expire_time', to_char(expires_at AT TIME ZONE 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) AS data
  FROM noticed) AS expiring`,
)} RETURNING project_id AS "projectId"`,
    { projectId: text },
  );
  return rows.map(({ projectId }) => projectId);
}
