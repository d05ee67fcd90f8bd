import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import { createErrorMapping } from "../errors/error-mapping.ts";
import type { Lifecycle } from "../lifecycle/lifecycle.ts";
import type { PlainRoute } from "../transport/plain-routes.ts";
import { startServer, type TransportServer } from "../transport/start-server.ts";
import { connectionBounds } from "./connection-bounds.ts";
import { listening } from "./port-taken.ts";
import { readTls } from "./read-tls.ts";

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
export interface WorkerServerOptions {
  readonly config: Config;
  readonly probes: readonly PlainRoute[];
  readonly lifecycle: Lifecycle;
  readonly log: Logger;
}

const ELSEWHERE =
  "this replica is a worker and serves no calls; send them to a replica with PROCESS_TYPE api or all";
