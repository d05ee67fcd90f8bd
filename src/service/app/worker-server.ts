import type { Logger } from "pino";
import type { PlainRoute } from "../../transport/http/plain-routes.ts";
import { startServer, type TransportServer } from "../../transport/start-server.ts";
import type { Config } from "../config/config.ts";
import { healthRoute, metricsRoute } from "../operator/health/health-and-metrics.ts";
import { type Readiness, readyRoute } from "../operator/health/readiness.ts";
import { createErrorMapping } from "../platform/errors/error-mapping.ts";
import type { Lifecycle } from "../platform/lifecycle/lifecycle.ts";
import type { Metrics } from "../platform/telemetry/metrics.ts";
import { connectionBounds, listening, readTls } from "./ports.ts";

/**
 * Serves a worker's probes on the configured port. Calls of the contract get an error that points to the api processes.
 */
export function startWorkerServer({
  config,
  probes,
  lifecycle,
  log,
}: WorkerServerOptions): Promise<TransportServer> {
  const options = {
    host: config.host,
    port: config.port,
    ...(config.tls && { tls: readTls(config.tls) }),
    ...connectionBounds(config, log),
    services: [],
    grpcReflection: false,
    routes: probes,
    elsewhere: ELSEWHERE,
    errors: createErrorMapping(({ level, message, ...fields }) => log[level](fields, message)),
    onError: (cause: unknown) => log.error({ cause }, "could not write a reply"),
  };
  return lifecycle.start(
    "server",
    () => listening("PORT", config.port, () => startServer(options)),
    (running) => running.drain({ delayMs: config.drainDelayMs, timeoutMs: config.drainTimeoutMs }),
  );
}

/** Options of {@link startWorkerServer}. */
interface WorkerServerOptions {
  readonly config: Config;
  readonly probes: readonly PlainRoute[];
  readonly lifecycle: Lifecycle;
  readonly log: Logger;
}

const ELSEWHERE =
  "this replica is a worker and serves no calls; send them to a replica with PROCESS_TYPE api or all";

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
interface ProbeOptions {
  readonly config: Pick<
    Config,
    "host" | "metricsPort" | "isMetricsPublic" | "processType" | "connections" | "trustedProxies"
  >;
  readonly readiness: () => Promise<Readiness>;
  readonly metrics: Metrics;
  readonly lifecycle: Lifecycle;
  readonly log: Logger;
}
