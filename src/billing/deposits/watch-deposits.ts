import sql from "sql-template-tag";
import { type BackgroundLoop, createBackgroundLoop } from "../../lifecycle/background-loop.ts";
import type { Clock } from "../../lifecycle/clock.ts";
import { text, time } from "../../store/columns.ts";
import type { Queryable } from "../../store/database.ts";
import { execute, readRows } from "../../store/statements.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Deposits } from "./deposits.ts";
import type { WatchedAddress } from "./record-payment.ts";
import { scanAddress } from "./scan-address.ts";

/**
 * Scans all deposit addresses in turn, on any number of replicas. The database holds the schedule, so it continues
 * after a restart. A replica takes over an address whose scan was interrupted a minute later.
 */
export function createDepositWatcher(
  deposits: Deposits,
  { pollMs, clock, log }: WatchOptions,
): BackgroundLoop {
  const { database, network } = deposits;
  return createBackgroundLoop({
    name: "deposits",
    intervalMs: Math.min(pollMs, 1_000),
    clock,
    log,
    async pass(signal) {
      const looks = await Promise.allSettled(Array.from({ length: LOOKS_AT_ONCE }, () => lookInTurn(signal)));
      for (const look of looks) if (look.status === "rejected") throw look.reason;
      return looks.some((look) => look.status === "fulfilled" && look.value);
    },
  });

  /** Scans one address after the other. Returns true if more may be due. */
  async function lookInTurn(signal: AbortSignal): Promise<boolean> {
    for (let count = 0; count < PASS_MAX_COUNT && !signal.aborted; count++) {
      const claimed = await claim(database, network);
      if (claimed === undefined) return false;
      const { creditedCount, foundCount, hasMore } = await scanAddress(deposits, claimed);
      if (creditedCount > 0) log.info({ projectId: claimed.projectId, creditedCount }, "deposits credited");
      await release(database, claimed, foundCount > 0, hasMore ? 0 : pollMs);
    }
    return true;
  }
}

/** Options of the deposit watcher. */
export interface WatchOptions {
  /** The interval between scans of an active address. */
  readonly pollMs: number;
  readonly clock: Clock;
  readonly log: Pick<Log, "info" | "error">;
}

/** Scans several addresses at a time, so that a slow answer for one does not delay the others. */
const LOOKS_AT_ONCE = 8;
/** The maximum number of addresses that each scanner takes in one pass. The loop then checks whether to stop. */
const PASS_MAX_COUNT = 50;
/** The time in which no other replica scans a claimed address. */
const LOOK_MS = 60_000;
/** How long an address counts as active after a caller requested it or a payment arrived. */
const IN_USE_MS = 3_600_000;
/** The factor by which a quiet address is scanned less often. */
const QUIET_FACTOR = 10;

interface Claimed extends WatchedAddress {
  /** The time to which the claim moved the next scan. */
  readonly dueAt: Date;
}

async function claim(db: Queryable, network: string): Promise<Claimed | undefined> {
  const [claimed] = await readRows(
    db,
    sql`UPDATE deposit_address SET due_at = now() + ${LOOK_MS} * interval '1 millisecond'
     WHERE address = (
       SELECT address FROM deposit_address WHERE network = ${network} AND due_at <= now()
       ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED
     ) RETURNING address, project_id AS "projectId", due_at AS "dueAt"`,
    { address: text, projectId: text, dueAt: time },
  );
  return claimed;
}

/** Leaves the schedule alone if a caller requested the address meanwhile: that scan is still due. */
async function release(
  db: Queryable,
  { address, dueAt }: Claimed,
  isBusy: boolean,
  pollMs: number,
): Promise<void> {
  await execute(
    db,
    sql`UPDATE deposit_address SET wanted_at = CASE WHEN ${isBusy} THEN now() ELSE wanted_at END,
       due_at = now() + ${pollMs} * interval '1 millisecond'
         * CASE WHEN ${isBusy} OR wanted_at > now() - ${IN_USE_MS} * interval '1 millisecond'
                THEN 1 ELSE ${QUIET_FACTOR}::int END
     WHERE address = ${address} AND due_at = ${dueAt}`,
  );
}
