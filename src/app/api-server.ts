import { readFileSync } from "node:fs";
import type { Logger } from "pino";
import { createAccessGate } from "../access/access-gate.ts";
import { describeCaller } from "../access/caller.ts";
import { checkPolicies } from "../access/check-policies.ts";
import { createClientAddress } from "../access/client-address.ts";
import { connectLimiterRedis } from "../access/connect-limiter-redis.ts";
import { keyedMethods } from "../access/method-policy.ts";
import { createRateLimiter } from "../access/rate-limiter.ts";
import type { Config } from "../config.ts";
import { createErrorInterceptor } from "../errors/error-interceptor.ts";
import { createErrorMapping } from "../errors/error-mapping.ts";
import { createWarmValidateInterceptor } from "../errors/validate-interceptor.ts";
import { createIdempotencyInterceptor } from "../idempotency/idempotency-interceptor.ts";
import type { Lifecycle } from "../lifecycle/lifecycle.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { observeCalls } from "../telemetry/observe-calls.ts";
import type { Secret } from "../telemetry/secret.ts";
import { peerAddressKey } from "../transport/peer-address.ts";
import { requestIdKey } from "../transport/request-id.ts";
import { startServer, type TransportServer } from "../transport/start-server.ts";
import { healthRoute, metricsRoute } from "./health-and-metrics.ts";
import { openApiRoute } from "./openapi-route.ts";
import { listening } from "./port-taken.ts";
import { checkReadiness, readyRoute } from "./readiness.ts";
import { implementServices, SERVICES, type ServiceParts } from "./services.ts";

/** What the server needs beside the parts that its services work with. */
export interface ApiServerOptions {
  readonly config: Config;
  /** Undefined: only named admin keys open the operator's calls. */
  readonly adminApiKey: Secret | undefined;
  readonly lifecycle: Lifecycle;
  readonly metrics: Metrics;
  readonly log: Logger;
}

/** Serves the contract on the configured port, and drains when the process stops. */
export function startApiServer(
  parts: ServiceParts,
  { config, adminApiKey, lifecycle, metrics, log }: ApiServerOptions,
): Promise<TransportServer> {
  checkPolicies(SERVICES);
  const keyed = keyedMethods(SERVICES);
  const { database, network } = parts;
  const redisUrl = config.redisUrl?.reveal();
  const redis = redisUrl ? connectLimiterRedis({ url: redisUrl, log }) : undefined;
  lifecycle.onStop("rate limiter", () => redis?.disconnect());
  const clientAddress = createClientAddress(config.trustedProxies);
  const errors = createErrorMapping(({ level, message, ...fields }) => log[level](fields, message));
  const readiness = checkReadiness([
    { name: "database", isVital: true, check: () => database.query("SELECT 1", []) },
    { name: "fullnode", isVital: false, check: () => network.client.core.getReferenceGasPrice() },
  ]);
  const options = {
    host: config.host,
    port: config.port,
    ...(config.tls && { tls: readTls(config.tls) }),
    errors,
    services: implementServices(parts, config),
    interceptors: [
      createErrorInterceptor(errors),
      createWarmValidateInterceptor(SERVICES),
      createIdempotencyInterceptor((method) => keyed.has(method)),
    ],
    gate: createAccessGate({
      lookup: parts.lookup,
      adminLookup: parts.adminLookup,
      adminApiKey,
      networks: [network.name],
      limiter: createRateLimiter({ limits: config.rateLimits, redis }),
      traceOf: ({ values, requestHeader }) => ({
        requestId: values.get(requestIdKey),
        address: clientAddress(values.get(peerAddressKey), requestHeader),
      }),
    }),
    cors: { origins: config.corsOrigins, ...CORS_HEADERS },
    routes: [healthRoute(), readyRoute(readiness), metricsRoute(metrics), openApiRoute()],
    onCallEnd: observeCalls({ logger: log, metrics, describe: describeCaller }),
    onError: (cause: unknown) => log.error({ cause }, "a reply could not be written"),
  };
  return lifecycle.start(
    "server",
    () => listening("PORT", config.port, () => startServer(options)),
    (running) => running.drain({ delayMs: config.drainDelayMs, timeoutMs: config.drainTimeoutMs }),
  );
}

/** The headers of ours that browsers must be allowed to send and read, beside those of the protocols. */
const CORS_HEADERS = {
  requestHeaders: [
    ...["authorization", "x-api-key", "x-network", "idempotency-key", "x-request-id"],
    ...["range", "if-range", "if-none-match", "last-event-id"],
  ],
  replyHeaders: [
    ...["x-request-id", "retry-after", "etag", "accept-ranges", "content-range"],
    ...["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"],
  ],
};

function readTls({ certificateFile, keyFile }: NonNullable<Config["tls"]>) {
  return { certificatePem: readFileSync(certificateFile, "utf8"), keyPem: readFileSync(keyFile, "utf8") };
}
