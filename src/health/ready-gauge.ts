import type { Metrics } from "../telemetry/metrics.ts";
import type { Readiness } from "./readiness.ts";

/** `service_ready`: what `GET /v1/ready` would say, drain apart: a replica that drains is about to be gone. */
export function readyGauge(metrics: Pick<Metrics, "gauge">, readiness: () => Promise<Readiness>): void {
  metrics.gauge(
    "ready",
    "1 while this replica can serve calls, even if optional dependencies are down.",
    [],
    async (gauge) => gauge.set(Number((await readiness()).status !== "unavailable")),
  );
}
