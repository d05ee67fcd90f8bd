import sql from "sql-template-tag";
import { budgetReturn } from "../../access/allowances/budgets.ts";
import { auditInsert, SYSTEM_ORIGIN } from "../../audit/audit-event.ts";
import { postings } from "../../ledger/postings.ts";
import { queueExit } from "../../onboarding/custody/custody-loop.ts";
import { idleRestMs, type Signals } from "../../platform/coordination/signals.ts";
import { topics } from "../../platform/coordination/topics.ts";
import {
  type BackgroundLoop,
  createBackgroundLoop,
  type PassResult,
} from "../../platform/lifecycle/background-loop.ts";
import type { Clock } from "../../platform/lifecycle/clock.ts";
import { text } from "../../platform/store/columns.ts";
import { execute, type Queryable, readRows } from "../../platform/store/database.ts";
import type { Log } from "../../platform/telemetry/logger.ts";
import { presignMoves } from "../../presigns/presign-moves.ts";
import { signEventInsert } from "../sign-event.ts";

/**
 * Processes the exits of a network's dWallets: ends their open reservations, waits until their submitted requests have
 * ended, and then puts the owner's consent into the outbox. Every step is one statement.
 */
export function createExitLoop(options: ExitLoopOptions): BackgroundLoop {
  const { database, network, signals, clock, log } = options;
  const { intervalMs = DEFAULT_INTERVAL_MS, settleMaxMs } = options;
  return createBackgroundLoop({
    name: "exits",
    intervalMs,
    clock,
    log,
    wakeOn: (wake) => signals.subscribe(topics.leaving(network), wake),
    pass,
  });

  async function pass(): Promise<PassResult> {
    if ((await execute(database, anySettling(network))) === 0)
      return { restMs: idleRestMs(signals, intervalMs) };
    for (let count = 0; count < PASS_MAX_COUNT; count++) {
      const [ended] = await readRows(database, endReservation(network), { id: text });
      if (ended === undefined) break;
      signals.notify(topics.sign(ended.id));
      signals.notify(topics.presignReady(network));
    }
    const isQueued = await queueExit(database, network, settleMaxMs);
    if (isQueued) signals.notify(topics.outbox(network));
    return isQueued;
  }
}

export interface ExitLoopOptions {
  readonly database: Queryable;
  readonly network: string;
  readonly signals: Signals;
  readonly clock: Clock;
  readonly log: Log;
  /** Default 500 ms. */
  readonly intervalMs?: number | undefined;
  /** The longest wait for a dWallet's sign requests. Default: ten minutes. */
  readonly settleMaxMs?: number | undefined;
}

const DEFAULT_INTERVAL_MS = 500;
/** The maximum number of reservations that end in one pass. The loop then checks whether to stop. */
const PASS_MAX_COUNT = 100;

const anySettling = (network: string) =>
  sql`SELECT 1 AS found FROM treasury_consent WHERE network = ${network} AND state = 'settling' LIMIT 1`;

/**
 * Ends one reservation of a leaving dWallet. More than one in a statement could make two replicas wait for each other's
 * projects. Releases the credit, and returns the presign to the pool. The failure reason is that of an expired
 * reservation: neither is ever charged, and the unique index of presigns frees a presign only for this reason.
 */
const endReservation = (network: string) => sql`
WITH reservation AS (
  SELECT r.id, r.project_id, r.presign_id, r.price_micro_usd, r.allowance_id, r.allowance_slot
  FROM treasury_consent c JOIN sign_request r ON r.dwallet_id = c.dwallet_id
  WHERE c.network = ${network} AND c.state = 'settling' AND r.status = 'prepared'
  LIMIT 1 FOR UPDATE OF r SKIP LOCKED
), ${postings.release(sql`reservation`)}, ${budgetReturn(sql`reservation`, sql`posting_release`)}, failed AS (
  UPDATE sign_request r SET status = 'failed', failure_reason = 'RESERVATION_EXPIRED',
    failure_message = 'the dWallet is leaving the service', updated_at = now()
  FROM reservation s JOIN posting_release USING (id) WHERE r.id = s.id
  RETURNING r.id, r.project_id, r.presign_id, r.dwallet_id, r.failure_reason
), returned AS (${presignMoves.release(sql`failed`)}
), noted AS (${signEventInsert("sign.failed", sql`failed`)}
), audited AS (${auditInsert("sign.expire", sql`failed`, SYSTEM_ORIGIN)})
SELECT id FROM failed`;
