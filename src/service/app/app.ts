import { hostname } from "node:os";
import type { Logger } from "pino";
import { createAuditSealer, createSealKey } from "../audit/seal-events.ts";
import { readAnnouncedNetwork } from "../chain/fullnodes/announced-network.ts";
import type { NetworkAccess } from "../chain/fullnodes/network.ts";
import { createNetworkFetch } from "../chain/fullnodes/network-fetch.ts";
import type { Config } from "../config/config.ts";
import type { NetworkConfig } from "../config/networks.ts";
import { createParameterStore } from "../onboarding/parameter-store.ts";
import { healthChecks } from "../operator/health/checks/health-checks.ts";
import { checkReadiness, readyGauge } from "../operator/health/readiness.ts";
import { runningSubject } from "../operator/health/running-subject.ts";
import { createPoolGauges } from "../operator/metrics/pool-gauges.ts";
import { createSharedFigures, createSharedMetrics } from "../operator/metrics/shared-figures.ts";
import { createKeySweep } from "../platform/idempotency/key-table.ts";
import { systemClock } from "../platform/lifecycle/clock.ts";
import type { Lifecycle } from "../platform/lifecycle/lifecycle.ts";
import { startLoops } from "../platform/lifecycle/start-loops.ts";
import type { Database } from "../platform/store/database.ts";
import { migrate } from "../platform/store/migrate.ts";
import { openDatabase } from "../platform/store/open-database.ts";
import { traceDatabase } from "../platform/store/trace-database.ts";
import { startLoopMonitor } from "../platform/telemetry/loop-monitor.ts";
import { createMetrics } from "../platform/telemetry/metrics.ts";
import { createNetworkMetrics } from "../platform/telemetry/network-metrics.ts";
import { isTracing, openTracing } from "../platform/telemetry/tracer.ts";
import { markProcess } from "../restore/mark-process.ts";
import { openChainAccess } from "./chain-access.ts";
import { createSharedWork, openCoordination } from "./open-coordination.ts";
import { openNetwork } from "./open-network.ts";
import { type Networks, openNetworks } from "./open-networks.ts";
import { serveContract } from "./serve-contract.ts";
import { serveNetwork } from "./serve-network.ts";
import { startProbes, startWorkerServer } from "./worker-server.ts";

