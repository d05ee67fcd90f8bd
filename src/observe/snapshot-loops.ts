import { type BackgroundLoop, createBackgroundLoop } from "../lifecycle/background-loop.ts";
import type { Clock } from "../lifecycle/clock.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";

/** While nothing was read yet, the age counts from the start of the process. */
export function createSnapshotLoops({ metrics, clock, log }: SnapshotLoopOptions): SnapshotLoops {
  const readAtMs = new Map<string, number>();
  metrics.gauge(
    "snapshot_age_seconds",
    "Age of the periodic figures: from the database, the chain and the ledger.",
    ["snapshot"],
    (gauge) => {
      for (const [snapshot, atMs] of readAtMs) gauge.set({ snapshot }, (clock.now() - atMs) / 1000);
    },
  );
  return ({ name, intervalMs, read }) => {
    readAtMs.set(name, 0);
    return createBackgroundLoop({
      name: `${name} figures`,
      intervalMs,
      maxBackoffMs: intervalMs,
      clock,
      log,
      async pass(signal) {
        await read(signal);
        readAtMs.set(name, clock.now());
        return false;
      },
    });
  };
}

/** Something that is read now and then, so that a scrape never waits for it. */
export interface SnapshotReading {
  readonly name: string;
  readonly intervalMs: number;
  /** Reads and sets the gauges. When it fails, they stay as they are. */
  read(signal: AbortSignal): Promise<void>;
}

/** Loops that keep gauges up to date, and a gauge that says how old each reading is. */
export type SnapshotLoops = (reading: SnapshotReading) => BackgroundLoop;

export interface SnapshotLoopOptions {
  readonly metrics: Pick<Metrics, "gauge">;
  readonly clock: Clock;
  readonly log: Pick<Log, "error">;
}
