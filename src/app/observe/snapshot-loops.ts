import { type BackgroundLoop, createBackgroundLoop } from "../../coordination/background-loop.ts";
import type { Metrics } from "../../telemetry/metrics.ts";

/** Something that is read now and then, so that a scrape never waits for it. */
export interface SnapshotReading {
  readonly name: string;
  readonly intervalMs: number;
  /** Reads and sets the gauges. When it fails, they stay as they are. */
  read(signal: AbortSignal): Promise<void>;
}

/** Loops that keep gauges up to date, and a gauge that says how old each reading is. */
export type SnapshotLoops = (reading: SnapshotReading) => BackgroundLoop;

/** What they need. */
export interface SnapshotLoopOptions {
  readonly metrics: Pick<Metrics, "gauge">;
  readonly log: { error(fields: object, message: string): void };
}

/** While nothing was read yet, the age counts from the start of the process. */
export function createSnapshotLoops({ metrics, log }: SnapshotLoopOptions): SnapshotLoops {
  const readAtMs = new Map<string, number>();
  metrics.gauge(
    "snapshot_age_seconds",
    "Since the figures that are read now and then were last read: from the database, the chain and the ledger.",
    ["snapshot"],
    (gauge) => {
      for (const [snapshot, atMs] of readAtMs) gauge.set({ snapshot }, (performance.now() - atMs) / 1000);
    },
  );
  return ({ name, intervalMs, read }) => {
    readAtMs.set(name, 0);
    return createBackgroundLoop({
      name: `${name} figures`,
      intervalMs,
      maxBackoffMs: intervalMs,
      log,
      async pass(signal) {
        await read(signal);
        readAtMs.set(name, performance.now());
        return false;
      },
    });
  };
}
