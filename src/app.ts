import type { Logger } from "pino";
import { createAdminKeyLookup } from "./access/admin-key-lookup.ts";
import { createApiKeyLookup } from "./access/api-key-lookup.ts";
import { startApiServer } from "./app/api-server.ts";
import { openChainAccess } from "./app/chain-access.ts";
import { createChainWork } from "./app/chain-work.ts";
import {
  developmentBanner,
  ensureDevelopmentKeys,
  writeDevelopmentAccess,
} from "./app/development-access.ts";
import { takeDeposits } from "./app/take-deposits.ts";
import { warmUp } from "./app/warm-up.ts";
import { createAuditSealer } from "./audit/audit-sealer.ts";
import { createSealKey } from "./audit/seal-key.ts";
import { createDepositSigner } from "./billing/sweeps/sweep-signer.ts";
import { checkChain } from "./chain/check-chain.ts";
import { connectNetwork } from "./chain/network.ts";
import { createNetworkReader } from "./chain/reader.ts";
import type { Config } from "./config.ts";
import { createLocalSignals } from "./coordination/local-signals.ts";
import { createRedisSignals } from "./coordination/redis-signals.ts";
import { createKeySweep } from "./idempotency/sweep-keys.ts";
import type { Lifecycle } from "./lifecycle/lifecycle.ts";
import { createParameterBuilder } from "./onboarding/build-parameters.ts";
import { createParameterStore } from "./onboarding/parameter-store.ts";
import { createPresignQueue } from "./presigns/presign-queue.ts";
import { CURVES } from "./protocol/algorithms.ts";
import { migrate } from "./store/migrate.ts";
import { openDatabase } from "./store/open-database.ts";
import { startLoopMonitor } from "./telemetry/loop-monitor.ts";
import { createMetrics } from "./telemetry/metrics.ts";

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

  const parameterStore = createParameterStore(config.dataDirectory);
  const curves = [
    ...new Set([...config.presignBuckets.map((bucket) => bucket.curveNumber), ...CURVES.keys()]),
  ];
  const parameters = createParameterBuilder({ reader, store: parameterStore, curves, log });

  const presigns = createPresignQueue({ signals });
  const { deposits, loops } = await takeDeposits({ database, network, config: config.deposits, log });
  const work = await createChainWork({
    database,
    network,
    reader,
    signals,
    presigns,
    depositSigner: createDepositSigner(deposits?.masterSeed, network.name),
    config,
    afterRestore,
    log,
  });
  const keySweep = createKeySweep({ database, log });
  const sealKey = config.auditSealSecretHex && createSealKey(config.auditSealSecretHex);
  const auditSealer = createAuditSealer({ database, key: sealKey, log });
  for (const [name, loop] of Object.entries({ parameters, keySweep, auditSealer, ...work, ...loops })) {
    await lifecycle.start(
      name,
      () => {
        loop.start();
        return loop;
      },
      (started) => started.stop(),
    );
  }

  const isDevelopment = databaseUrl === undefined && network.name === "localnet";
  const keys = isDevelopment
    ? await ensureDevelopmentKeys(database, config.dataDirectory, config.adminApiKey)
    : undefined;
  const lookup = createApiKeyLookup({ database, log });
  const adminLookup = createAdminKeyLookup({ database, log });
  await warmUp(database, lookup);
  const server = await startApiServer(
    {
      database,
      network,
      reader,
      signals,
      parameters,
      parameterStore,
      presigns,
      lookup,
      adminLookup,
      deposits,
    },
    { config, adminApiKey: keys?.adminApiKey ?? config.adminApiKey, lifecycle, metrics, log },
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

/** Both at once. When one fails, the other is waited for first, so that what it started can be stopped. */
async function together<A, B>(first: Promise<A>, second: Promise<B>): Promise<[A, B]> {
  await Promise.allSettled([first, second]);
  return Promise.all([first, second]);
}
