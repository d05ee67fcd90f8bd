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
 * Creates the routes that every process serves on its port: health, readiness, and metrics. Unless `METRICS_PUBLIC` is
 * set, the port of the calls serves metrics only to an admin key, and a worker's port, which checks no keys, to nobody.
 * With `METRICS_PORT`, serves metrics also there, to anyone, until the process has drained.
 */
export async function startProbes(options: ProbeOptions): Promise<PlainRoute[]> {
  const { config, readiness, metrics, lifecycle, log } = options;
  const { host, metricsPort: port, isMetricsPublic, processType } = config;
  const route = metricsRoute(metrics);
  const probes: PlainRoute[] = [healthRoute(), readyRoute(readiness)];
  if (isMetricsPublic || processType !== "worker") probes.push({ ...route, isGuarded: !isMetricsPublic });
  if (port === undefined) return probes;
  const server = {
    host,
    port,
    ...connectionBounds(config, log),
    services: [],
    grpcHealth: false,
    grpcReflection: false,
    routes: [route],
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
    "host" | "metricsPort" | "isMetricsPublic" | "processType" | "connections" | "trustedProxies"
  >;
  readonly readiness: () => Promise<Readiness>;
  readonly metrics: Metrics;
  readonly lifecycle: Lifecycle;
  readonly log: Logger;
}
