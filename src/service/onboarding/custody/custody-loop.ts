import sql from "sql-template-tag";
import { operationInsert } from "../../chain/operation.ts";
import type { NetworkReader } from "../../chain/reader.ts";
import { idleRestMs, type Signals } from "../../platform/coordination/signals.ts";
import {
  type BackgroundLoop,
  createBackgroundLoop,
  type PassResult,
} from "../../platform/lifecycle/background-loop.ts";
import type { Clock } from "../../platform/lifecycle/clock.ts";
import { oneOf, text } from "../../platform/store/columns.ts";
import { type Database, newId, type Queryable, readRows } from "../../platform/store/database.ts";
import type { Log } from "../../platform/telemetry/logger.ts";
import { CONSENT_PRIORITY } from "./consent-operation.ts";
import { type Held, markDWalletHeld, markDWalletLeft, noteLeftVersion, readHeld } from "./custody-state.ts";

/**
 * Compares the dWallets of a network with the Treasury, a few in each pass, from the newest to the oldest, and then
 * starts over. On the embedded database it rests before that, unless the round found a change. Thus the service detects
 * an exit that bypassed it, a release by the administrator, and a capability that came back. A sign request detects a missing capability sooner: the Treasury refuses it, and the service refunds it.
 */
export function createCustodyLoop(options: CustodyLoopOptions): BackgroundLoop {
  const { database, network, treasuryId, reader, signals, clock, log } = options;
  const { intervalMs = DEFAULT_INTERVAL_MS } = options;
  let before = AFTER_ALL;
  let isChanged = false;
  return createBackgroundLoop({ name: "custody", intervalMs, clock, log, pass });

  async function pass(): Promise<PassResult> {
    const rows = await readRows(database, pageBefore(network, before), {
      id: text,
      dwalletId: text,
      state: oneOf("Active", "Left"),
    });
    const held = await readHeld(
      reader,
      treasuryId,
      rows.map(({ dwalletId }) => dwalletId),
    );
    for (const row of rows) {
      const found = held.get(row.dwalletId);
      if (found !== undefined) await compare(row, found);
    }
    before = rows.at(PAGE_COUNT - 1)?.id ?? AFTER_ALL;
    if (before !== AFTER_ALL) return false;
    const restMs = isChanged ? intervalMs : idleRestMs(signals, intervalMs);
    isChanged = false;
    return { restMs };
  }

  async function compare({ id, dwalletId, state }: CheckedDWallet, { isHeld, version }: Held): Promise<void> {
    if (state === "Active") {
      if (!isHeld && (await markDWalletLeft(database, id, { version })))
        tell(dwalletId, "a dWallet has left");
    } else if (!isHeld) await noteLeftVersion(database, id, version);
    else if (await markDWalletHeld(database, id, version)) tell(dwalletId, "a dWallet came back");
  }

  function tell(dwalletId: string, change: string): void {
    isChanged = true;
    log.warn({ dwalletId }, change);
  }
}

interface CheckedDWallet {
  readonly id: string;
  readonly dwalletId: string;
  readonly state: "Active" | "Left";
}

export interface CustodyLoopOptions {
  readonly database: Database;
  readonly network: string;
  readonly treasuryId: string;
  readonly reader: Pick<NetworkReader, "getObjects" | "ownedObjects">;
  readonly signals: Signals;
  readonly clock: Clock;
  readonly log: Log;
  /** Default 5 s: two reads of the fullnode for 24 dWallets. */
  readonly intervalMs?: number | undefined;
}

const DEFAULT_INTERVAL_MS = 5_000;
/** The most dWallets that fit into one read of the fullnode, with their entries and the Treasury. */
const PAGE_COUNT = 24;
/** Sorts after every row's id. */
const AFTER_ALL = "ffffffff-ffff-ffff-ffff-ffffffffffff";

const pageBefore = (network: string, before: string) => sql`
SELECT id, object_id AS "dwalletId", state FROM dwallet
WHERE network = ${network} AND state IN ('Active', 'Left') AND object_id IS NOT NULL AND id < ${before}::uuid
ORDER BY id DESC LIMIT ${PAGE_COUNT}`;

/**
 * Puts the network's oldest exit whose dWallet has no open sign request into the outbox. An exit that has waited longer
 * than `settleMaxMs` goes regardless of open requests. Returns whether it queued one.
 */
export async function queueExit(
  db: Queryable,
  network: string,
  settleMaxMs: number = SETTLE_MAX_MS,
): Promise<boolean> {
  const [queued] = await readRows(db, queueSettled(network, settleMaxMs), { id: text });
  return queued !== undefined;
}

/**
 * The longest wait for a dWallet's sign requests. Then the exit goes to the chain anyway. A request that is not on the
 * chain by then fails there and is refunded. A request that is on the chain ends without the capability.
 */
const SETTLE_MAX_MS = 600_000;

const queueSettled = (network: string, settleMaxMs: number) => sql`
WITH settled AS (
  SELECT c.id FROM treasury_consent c
  WHERE c.network = ${network} AND c.state = 'settling'
    AND (c.created_at < now() - ${settleMaxMs}::float8 * interval '1 millisecond' OR NOT EXISTS (
      SELECT 1 FROM sign_request r
      WHERE r.dwallet_id = c.dwallet_id AND r.status IN ('prepared', 'queued', 'submitted')))
  ORDER BY c.id LIMIT 1 FOR UPDATE OF c SKIP LOCKED
), queued AS (
  UPDATE treasury_consent c SET state = 'queued', updated_at = now() FROM settled s WHERE c.id = s.id
  RETURNING c.id, c.network
), asked AS (
  SELECT ${newId()}::uuid AS operation_id, network, id AS subject_id FROM queued
), operation AS (${operationInsert({ kind: "consent", priority: CONSENT_PRIORITY }, sql`asked`)})
SELECT id FROM queued`;
