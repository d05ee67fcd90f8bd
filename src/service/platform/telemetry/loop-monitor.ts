import { closeSync, openSync, readSync } from "node:fs";
import { performance } from "node:perf_hooks";
import type { Metrics } from "./metrics.ts";

/**
 * Starts monitoring the loop of the calling thread. Exports the gauges `service_event_loop_longest_block_seconds` and
 * `service_event_loop_longest_wait_seconds`. Only Linux can distinguish the two; elsewhere every delay counts as a
 * block. While the loop is idle, the monitor rests longer, so that it costs nothing: the first block after that is then
 * measured up to {@link IDLE_INTERVAL_MS} short.
 */
export function startLoopMonitor(metrics: Pick<Metrics, "gauge">): LoopMonitor {
  let longestBlockMs = 0;
  let longestWaitMs = 0;
  const waits = openWaits();
  const readNow = () => ({
    atMs: performance.now(),
    waitedMs: waits.readMs(),
    use: performance.eventLoopUtilization(),
  });
  let intervalMs = INTERVAL_MS;
  let last = readNow();
  let timer = setTimeout(measure, intervalMs).unref();
  function measure(): void {
    const now = readNow();
    const lateMs = Math.max(0, now.atMs - last.atMs - intervalMs);
    const waitMs = Math.min(lateMs, now.waitedMs - last.waitedMs);
    longestWaitMs = Math.max(longestWaitMs, waitMs);
    longestBlockMs = Math.max(longestBlockMs, lateMs - waitMs);
    const { utilization } = performance.eventLoopUtilization(now.use, last.use);
    intervalMs = utilization > BUSY_SHARE ? INTERVAL_MS : Math.min(2 * intervalMs, IDLE_INTERVAL_MS);
    last = now;
    timer = setTimeout(measure, intervalMs).unref();
  }
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
      last = readNow();
    },
    close() {
      clearTimeout(timer);
      waits.close();
    },
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
/** The longest interval while the loop is idle. */
const IDLE_INTERVAL_MS = 200;
/** The loop is idle if it works for a smaller share of the time. */
const BUSY_SHARE = 0.2;
const NANOSECONDS_PER_MS = 1e6;

/**
 * Opens the figure of the time that the calling thread has waited on a run queue: the second one of
 * /proc/<thread>/schedstat, in nanoseconds (Linux, sched-stats.rst).
 */
function openWaits(): { readMs(): number; close(): void } {
  let file: number;
  try {
    file = openSync("/proc/thread-self/schedstat", "r");
  } catch {
    return { readMs: () => 0, close() {} };
  }
  // Read into the same bytes each time: a file of unknown length would get 64 KiB at each read.
  const line = Buffer.alloc(128);
  return {
    readMs() {
      const length = readSync(file, line, 0, line.length, 0);
      return Number(line.toString("latin1", 0, length).split(" ")[1]) / NANOSECONDS_PER_MS;
    },
    close: () => closeSync(file),
  };
}
