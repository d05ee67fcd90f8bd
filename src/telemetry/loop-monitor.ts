import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Metrics } from "./metrics.ts";

/** Watches for how long the event loop was blocked. */
export interface LoopMonitor {
  /** The longest block since start or reset. Blocks shorter than the resolution do not show. */
  longestBlockMs(): number;
  /** Forgets what was measured, for example after start-up. Measures again from the loop's next turn on. */
  reset(): void;
  close(): void;
}

/** How often the loop is asked for a sign of life; what it is late is a block. */
const RESOLUTION_MS = 10;
const NANOSECONDS_PER_MS = 1e6;

/** Starts watching, and shows the figure as the gauge `service_event_loop_longest_block_ms`. */
export function startLoopMonitor(metrics: Pick<Metrics, "gauge">): LoopMonitor {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  // The histogram holds the whole time between two signs of life, the wanted one included.
  const longestBlockMs = () => Math.max(0, histogram.max / NANOSECONDS_PER_MS - RESOLUTION_MS);
  metrics.gauge(
    "event_loop_longest_block_ms",
    "Longest time that the event loop was blocked since start or reset, in milliseconds.",
    [],
    (gauge) => gauge.set(longestBlockMs()),
  );
  return {
    longestBlockMs,
    reset: () => histogram.reset(),
    close: () => {
      histogram.disable();
    },
  };
}
