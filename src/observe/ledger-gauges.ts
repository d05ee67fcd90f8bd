import sql, { raw } from "sql-template-tag";
import { storeVerification } from "../ledger/last-verification.ts";
import { DIFFERENCE_KINDS, verifyLedger } from "../ledger/verify-ledger.ts";
import { boolean } from "../store/columns.ts";
import type { Database } from "../store/database.ts";
import { LOCK_KEYS } from "../store/lock-keys.ts";
import { execute, readRows } from "../store/statements.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";

/**
 * Registers the gauges and returns a function that verifies the ledger, stores the result and sets them. It does
 * nothing while another replica verifies. It uses no parallel workers of the database, which stay free for callers.
 */
export function createLedgerGauges({ database, metrics, log }: LedgerGaugesOptions): () => Promise<void> {
  const differences = metrics.gauge(
    "ledger_differences",
    "Differences in the last ledger verification; must be 0.",
    ["kind"],
  );
  const verifiedAt = metrics.gauge(
    "ledger_verified_timestamp_seconds",
    "Time of this replica's last ledger verification; 0 if it never verified.",
  );
  return async () => {
    const found = await database.transaction(async (db) => {
      const [lock] = await readRows(
        db,
        sql`SELECT pg_try_advisory_xact_lock(${LOCK_KEYS.ledgerVerification}) AS "isOurs"`,
        { isOurs: boolean },
      );
      if (!lock?.isOurs) return undefined;
      await execute(db, raw(`SET LOCAL statement_timeout = ${STATEMENT_TIMEOUT_MS}`));
      await execute(db, sql`SET LOCAL max_parallel_workers_per_gather = 0`);
      const differences = await verifyLedger(db);
      await storeVerification(db, differences);
      return differences;
    });
    if (found === undefined) return;
    for (const kind of DIFFERENCE_KINDS)
      differences.set({ kind }, found.filter((one) => one.kind === kind).length);
    verifiedAt.set(Date.now() / 1000);
    if (found.length > 0) {
      const some = found.slice(0, LOGGED_MAX_COUNT).map(({ kind, subject }) => `${kind} ${subject}`);
      log.error({ count: found.length, some }, "the ledger does not add up; run `tss ledger verify`");
    }
  };
}

export interface LedgerGaugesOptions {
  readonly database: Pick<Database, "transaction">;
  readonly metrics: Pick<Metrics, "gauge">;
  readonly log: Pick<Log, "error">;
}

/** A ledger that takes longer must be verified by hand, on a copy. */
const STATEMENT_TIMEOUT_MS = 300_000;
const LOGGED_MAX_COUNT = 20;
