import { emptyTransactions } from "../chain/submit/empty-transactions.ts";
import { type BackgroundLoop, createBackgroundLoop } from "../lifecycle/background-loop.ts";
import type { Clock } from "../lifecycle/clock.ts";
import { RETAINED_KINDS, type RetainedKind } from "../observe/service-metrics.ts";
import { deleteLapsedReservations, emptyRequests } from "../signing/empty-requests.ts";
import type { Queryable } from "../store/database.ts";
import type { Log } from "../telemetry/log.ts";

/** Takes from old rows what is large. Any number of processes may do it at a time: each takes rows of its own. */
export function createRetentionLoop(deps: RetentionLoopDeps): BackgroundLoop {
  const { database, retentionDays, clock, log, onRetained, intervalMs } = deps;
  return createBackgroundLoop({
    name: "retention",
    intervalMs: intervalMs ?? DEFAULT_INTERVAL_MS,
    clock,
    log,
    async pass(signal) {
      if (retentionDays === 0) return false;
      const failures: unknown[] = [];
      for (const kind of RETAINED_KINDS) {
        if (signal.aborted) return false;
        try {
          const count = await WORK[kind](database, retentionDays, RETENTION_BATCH_COUNT);
          if (count > 0) onRetained?.(kind, count);
        } catch (cause) {
          // The other kinds have their turn.
          failures.push(cause);
        }
      }
      if (failures.length > 0) throw failures[0];
      return false;
    },
  });
}

export interface RetentionLoopDeps {
  readonly database: Queryable;
  /** How long what has ended keeps what is large; 0: for ever. */
  readonly retentionDays: number;
  readonly clock: Clock;
  readonly log: Pick<Log, "error">;
  /** Is told what each statement emptied or deleted. Default: nobody is. */
  readonly onRetained?: ((what: RetainedKind, count: number) => void) | undefined;
  /** Default 1 s. */
  readonly intervalMs?: number;
}

const DEFAULT_INTERVAL_MS = 1_000;
/** Rows that one statement takes. A pass makes one statement of each kind, so that a large backlog is worked off slowly. */
export const RETENTION_BATCH_COUNT = 500;

const WORK = {
  user_sign_message: emptyRequests,
  chain_transaction: emptyTransactions,
  expired_reservation: deleteLapsedReservations,
} as const satisfies Record<RetainedKind, (db: Queryable, days: number, maxCount: number) => Promise<number>>;
