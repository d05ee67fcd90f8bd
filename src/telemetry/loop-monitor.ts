import { readFileSync } from "node:fs";
import type { Metrics } from "./metrics.ts";

/**
 * Starts monitoring the loop of the calling thread. Exports the gauges `service_event_loop_longest_block_seconds` and
 * `service_event_loop_longest_wait_seconds`. Only Linux can distinguish the two; elsewhere every delay counts as a
 * block.
 */
export function startLoopMonitor(metrics: Pick<Metrics, "gauge">): LoopMonitor {
  let longestBlockMs = 0;
  let longestWaitMs = 0;
  let last = { atMs: performance.now(), waitedMs: readWaitedMs() };
  const timer = setInterval(() => {
    const now = { atMs: performance.now(), waitedMs: readWaitedMs() };
    const lateMs = Math.max(0, now.atMs - last.atMs - INTERVAL_MS);
    const waitMs = Math.min(lateMs, now.waitedMs - last.waitedMs);
    longestWaitMs = Math.max(longestWaitMs, waitMs);
    longestBlockMs = Math.max(longestBlockMs, lateMs - waitMs);
    last = now;
  }, INTERVAL_MS).unref();
  const gauges = [
    ["block", "code of this process held the event loop", () => longestBlockMs],
    ["wait", "the event loop had no processor to run on", () => longestWaitMs],
  ] as const;
  for (const [name, what, read] of gauges) {
    metrics.gauge(
      `event_loop_longest_${name}_seconds`,
      `Longest time that ${what} since the process was ready.`,
      [],
      (gauge) => gauge.set(read() / 1000),
    );
  }
  return {
    longestBlockMs: () => longestBlockMs,
    longestWaitMs: () => longestWaitMs,
    reset() {
      longestBlockMs = 0;
      longestWaitMs = 0;
      last = { atMs: performance.now(), waitedMs: readWaitedMs() };
    },
    close: () => clearInterval(timer),
  };
}

/** Measures the delays of the event loop. */
export interface LoopMonitor {
  /** The longest time that code of this process blocked the loop, since start or reset. */
  longestBlockMs(): number;
  /** The longest time that the loop was ready but got no processor, because the machine is overloaded. */
  longestWaitMs(): number;
  /** Resets the measurements, for example after start-up. */
  reset(): void;
  close(): void;
}

/** The interval of the timer whose delay is measured. */
const INTERVAL_MS = 10;
const NANOSECONDS_PER_MS = 1e6;

/** The second figure of /proc/<thread>/schedstat: nanoseconds on a run queue (Linux, sched-stats.rst). */
function readWaitedMs(): number {
  try {
    return Number(readFileSync("/proc/thread-self/schedstat", "latin1").split(" ")[1]) / NANOSECONDS_PER_MS;
  } catch {
    return 0;
  }
}
