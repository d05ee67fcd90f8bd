import { readFileSync } from "node:fs";
import type { HandlerContext } from "@connectrpc/connect";
import { Operations } from "../../../gen/proto/tss/v1/operations_pb.ts";
import { requestIdKey } from "../../transport/calls/request-id.ts";
import type { ServiceRegistration } from "../../transport/calls/service-registration.ts";
import type { TlsOptions } from "../../transport/connections/split-connections.ts";
import { peerAddressKey } from "../../transport/http/node-http.ts";
import type { PlainRoute } from "../../transport/http/plain-routes.ts";
import { type ServerOptions, startServer, type TransportServer } from "../../transport/start-server.ts";
import { createAccessGate, keepPrivate } from "../access/access-gate.ts";
import { createAddressList } from "../access/address-block.ts";
import { describeCaller } from "../access/caller.ts";
import { clientAddressKey, createClientAddress } from "../access/client-address.ts";
import type { ProofCheck } from "../access/dpop/verify-proof.ts";
import type { AdminKeyLookup, ApiKeyLookup } from "../access/keys/stored-keys.ts";
import { checkPolicies, keyedMethods } from "../access/method-policy.ts";
import { createOpenCalls, guardLike } from "../access/open-calls.ts";
import { createRateLimiter } from "../access/rate-limiter.ts";
import type { SessionLookup } from "../access/stored-sessions.ts";
import { createStreamLeases } from "../access/stream-leases.ts";
import type { Config } from "../config/config.ts";
import { NETWORK_NAMES } from "../config/network.ts";
import { healthRoute, metricsRoute } from "../operator/health/health-and-metrics.ts";
import { type Readiness, readyRoute } from "../operator/health/readiness.ts";
import { createErrorInterceptor } from "../platform/errors/error-interceptor.ts";
import { createErrorMapping } from "../platform/errors/error-mapping.ts";
import { createWarmValidateInterceptor } from "../platform/errors/validate-interceptor.ts";
import { createIdempotencyInterceptor } from "../platform/idempotency/idempotency.ts";
import { listening } from "../platform/lifecycle/listening.ts";
import type { Log } from "../platform/telemetry/logger.ts";
import { observeCalls } from "../platform/telemetry/observe-calls.ts";
import type { Secret } from "../platform/telemetry/secret.ts";
import { traceCalls, traceParentOf } from "../platform/telemetry/trace-calls.ts";
import type { Service } from "./service.ts";

/** Serves the contract on the configured port, and drains when the process stops. */
export function startApiServer(service: Service, served: ServedParts): Promise<TransportServer> {
  const { config, coordination, lifecycle, metrics, tracer, log } = service;
  const contract = served.services.map((registration) => registration.service);
  checkPolicies(contract);
  const keyed = keyedMethods(contract);
  const clientAddress = createClientAddress(config.trustedProxies);
  const errors = createErrorMapping(({ level, message, ...fields }) => log[level](fields, message));
  const limiter = createRateLimiter({ limits: config.rateLimits, coordination });
  const openCalls = createOpenCalls(limiter, clientAddress);
  const leases = createStreamLeases({ bounds: config.streams, signals: coordination.signals });
  lifecycle.onStop("streams", () => leases.close());
  const gate = createAccessGate({
    lookup: served.lookup,
    sessionLookup: served.sessionLookup,
    checkProof: served.checkProof,
    adminLookup: served.adminLookup,
    adminApiKey: served.adminApiKey,
    networks: config.networks.map(({ name }) => name),
    listedNetworks: NETWORK_NAMES,
    limiter,
    networkLimiters: new Map(
      config.networks.map(({ name, rateLimits: limits }) => [
        name,
        createRateLimiter({ limits, coordination }),
      ]),
    ),
    beginTrace: ({ values, requestHeader }) => {
      const address = clientAddress(values.get(peerAddressKey), requestHeader);
      values.set(clientAddressKey, address);
      return { requestId: values.get(requestIdKey), address, traceParent: traceParentOf(values) };
    },
  });
  const server = {
    host: config.host,
    port: config.port,
    ...(config.tls && { tls: readTls(config.tls) }),
    ...connectionBounds(config, log),
    errors,
    services: served.services,
    interceptors: [
      createErrorInterceptor(errors),
      createWarmValidateInterceptor(contract),
      createIdempotencyInterceptor((method) => keyed.has(method)),
      leases.interceptor,
    ],
    gate(context: HandlerContext) {
      keepPrivate(context);
      return gate(context);
    },
    openGate: openCalls.limitCall,
    limitRequest: openCalls.limitRequest,
    // The metrics are for those who may read the service's readiness.
    guardRequest: guardLike(Operations.method.getReadiness, gate),
    cors: { origins: config.corsOrigins, gateAllowsMore: true, ...CORS_HEADERS },
    routes: served.routes,
    aroundCall: traceCalls(tracer),
    onCallEnd: observeCalls({
      logger: log,
      metrics,
      describe: (values) => ({
        ...describeCaller(values),
        address: values.get(clientAddressKey) ?? values.get(peerAddressKey),
      }),
    }),
    onError: (cause: unknown) => log.error({ cause }, "could not write a reply"),
  };
  return lifecycle.start(
    "server",
    () => listening("PORT", config.port, () => startServer(server)),
    (running) => running.drain({ delayMs: config.drainDelayMs, timeoutMs: config.drainTimeoutMs }),
  );
}

