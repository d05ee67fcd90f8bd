import sql from "sql-template-tag";
import type { NetworkReader } from "../../chain/reader.ts";
import { type BackgroundLoop, createBackgroundLoop } from "../../lifecycle/background-loop.ts";
import type { Clock } from "../../lifecycle/clock.ts";
import { oneOf, text } from "../../store/columns.ts";
import type { Queryable } from "../../store/database.ts";
import { readRows } from "../../store/statements.ts";
import type { Log } from "../../telemetry/log.ts";
import { markDWalletHeld, markDWalletLeft, noteLeftVersion } from "./mark-left.ts";
import { type Held, readHeld } from "./read-custody.ts";

/**
 * Compares the dWallets of a network with the Treasury, a few in each pass, from the newest to the oldest, and then
 * starts over. Thus the service detects an exit that bypassed it, a release by the administrator, and a capability that
 * came back. A sign request detects a missing capability sooner: the Treasury refuses it, and the service refunds it.
 */
export function createCustodyLoop(options: CustodyLoopOptions): BackgroundLoop {
  const { database, network, treasuryId, reader, clock, log, intervalMs = DEFAULT_INTERVAL_MS } = options;
  let before = AFTER_ALL;
  return createBackgroundLoop({ name: "custody", intervalMs, clock, log, pass });

  async function pass(): Promise<false> {
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
    return false;
  }

  async function compare({ id, dwalletId, state }: CheckedDWallet, { isHeld, version }: Held): Promise<void> {
    if (state === "Active") {
      if (!isHeld && (await markDWalletLeft(database, id, { version })))
        log.warn({ dwalletId }, "a dWallet has left");
    } else if (!isHeld) await noteLeftVersion(database, id, version);
    else if (await markDWalletHeld(database, id, version)) log.warn({ dwalletId }, "a dWallet came back");
  }
}

interface CheckedDWallet {
  readonly id: string;
  readonly dwalletId: string;
  readonly state: "Active" | "Left";
}

export interface CustodyLoopOptions {
  readonly database: Queryable;
  readonly network: string;
  readonly treasuryId: string;
  readonly reader: Pick<NetworkReader, "getObjects" | "ownedObjects">;
  readonly clock: Clock;
  readonly log: Pick<Log, "warn" | "error">;
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
