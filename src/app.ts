import type { Logger } from "pino";
import { Admin } from "../gen/proto/tss/v1/admin_pb.ts";
import { Billing } from "../gen/proto/tss/v1/billing_pb.ts";
import { Onboarding } from "../gen/proto/tss/v1/onboarding_pb.ts";
import { Signing } from "../gen/proto/tss/v1/signing_pb.ts";
import { createAccessGate } from "./access/access-gate.ts";
import { createApiKeyLookup } from "./access/api-key-lookup.ts";
import { describeCaller } from "./access/caller.ts";
import { checkPolicies } from "./access/check-policies.ts";
import { createClientAddress } from "./access/client-address.ts";
import { connectLimiterRedis } from "./access/connect-limiter-redis.ts";
import { methodPolicy } from "./access/method-policy.ts";
import { createRateLimiter } from "./access/rate-limiter.ts";
import { createAdminService } from "./admin/admin-service.ts";
import { openChainAccess } from "./app/chain-access.ts";
import { createChainWork } from "./app/chain-work.ts";
import {
  developmentBanner,
  ensureDevelopmentKeys,
  writeDevelopmentAccess,
} from "./app/development-access.ts";
import { healthRoute, metricsRoute } from "./app/health-and-metrics.ts";
import { openApiRoute } from "./app/openapi-route.ts";
import { listening } from "./app/port-taken.ts";
import { warmUp } from "./app/warm-up.ts";
import { createBillingService } from "./billing/billing-service.ts";
import { checkChain } from "./chain/check-chain.ts";
import { connectNetwork } from "./chain/network.ts";
import { createNetworkReader } from "./chain/reader.ts";
import type { Config } from "./config.ts";
import { createLocalSignals } from "./coordination/local-signals.ts";
import { createRedisSignals } from "./coordination/redis-signals.ts";
import { createErrorInterceptor } from "./errors/error-interceptor.ts";
import { createErrorMapping } from "./errors/error-mapping.ts";
import { createWarmValidateInterceptor } from "./errors/validate-interceptor.ts";
import { createIdempotencyInterceptor } from "./idempotency/idempotency-interceptor.ts";
import { createKeySweep } from "./idempotency/sweep-keys.ts";
import type { Lifecycle } from "./lifecycle/lifecycle.ts";
import { createParameterBuilder } from "./onboarding/build-parameters.ts";
import { createOnboardingService } from "./onboarding/onboarding-service.ts";
import { createParameterStore } from "./onboarding/parameter-store.ts";
import { readPresignHealth } from "./presigns/presign-health.ts";
import { createPresignQueue } from "./presigns/presign-queue.ts";
import { refillBucket } from "./presigns/refill-bucket.ts";
import { CURVES } from "./protocol/algorithms.ts";
import { createSigningService } from "./signing/signing-service.ts";
import { migrate } from "./store/migrate.ts";
import { openDatabase } from "./store/open-database.ts";
import { startLoopMonitor } from "./telemetry/loop-monitor.ts";
import { createMetrics } from "./telemetry/metrics.ts";
import { observeCalls } from "./telemetry/observe-calls.ts";
import { peerAddressKey } from "./transport/peer-address.ts";
import { requestIdKey } from "./transport/request-id.ts";
import { registerService } from "./transport/service-registration.ts";
import { startServer } from "./transport/start-server.ts";

/** What the process gives the service. */
export interface AppOptions {
  readonly log: Logger;
  /** Stops in reverse what this starts. */
  readonly lifecycle: Lifecycle;
  /** The database is an older copy: what the chain did since is taken up before anything is sent. Default false. */
  readonly afterRestore?: boolean;
}

/** A running service. */
export interface App {
  /** Base URL of all protocols. */
  readonly url: string;
  /** Lines for the person who started it. */
  readonly banner: readonly string[];
}

