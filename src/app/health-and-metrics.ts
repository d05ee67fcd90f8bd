import { createRequire } from "node:module";
import type { Metrics } from "../telemetry/metrics.ts";
import type { PlainRoute } from "../transport/plain-routes.ts";

const { version } = createRequire(import.meta.url)("threshold-signing-service/package.json") as {
  version: string;
};

/** `GET /v1/health`: 200 while the process lives. */
export function healthRoute(): PlainRoute {
  return {
    path: "/v1/health",
    handle: ({ isDraining }) => ({
      status: 200,
      headers: { "content-type": "application/json", "cache-control": "no-store" },
      body: JSON.stringify({
        status: isDraining ? "draining" : "ok",
        version,
        uptimeSeconds: Math.floor(process.uptime()),
      }),
    }),
  };
}

/** `GET /metrics` in Prometheus' text format, or OpenMetrics where there are exemplars to show. */
export function metricsRoute(metrics: Pick<Metrics, "render" | "gauge">): PlainRoute {
  metrics.gauge("build_info", "The version that runs; always 1.", ["version"]).set({ version }, 1);
  return {
    path: "/metrics",
    async handle({ headers }) {
      const { contentType, body } = await metrics.render(headers.accept);
      return { status: 200, headers: { "content-type": contentType }, body };
    },
  };
}
