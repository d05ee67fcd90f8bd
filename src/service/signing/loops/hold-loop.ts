import sql, { type Sql } from "sql-template-tag";
import { announceEvents } from "../../events/event.ts";
import { idleRestMs, type Signals } from "../../platform/coordination/signals.ts";
import { topics } from "../../platform/coordination/topics.ts";
import { type BackgroundLoop, createBackgroundLoop } from "../../platform/lifecycle/background-loop.ts";
import type { Clock } from "../../platform/lifecycle/clock.ts";
import { text } from "../../platform/store/columns.ts";
import { type Queryable, readRows } from "../../platform/store/database.ts";
import type { Log } from "../../platform/telemetry/logger.ts";
import { ENDED_HOLD, endHeld, isHeld } from "../holds/end-held.ts";
import type { SignObserver } from "../sign-operation.ts";

/**
 * Ends held halves of all networks that have expired, or whose dWallet leaves or has left: held -> failed, with the price
 * refunded without the price of the hold. Any number of processes may run it at once.
 */
export function createHoldLoop(deps: HoldLoopDeps): BackgroundLoop {
  const { database, signals, clock, log, observerOf, intervalMs = DEFAULT_INTERVAL_MS } = deps;
  return createBackgroundLoop({
    name: "holds",
    intervalMs,
    clock,
    log,
    async pass() {
      const ended = await endHolds(database, signals, PASS_MAX_COUNT);
      for (const { network, reason } of ended) observerOf?.(network)?.failed(reason);
      return ended.length < PASS_MAX_COUNT && { restMs: idleRestMs(signals, intervalMs) };
    },
  });
}

export interface HoldLoopDeps {
  readonly database: Queryable;
  readonly signals: Signals;
  readonly clock: Clock;
  readonly log: Log;
  /** Returns the observer of a network; undefined for one that is not open here. */
  readonly observerOf?: ((network: string) => SignObserver | undefined) | undefined;
  /** Default 1 s. */
  readonly intervalMs?: number | undefined;
}

const DEFAULT_INTERVAL_MS = 1_000;
/** The maximum number in one pass. The loop then checks whether to stop. */
const PASS_MAX_COUNT = 100;

/** Ends at most `maxCount` halves that are due. Returns the network of each, and why it ended. */
export async function endHolds(db: Queryable, signals: Signals, maxCount: number): Promise<EndedHold[]> {
  const all: EndedHold[] = [];
  for (const { id } of await readRows(db, dueHolds(maxCount), { id: text })) {
    const [ended] = await readRows(db, endOne(id), ENDED_HOLD);
    // Another call has ended or released it, or is doing so.
    if (ended === undefined) continue;
    signals.notify(topics.sign(ended.id));
    announceEvents(signals, ended.projectId);
    all.push(ended);
  }
  return all;
}

interface EndedHold {
  readonly network: string;
  /** The request's `failure_reason`. */
  readonly reason: string;
}

/** Finds halves that are due. Each part has an index, so halves that are not due are not read. */
export const dueHolds = (maxCount: number): Sql => sql`
SELECT id FROM (
  (SELECT r.id FROM sign_request r WHERE ${isHeld} AND r.hold_expires_at <= statement_timestamp()
   ORDER BY r.hold_expires_at LIMIT ${maxCount}::integer)
  UNION
  (SELECT r.id FROM dwallet d JOIN sign_request r ON r.project_id = d.project_id AND r.dwallet_id = d.id
   WHERE ${isHeld} AND d.state IN ('Leaving', 'Left') LIMIT ${maxCount}::integer)
) AS due LIMIT ${maxCount}::integer`;

/** Ends one half. More than one in a statement could make two replicas wait for each other's projects. */
const endOne = (id: string): Sql =>
  endHeld(
    sql`SELECT r.*, due.reason AS end_reason, due.message AS end_message
    FROM sign_request r JOIN dwallet d ON d.id = r.dwallet_id JOIN (VALUES
      (true, 'HOLD_EXPIRED', 'the hold expired before the half was released'),
      (false, 'DWALLET_LEFT', 'the dWallet leaves the service')
    ) AS due (is_expired, reason, message) ON due.is_expired = (r.hold_expires_at <= statement_timestamp())
    WHERE r.id = ${id} AND ${isHeld} AND (due.is_expired OR d.state IN ('Leaving', 'Left'))
    FOR UPDATE OF r SKIP LOCKED`,
    { action: "sign.expire-hold" },
  );