/** Puts all parts together, in the order in which they need each other, and listens last. */
export async function startApp(config: Config, options: AppOptions): Promise<App> {
  const { log, lifecycle, afterRestore = false } = options;
  const metrics = createMetrics();
  lifecycle.onStop("metrics", () => metrics.close());
  const loopMonitor = startLoopMonitor(metrics);
  lifecycle.onStop("loop monitor", () => loopMonitor.close());

  const databaseUrl = config.databaseUrl?.reveal();
  const [database, chain] = await together(
    lifecycle.start(
      "database",
      () => openDatabase({ databaseUrl, dataDirectory: config.dataDirectory, log }),
      (opened) => opened.close(),
    ),
    openChainAccess(config, { lifecycle, log }),
  );
  await migrate(database, log);
  const redisUrl = config.redisUrl?.reveal();
  const signals = redisUrl ? createRedisSignals({ url: redisUrl, log }) : createLocalSignals();
  lifecycle.onStop("signals", () => signals.close());

  const network = await connectNetwork(chain);
  await checkChain(database, network);
  const reader = createNetworkReader(network);
  const newestNetworkEncryptionKeyId = async () => (await reader.networkKey()).id;
  const configured = config.presignBuckets;

  const parameterStore = createParameterStore(config.dataDirectory);
  const curves = [...new Set([...configured.map((bucket) => bucket.curveNumber), ...CURVES.keys()])];
  const parameters = createParameterBuilder({ reader, store: parameterStore, curves, log });

  const presigns = createPresignQueue({ signals });
  const work = await createChainWork({
    database,
    network,
    reader,
    signals,
    presigns,
    config,
    afterRestore,
    log,
  });
  const keySweep = createKeySweep({ database, log });
  for (const [name, loop] of Object.entries({ parameters, keySweep, ...work })) {
    await lifecycle.start(
      name,
      () => {
        loop.start();
        return loop;
      },
      (started) => started.stop(),
    );
  }

  const bounds = { lowWaterCount: config.presignLowWaterCount, highWaterCount: config.presignHighWaterCount };
  const pool = { network: network.name, newestNetworkEncryptionKeyId };
  const isDevelopment = databaseUrl === undefined && network.name === "localnet";
  const keys = isDevelopment
    ? await ensureDevelopmentKeys(database, config.dataDirectory, config.adminApiKey)
    : undefined;
  const lookup = createApiKeyLookup({ database, log });
  await warmUp(database, lookup);
  const errors = createErrorMapping(({ level, message, ...fields }) => log[level](fields, message));
  const services = [Onboarding, Signing, Billing, Admin];
  checkPolicies(services);
  const limiterRedis = redisUrl ? connectLimiterRedis({ url: redisUrl, log }) : undefined;
  lifecycle.onStop("rate limiter", () => limiterRedis?.disconnect());
  const limiter = createRateLimiter({ limits: config.rateLimits, redis: limiterRedis });
  const clientAddress = createClientAddress(config.trustedProxies);
  const server = await lifecycle.start(
    "server",
    () =>
      listening("PORT", config.port, () =>
        startServer({
          host: config.host,
          port: config.port,
          errors,
          services: [
            registerService(
              Onboarding,
              createOnboardingService({
                database,
                network,
                reader,
                signals,
                parameters,
                parameterStore,
                dkgsPerDay: config.dkgsPerDay,
              }),
            ),
            registerService(
              Signing,
              createSigningService({
                database,
                presigns,
                signals,
                priceMicroUsd: config.priceSignMicroUsd,
                reservationTtlMs: config.reservationTtlMs,
                openMaxCount: config.openReservationsMaxCount,
              }),
            ),
            registerService(
              Billing,
              createBillingService({ database, priceSignMicroUsd: config.priceSignMicroUsd }),
            ),
            registerService(
              Admin,
              createAdminService({
                ...bounds,
                readPresignHealth: () => readPresignHealth({ ...pool, sql: database, configured }),
                refillBucket: (...call) =>
                  refillBucket(
                    { ...pool, database, highWaterCount: bounds.highWaterCount, signals },
                    ...call,
                  ),
              }),
            ),
          ],
          interceptors: [
            createErrorInterceptor(errors),
            createWarmValidateInterceptor(services),
            createIdempotencyInterceptor((method) => methodPolicy(method).idempotency === "keyed"),
          ],
          gate: createAccessGate({
            lookup,
            adminApiKey: keys?.adminApiKey ?? config.adminApiKey,
            networks: [network.name],
            limiter,
            traceOf: ({ values, requestHeader }) => ({
              requestId: values.get(requestIdKey),
              address: clientAddress(values.get(peerAddressKey), requestHeader),
            }),
          }),
          cors: { origins: config.corsOrigins, ...CORS_HEADERS },
          routes: [healthRoute(), metricsRoute(metrics), openApiRoute()],
          onCallEnd: observeCalls({ logger: log, metrics, describe: describeCaller }),
          onError: (cause) => log.error({ cause }, "a reply could not be written"),
        }),
      ),
    (running) => running.drain({ delayMs: config.drainDelayMs, timeoutMs: config.drainTimeoutMs }),
  );
  if (keys) {
    writeDevelopmentAccess(config.dataDirectory, {
      baseUrl: server.url,
      fullnodeUrl: network.fullnodeUrl,
      keys,
    });
  }
  loopMonitor.reset();
  return {
    url: server.url,
    banner: keys ? developmentBanner(config.dataDirectory, network.fullnodeUrl, keys) : [],
  };
}

/** The headers of ours that browsers must be allowed to send and read, beside those of the protocols. */
const CORS_HEADERS = {
  requestHeaders: ["authorization", "x-api-key", "x-network", "idempotency-key", "x-request-id"],
  replyHeaders: [
    ...["x-request-id", "retry-after", "etag"],
    ...["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"],
  ],
};

/** Both at once. When one fails, the other is waited for first, so that what it started can be stopped. */
async function together<A, B>(first: Promise<A>, second: Promise<B>): Promise<[A, B]> {
  await Promise.allSettled([first, second]);
  return Promise.all([first, second]);
}
