import type { Logger } from "pino";
import type { Config } from "../config.ts";
import { createErrorMapping } from "../errors/error-mapping.ts";
import type { Lifecycle } from "../lifecycle/lifecycle.ts";
import type { PlainRoute } from "../transport/plain-routes.ts";
import { startServer, type TransportServer } from "../transport/start-server.ts";
import { connectionBounds } from "./connection-bounds.ts";
import { listening } from "./port-taken.ts";
import { readTls } from "./read-tls.ts";

/** What a worker answers, and where. */
export interface WorkerServerOptions {
  readonly config: Config;
  readonly probes: readonly PlainRoute[];
  readonly lifecycle: Lifecycle;
  readonly log: Logger;
}

const ELSEWHERE =
  "this replica is a worker and serves no calls; send them to one with PROCESS_TYPE api or all";

/** Answers those who look after a worker, on the configured port. Whoever calls the contract is told where it is served. */
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
    onError: (cause: unknown) => log.error({ cause }, "a reply could not be written"),
  };
  return lifecycle.start(
    "server",
    () => listening("PORT", config.port, () => startServer(options)),
    (running) => running.drain({ delayMs: config.drainDelayMs, timeoutMs: config.drainTimeoutMs }),
  );
}
