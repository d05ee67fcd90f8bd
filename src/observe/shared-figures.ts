import { readUnsealedAgeMs } from "../audit/seal-events.ts";
import { createBackgroundLoop } from "../lifecycle/background-loop.ts";
import type { Clock } from "../lifecycle/clock.ts";
import type { NamedLoop } from "../lifecycle/start-loops.ts";
import type { Database } from "../store/database.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { createLedgerGauges } from "./ledger-gauges.ts";

/** Creates loops that read figures of what all networks share: the ledger and the audit trail. */
export function createSharedFigures(options: SharedFiguresOptions): NamedLoop[] {
  const { metrics, database, clock, log } = options;
  const unsealed = metrics.gauge(
    "audit_unsealed_age_seconds",
    "Age of the oldest unsealed audit event; 0 without one.",
  );
  // An age that was never read must not look healthy.
  unsealed.remove();
  const loopOf = (name: string, intervalMs: number, read: () => Promise<void>): NamedLoop => ({
    name,
    loop: createBackgroundLoop({
      name,
      intervalMs,
      maxBackoffMs: intervalMs,
      clock,
      log,
      async pass() {
        await read();
        return false;
      },
    }),
  });
  return [
    loopOf("audit figures", AUDIT_INTERVAL_MS, async () =>
      unsealed.set((await readUnsealedAgeMs(database)) / 1_000),
    ),
    loopOf("ledger figures", LEDGER_INTERVAL_MS, createLedgerGauges(options)),
  ];
}

export interface SharedFiguresOptions {
  readonly metrics: Pick<Metrics, "gauge">;
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Pick<Log, "error">;
}

const AUDIT_INTERVAL_MS = 15_000;
const LEDGER_INTERVAL_MS = 3_600_000;