/** Starts all parts of the process type in the order of their dependencies, and listens last. */
export async function startApp(config: Config, options: AppOptions): Promise<App> {
  const { log, lifecycle, afterRestore = false } = options;
  const { processType, dataDirectory } = config;
  const clock = systemClock;
  if (afterRestore && processType === "api")
    throw new Error("--after-restore needs a process that acts on the chain: PROCESS_TYPE=worker or all");
  const tracing = await openTracing(config.tracing, log);
  const { tracer } = tracing;
  // Starts first and stops last, so that it also exports spans that end during the shutdown.
  lifecycle.onStop("traces", () => tracing.close());
  const metrics = createMetrics({ exemplars: isTracing(tracer) });
  lifecycle.onStop("metrics", () => metrics.close());
  const loopMonitor = startLoopMonitor(metrics);
  lifecycle.onStop("loop monitor", () => loopMonitor.close());

  const openPool = async (parts: Lifecycle): Promise<Database> => {
    const databaseUrl = config.databaseUrl?.reveal();
    const opened = await parts.start(
      "database",
      () => openDatabase({ databaseUrl, dataDirectory, log, ...config.database }),
      (running) => running.close(),
    );
    return isTracing(tracer) ? traceDatabase(opened, tracer) : opened;
  };
  const openAccess =
    options.openAccess ?? ((network) => openChainAccess(network, { dataDirectory, lifecycle, log }));
  const [database, accesses] = await together(
    openPool(lifecycle),
    Promise.all(config.networks.map(openAccess)),
  );
  await migrate(database, log, { lockWaitMs: config.database.migrationLockWaitMs });
  const reconciles = afterRestore ? config.networks.map(({ name }) => name) : [];
  const mark = await lifecycle.start(
    "process mark",
    () =>
      markProcess({
        ...{ database, kind: processType, host: hostname(), pid: process.pid, reconciles, clock, log },
      }),
    (made) => made.end(),
  );
  mark.loop.start();
  const coordination = openCoordination(config, log);
  lifecycle.onStop("coordination", () => coordination.close());
  const { signals } = coordination;
  const observe = createSharedMetrics(metrics);
  const showPool = createPoolGauges(metrics);
  showPool("shared", database);

  const forCallers = {
    coordination,
    parameterStore: createParameterStore(dataDirectory),
    readiness: () => readiness(),
  };
  const metricsOf = createNetworkMetrics(metrics);
  const connectionsOf = new Map(config.networks.map(({ name }) => [name, createNetworkFetch({ clock })]));
  lifecycle.onStop("connections of the networks", () =>
    Promise.all([...connectionsOf.values()].map((connections) => connections.close())),
  );
  const access = async ({ name }: NetworkConfig): Promise<NetworkAccess> => {
    const found = accesses[config.networks.findIndex((network) => network.name === name)];
    const connections = connectionsOf.get(name);
    if (found === undefined || connections === undefined) throw new Error(`${name} has no access`);
    // Copied for each attempt to connect, because the Ika client completes its configuration in place.
    const walletAddresses = processType === "api" ? await readAnnouncedNetwork(database, name) : undefined;
    return {
      ...{ ...found, walletAddresses, fetch: connections.fetch },
      ikaConfig: structuredClone(found.ikaConfig),
    };
  };
  const networks: Networks = await openNetworks({
    ...{ networks: config.networks, access, clock, lifecycle, metrics, log },
    open: (network, parts, ownLog) =>
      openNetwork({
        ...{ config, network, processType, coordination, tracer, mark },
        ...{ lifecycle: parts, log: ownLog, metrics: metricsOf(network.name) },
        access: () => access(network),
        async openDatabase(ownParts) {
          // Each network has its own pool, so that one whose statements wait does not exhaust the others' connections.
          if (config.networks.length === 1) return database;
          const own = await openPool(ownParts);
          showPool(network.name, own);
          return own;
        },
        serve: processType === "worker" ? undefined : (served) => serveNetwork(served, forCallers),
      }),
  });

  if (processType !== "api") {
    const keySweep = createKeySweep({ database, clock, log });
    const sealKey = config.auditSealSecretHex && createSealKey(config.auditSealSecretHex);
    const auditSealer = createAuditSealer({ database, key: sealKey, clock, log });
    const { retentionDays } = config;
    const observerOf = (name: string) => networks.opened(name)?.observer;
    const sharedWork = createSharedWork({
      database,
      signals,
      retentionDays,
      clock,
      log,
      observe,
      observerOf,
    });
    await startLoops(lifecycle, [
      { name: "keySweep", loop: keySweep },
      { name: "auditSealer", loop: auditSealer },
      ...sharedWork,
    ]);
  }
  await startLoops(lifecycle, createSharedFigures({ metrics, database, clock, log }));

  const running = runningSubject({ config, database, networks: networks.health, coordination });
  const readiness = checkReadiness(healthChecks(running));
  readyGauge(metrics, readiness);
  const probes = await startProbes({ config, readiness, metrics, lifecycle, log });
  const parts = { config, probes, lifecycle, log };
  const app =
    processType === "worker"
      ? { url: (await startWorkerServer(parts)).url, banner: [] }
      : await serveContract({ ...parts, database, networks, coordination, metrics, observe, tracer });
  loopMonitor.reset();
  return app;
}

/** Options of {@link startApp}. */
export interface AppOptions {
  readonly log: Logger;
  /** Stops the started parts in reverse order. */
  readonly lifecycle: Lifecycle;
  /**
   * True if the database is an older copy. The service then catches up with the chain before it sends anything. Default
   * false.
   */
  readonly afterRestore?: boolean;
  /**
   * Only for tests: opens a network's access, so that two localnets can pose as two networks. No setting reaches this
   * option. Default: the configured access.
   */
  readonly openAccess?: (network: NetworkConfig) => Promise<NetworkAccess>;
}

/** A running service. */
export interface App {
  /** The base URL of all protocols. */
  readonly url: string;
  /** Lines to print for the person who started it. */
  readonly banner: readonly string[];
}

/** Runs both at once. If one fails, waits for the other, so that its started part can be stopped. */
async function together<A, B>(first: Promise<A>, second: Promise<B>): Promise<[A, B]> {
  await Promise.allSettled([first, second]);
  return Promise.all([first, second]);
}
