import { createBackgroundLoop } from "../lifecycle/background-loop.ts";
import type { Clock } from "../lifecycle/clock.ts";
import type { NamedLoop } from "../lifecycle/start-loops.ts";
import type { Log } from "../telemetry/log.ts";
import type { MetricsMaker } from "../telemetry/network-metrics.ts";

/** Before the first reading, the age counts from the start of the process. */
export function createSnapshotLoops({ metrics, clock, log }: SnapshotLoopOptions): SnapshotLoops {
  const readAtMs = new Map<string, number>();
  metrics.gauge(
    "snapshot_age_seconds",
    "Age of the periodic figures: from the database and the chain.",
    ["snapshot"],
    (gauge) => {
      for (const [snapshot, atMs] of readAtMs) gauge.set({ snapshot }, (clock.now() - atMs) / 1000);
    },
  );
  return ({ name, intervalMs, read }) => {
    readAtMs.set(name, 0);
    const title = `${name} figures`;
    const loop = createBackgroundLoop({
      name: title,
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
    return { name: title, loop };
  };
}

/** Figures that a loop reads, so that a scrape never waits for them. */
export interface SnapshotReading {
  readonly name: string;
  readonly intervalMs: number;
  /** Reads the figures and sets the gauges. If it fails, the gauges keep their values. */
  read(signal: AbortSignal): Promise<void>;
}

/** Creates loops that update gauges, and a gauge for the age of each reading. */
export type SnapshotLoops = (reading: SnapshotReading) => NamedLoop;

export interface SnapshotLoopOptions {
  readonly metrics: Pick<MetricsMaker, "gauge">;
  readonly clock: Clock;
  readonly log: Pick<Log, "error">;
}
