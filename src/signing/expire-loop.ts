import { postings } from "../billing/postings.ts";
import { type BackgroundLoop, createBackgroundLoop } from "../coordination/background-loop.ts";
import type { Signals } from "../coordination/signals.ts";
import { topics } from "../coordination/topics.ts";
import { auditInsert, auditParameters, SYSTEM_ORIGIN } from "../store/audit.ts";
import type { Sql } from "../store/database.ts";
import type { SignObserver } from "./sign-observer.ts";

/** What the loop needs. */
export interface ExpireLoopDeps {
  readonly database: Sql;
  readonly signals: Pick<Signals, "notify">;
  readonly log: { error(fields: object, message: string): void };
  /** Default 1 s. */
  readonly intervalMs?: number;
  readonly observer?: SignObserver | undefined;
}

const DEFAULT_INTERVAL_MS = 1_000;
/** So many in one pass, then the loop looks whether it is to stop. */
const PASS_MAX_COUNT = 100;

/** Ends reservations whose time is over: prepared -> failed, the price released, the presign ready again. */
export function createExpireLoop(deps: ExpireLoopDeps): BackgroundLoop {
  const { database, signals, log, intervalMs, observer } = deps;
  return createBackgroundLoop({
    name: "reservation expiry",
    intervalMs: intervalMs ?? DEFAULT_INTERVAL_MS,
    log,
    async pass() {
      const count = await expireReservations(database, signals, PASS_MAX_COUNT);
      for (let at = 0; at < count; at++) observer?.failed("RESERVATION_EXPIRED");
      return count === PASS_MAX_COUNT;
    },
  });
}

/** Ends at most `maxCount` reservations and returns how many. */
export async function expireReservations(
  sql: Sql,
  signals: Pick<Signals, "notify">,
  maxCount: number,
): Promise<number> {
  for (let count = 0; count < maxCount; count++) {
    const [expired] = await sql.query<{ id: string; network: string }>(
      EXPIRE,
      auditParameters(SYSTEM_ORIGIN),
    );
    if (expired === undefined) return count;
    signals.notify(topics.sign(expired.id));
    signals.notify(topics.presignReady(expired.network));
  }
  return maxCount;
}

/** One at a time, so that no two sweepers ever wait for each other's projects. */
const EXPIRE = `
WITH reservation AS (
  SELECT id, project_id, presign_id, price_micro_usd FROM sign_request
  WHERE status = 'prepared' AND expires_at <= statement_timestamp()
  ORDER BY expires_at LIMIT 1 FOR UPDATE SKIP LOCKED
), ${postings.lapse("reservation")}, failed AS (
  UPDATE sign_request r SET status = 'failed', failure_reason = 'RESERVATION_EXPIRED',
    failure_message = 'the reservation expired before the user''s half was submitted', updated_at = now()
  FROM reservation s JOIN posting_release USING (id) WHERE r.id = s.id
  RETURNING r.id, r.project_id, r.network, r.presign_id
), returned AS (
  UPDATE presign p SET state = 'ready', updated_at = now() FROM failed f
  WHERE p.id = f.presign_id AND p.state = 'held'
), audited AS (${auditInsert("sign.expire", "failed", 1)})
SELECT id, network FROM failed`;
