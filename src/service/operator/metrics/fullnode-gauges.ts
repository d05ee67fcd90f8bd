import type { FullnodeStatus } from "../../chain/fullnodes/fullnodes.ts";
import type { MetricsMaker } from "../../platform/telemetry/network-metrics.ts";

/**
 * Registers the gauges of a network with several fullnodes. A fullnode's label is its position in the configuration.
 */
export function createFullnodeGauges(metrics: MetricsMaker, statuses: () => readonly FullnodeStatus[]): void {
  metrics.gauge(
    "fullnode_serving",
    "1 for the fullnode that has answered last, for networks with several.",
    ["fullnode"],
    (gauge) => {
      for (const [at, { isServing }] of statuses().entries())
        gauge.set({ fullnode: String(at) }, Number(isServing));
    },
  );
  metrics.gauge(
    "fullnode_skipped",
    "1 while calls skip the fullnode because it failed, for networks with several.",
    ["fullnode"],
    (gauge) => {
      for (const [at, { isSkipped }] of statuses().entries())
        gauge.set({ fullnode: String(at) }, Number(isSkipped));
    },
  );
}
