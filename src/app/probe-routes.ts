import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import { createErrorMapping } from "../errors/error-mapping.ts";
import { healthRoute, metricsRoute } from "../health/health-and-metrics.ts";
import { type Readiness, readyRoute } from "../health/readiness.ts";
import type { Lifecycle } from "../lifecycle/lifecycle.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { PlainRoute } from "../transport/plain-routes.ts";
import { startServer } from "../transport/start-server.ts";
import { connectionBounds } from "./connection-bounds.ts";
import { listening } from "./port-taken.ts";

/**
 * Creates the routes that every process serves on its port: health, readiness, and metrics if `METRICS_PUBLIC` is set.
 * With `METRICS_PORT`, serves metrics only there, until the process has drained.
 */
export async function startProbes(options: ProbeOptions): Promise<PlainRoute[]> {
  const { config, readiness, metrics, lifecycle, log } = options;
  const { host, metricsPort: port, isMetricsPublic } = config;
  const probes = [healthRoute(), readyRoute(readiness)];
  if (port === undefined) return isMetricsPublic ? [...probes, metricsRoute(metrics)] : probes;
  const server = {
    host,
    port,
    ...connectionBounds(config, log),
    services: [],
    grpcHealth: false,
    grpcReflection: false,
    routes: [metricsRoute(metrics)],
    errors: createErrorMapping(() => {}),
    onError: (cause: unknown) => log.error({ cause }, "could not write a reply"),
  };
  const { url } = await lifecycle.start(
    "metrics server",
    () => listening("METRICS_PORT", port, () => startServer(server)),
    (running) => running.close(),
  );
  log.info({ url: `${url}/metrics` }, "metrics are served");
  return probes;
}

/** Options of {@link startProbes}. */
export interface ProbeOptions {
  readonly config: Pick<
    Config,
    "host" | "metricsPort" | "isMetricsPublic" | "connections" | "trustedProxies"
  >;
  readonly readiness: () => Promise<Readiness>;
  readonly metrics: Metrics;
  readonly lifecycle: Lifecycle;
  readonly log: Logger;
}
