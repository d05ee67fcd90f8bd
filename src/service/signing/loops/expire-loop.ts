import sql from "sql-template-tag";
import { budgetReturn } from "../../access/allowances/budgets.ts";
import { auditInsert, SYSTEM_ORIGIN } from "../../audit/audit-event.ts";
import { postings } from "../../ledger/postings.ts";
import type { Signals } from "../../platform/coordination/signals.ts";
import { topics } from "../../platform/coordination/topics.ts";
import { type BackgroundLoop, createBackgroundLoop } from "../../platform/lifecycle/background-loop.ts";
import type { Clock } from "../../platform/lifecycle/clock.ts";
import { number, text } from "../../platform/store/columns.ts";
import { type Queryable, readRows } from "../../platform/store/database.ts";
import type { Log } from "../../platform/telemetry/logger.ts";
import { presignMoves } from "../../presigns/presign-moves.ts";
import { signEventInsert } from "../sign-event.ts";
import type { SignObserver } from "../sign-operation.ts";

/**
 * Ends expired reservations of all networks, including those that are no longer served: prepared -> failed, with the
 * price released and the presign ready again. After a start, a failed pass or a long pause, the reservations made
 * before it do not count against their projects, whose halves the service may have been unable to take. Those of frozen
 * users count: a project that freezes a user decides so itself, and could otherwise hold presigns at no cost.
 */
export function createExpireLoop(deps: ExpireLoopDeps): BackgroundLoop {
  const { database, signals, clock, log, intervalMs = DEFAULT_INTERVAL_MS, observerOf } = deps;
  let sound: { readonly since: string; readonly untilMs: number } | undefined;
  /** Returns the time since when every pass has succeeded, as the database writes it: to the microsecond. */
  const soundSince = async (): Promise<string> => {
    if (sound !== undefined && sound.untilMs >= clock.now()) return sound.since;
    const [row] = await readRows(database, sql`SELECT clock_timestamp()::text AS now`, { now: text });
    if (row === undefined) throw new Error("the database does not say what time it is");
    return row.now;
  };
  return createBackgroundLoop({
    name: "reservation expiry",
    intervalMs,
    clock,
    log,
    async pass() {
      const since = await soundSince();
      // Unless the pass succeeds.
      sound = undefined;
      const [next] = await readRows(database, NEXT_EXPIRY, { inMs: number });
      const isDue = next !== undefined && next.inMs <= 0;
      const networks = isDue ? await expireReservations(database, signals, PASS_MAX_COUNT, since) : [];
      sound = { since, untilMs: clock.now() + LONGEST_PAUSE_MS };
      for (const network of networks) observerOf?.(network)?.failed("RESERVATION_EXPIRED");
      if (isDue) return networks.length === PASS_MAX_COUNT;
      const longestMs = REST_INTERVALS * intervalMs;
      return { restMs: next === undefined ? longestMs : Math.min(next.inMs, longestMs) };
    },
  });
}

export interface ExpireLoopDeps {
  readonly database: Queryable;
  readonly signals: Signals;
  readonly clock: Clock;
  readonly log: Log;
  /** Default 1 s. */
  readonly intervalMs?: number;
  /** The observer of a network; undefined for a network that is not open here. Default: none. */
  readonly observerOf?: ((network: string) => SignObserver | undefined) | undefined;
}

const DEFAULT_INTERVAL_MS = 1_000;
/** In intervals: the longest rest. A reservation that is made in it and expires before its end waits for that end. */
const REST_INTERVALS = 5;
/** The longest time between two passes of a service that is not down. */
const LONGEST_PAUSE_MS = 10_000;
/** The maximum number in one pass. The loop then checks whether to stop. */
const PASS_MAX_COUNT = 100;

/**
 * Ends at most `maxCount` reservations. Returns the network of each. Those made before `soundSince` do not count
 * against their projects. Default: all count.
 */
export async function expireReservations(
  db: Queryable,
  signals: Signals,
  maxCount: number,
  soundSince: string | null = null,
): Promise<string[]> {
  const networks: string[] = [];
  while (networks.length < maxCount) {
    const [expired] = await readRows(db, expireOne(soundSince), { id: text, network: text });
    if (expired === undefined) break;
    networks.push(expired.network);
    signals.notify(topics.sign(expired.id));
    signals.notify(topics.presignReady(expired.network));
  }
  return networks;
}

const NEXT_EXPIRY = sql`
SELECT (extract(epoch FROM expires_at - statement_timestamp()) * 1000)::float8 AS "inMs"
FROM sign_request WHERE status = 'prepared' ORDER BY expires_at LIMIT 1`;

/** Ends one reservation. More than one in a statement could make two replicas wait for each other's projects. */
const expireOne = (soundSince: string | null) => sql`
WITH reservation AS (
  SELECT r.id, r.project_id, r.presign_id, r.price_micro_usd, r.allowance_id, r.allowance_slot,
         coalesce(r.created_at < ${soundSince}::timestamptz, false) AS is_excused
  FROM sign_request r
  WHERE r.status = 'prepared' AND r.expires_at <= statement_timestamp()
  ORDER BY r.expires_at LIMIT 1 FOR UPDATE SKIP LOCKED
), ${postings.lapse(sql`reservation`)}, ${budgetReturn(sql`reservation`, sql`posting_release`)}, failed AS (
  UPDATE sign_request r SET status = 'failed', failure_reason = 'RESERVATION_EXPIRED',
    failure_message = 'the reservation expired before the user''s half was submitted', updated_at = now()
  FROM reservation s JOIN posting_release USING (id) WHERE r.id = s.id
  RETURNING r.id, r.project_id, r.network, r.presign_id, r.dwallet_id, r.failure_reason
), returned AS (${presignMoves.release(sql`failed`)}
), noted AS (${signEventInsert("sign.failed", sql`failed`)}
), audited AS (${auditInsert("sign.expire", sql`failed`, SYSTEM_ORIGIN)})
SELECT id, network FROM failed`;
