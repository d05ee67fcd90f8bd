import sql from "sql-template-tag";
import { type BackgroundLoop, createBackgroundLoop } from "../platform/lifecycle/background-loop.ts";
import type { Clock } from "../platform/lifecycle/clock.ts";
import { execute, type Queryable } from "../platform/store/database.ts";
import type { Log } from "../platform/telemetry/logger.ts";

/** Creates the loop that deletes old deliveries, and those of deleted endpoints. Any number of processes may run it. */
export function createDeliveryRetention(deps: DeliveryRetentionDeps): BackgroundLoop {
  const { database, clock, log, intervalMs = DEFAULT_INTERVAL_MS } = deps;
  return createBackgroundLoop({
    name: "webhook retention",
    intervalMs,
    clock,
    log,
    async pass() {
      const deletedCount = await deleteOldDeliveries(database, DELIVERY_DAYS, BATCH_COUNT);
      return deletedCount === 0 && { restMs: REST_INTERVALS * intervalMs };
    },
  });
}

/** Dependencies of {@link createDeliveryRetention}. */
export interface DeliveryRetentionDeps {
  readonly database: Queryable;
  readonly clock: Clock;
  readonly log: Log;
  /** Default 1 s. */
  readonly intervalMs?: number;
}

/** How long ended deliveries are kept. */
const DELIVERY_DAYS = 30;
const DEFAULT_INTERVAL_MS = 1_000;
/** In intervals: the pause after a pass that found nothing. */
const REST_INTERVALS = 60;
/** The number of deliveries in one statement. */
const BATCH_COUNT = 1_000;

/**
 * Deletes at most `maxCount` deliveries that ended at least `days` days ago, or at most as many of deleted endpoints, and
 * the endpoints that have none left. Returns the number of deleted rows.
 */
export async function deleteOldDeliveries(db: Queryable, days: number, maxCount: number): Promise<number> {
  const oldCount = await execute(
    db,
    sql`DELETE FROM webhook_delivery WHERE id IN (
          SELECT id FROM webhook_delivery
          WHERE state <> 'pending' AND ended_at <= statement_timestamp() - ${days}::integer * interval '1 day'
          ORDER BY ended_at LIMIT ${maxCount} FOR UPDATE SKIP LOCKED
        ) RETURNING id`,
  );
  if (oldCount > 0) return oldCount;
  const orphanCount = await execute(
    db,
    sql`DELETE FROM webhook_delivery WHERE id IN (
          SELECT d.id FROM webhook_endpoint e JOIN webhook_delivery d ON d.endpoint_id = e.id
          WHERE e.deleted_at IS NOT NULL LIMIT ${maxCount} FOR UPDATE OF d SKIP LOCKED
        ) RETURNING id`,
  );
  if (orphanCount > 0) return orphanCount;
  return execute(
    db,
    sql`DELETE FROM webhook_endpoint e WHERE e.deleted_at IS NOT NULL
          AND NOT EXISTS (SELECT FROM webhook_delivery d WHERE d.endpoint_id = e.id) RETURNING e.id`,
  );
}