/** What {@link startApiServer} serves, and the keys that it accepts. */
interface ServedParts {
  readonly services: readonly ServiceRegistration[];
  readonly lookup: ApiKeyLookup;
  readonly sessionLookup: SessionLookup;
  readonly checkProof: ProofCheck;
  readonly adminLookup: AdminKeyLookup;
  /** Undefined if only named admin keys may make the operator's calls. */
  readonly adminApiKey: Secret | undefined;
  /** The routes beside the contract: probes, the OpenAPI document, the web console. */
  readonly routes: readonly PlainRoute[];
}

/** The service's own headers that browsers may send and read, in addition to those of the protocols. */
const CORS_HEADERS = {
  requestHeaders: [
    ...["authorization", "dpop", "x-api-key", "x-network", "idempotency-key", "x-request-id"],
    ...["range", "if-range", "if-none-match", "last-event-id", "traceparent", "tracestate", "dpop"],
  ],
  replyHeaders: [
    ...["x-request-id", "retry-after", "etag", "accept-ranges", "content-range"],
    ...["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset", "www-authenticate", "dpop-nonce"],
  ],
};

/**
 * Serves a worker's probes on the configured port. Calls of the contract get an error that points to the api processes.
 */
export function startWorkerServer(
  { config, lifecycle, log }: Service,
  probes: readonly PlainRoute[],
): Promise<TransportServer> {
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

const ELSEWHERE =
  "this replica is a worker and serves no calls; send them to a replica with PROCESS_TYPE api or all";

/**
 * Creates the routes that every process serves on its port: health, readiness, and metrics. Unless `METRICS_PUBLIC` is
 * set, the port of the calls serves metrics only to an admin key, and a worker's port, which checks no keys, to nobody.
 * With `METRICS_PORT`, serves metrics also there, to anyone, until the process has drained.
 */
export async function startProbes(
  { config, metrics, lifecycle, log }: Service,
  readiness: () => Promise<Readiness>,
): Promise<PlainRoute[]> {
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

/** Reads the configured certificate and its key. Throws if a file cannot be read. */
export function readTls({ certificateFile, keyFile }: NonNullable<Config["tls"]>): TlsOptions {
  return { certificatePem: readFileSync(certificateFile, "utf8"), keyPem: readFileSync(keyFile, "utf8") };
}

/**
 * Returns the connection limits of a port: the maximum numbers, the addresses without a limit, and the observer of
 * refusals.
 */
export function connectionBounds(
  config: Pick<Config, "connections" | "trustedProxies">,
  log: Log,
): Pick<ServerOptions, "limits" | "isTrustedPeer" | "onConnectionRefused"> {
  const { maxCount, maxPerAddressCount } = config.connections;
  return {
    limits: { connectionsCount: maxCount, connectionsPerAddressCount: maxPerAddressCount },
    isTrustedPeer: createAddressList(config.trustedProxies),
    onConnectionRefused: (address) =>
      log.warn(
        { address },
        "refusing connections: MAX_CONNECTIONS or MAX_CONNECTIONS_PER_ADDRESS is reached",
      ),
  };
}
