import type { Metrics } from "../telemetry/metrics.ts";
import type { Readiness } from "./readiness.ts";

/** Registers `service_ready`, the result of `GET /v1/ready` apart from draining. */
export function readyGauge(metrics: Pick<Metrics, "gauge">, readiness: () => Promise<Readiness>): void {
  metrics.gauge(
    "ready",
    "1 while this replica can serve calls, even if optional dependencies are down.",
    [],
    async (gauge) => gauge.set(Number((await readiness()).status !== "unavailable")),
  );
}
