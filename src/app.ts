import type { Logger } from "pino";
import { openChainAccess } from "./app/chain-access.ts";
import { createChainWork } from "./app/chain-work.ts";
import { openCoordination } from "./app/open-coordination.ts";
import { createCallersRefill } from "./app/presign-refill.ts";
import { startProbes } from "./app/probe-routes.ts";
import { serveContract } from "./app/serve-contract.ts";
import { takeDeposits } from "./app/take-deposits.ts";
import { startWorkerServer } from "./app/worker-server.ts";
import { createAuditSealer } from "./audit/audit-sealer.ts";
import { createSealKey } from "./audit/seal-key.ts";
import { createDepositSigner } from "./billing/sweeps/sweep-signer.ts";
import { createCallerReads } from "./chain/caller-reads.ts";
import { checkChain } from "./chain/check-chain.ts";
import { type ChainNetwork, connectNetwork, inBackground } from "./chain/network.ts";
import { createNetworkReader } from "./chain/reader.ts";
import type { Config } from "./config/config.ts";
import { healthChecks } from "./health/checks/health-checks.ts";
import { explainChainFailure } from "./health/doctor/explain-chain-failure.ts";
import { checkReadiness } from "./health/readiness.ts";
import { readyGauge } from "./health/ready-gauge.ts";
import { runningSubject } from "./health/running-subject.ts";
import { createKeySweep } from "./idempotency/sweep-keys.ts";
import { systemClock } from "./lifecycle/clock.ts";
import type { Lifecycle } from "./lifecycle/lifecycle.ts";
import { startLoops } from "./lifecycle/start-loops.ts";
import { createObservation } from "./observe/observation.ts";
import { readAges } from "./observe/read-ages.ts";
import { createServiceMetrics } from "./observe/service-metrics.ts";
import { createSamplers } from "./operations/create-samplers.ts";
import { createPresignQueue } from "./presigns/presign-queue.ts";
import { createVerifier } from "./signing/verifier.ts";
import { migrate } from "./store/migrate.ts";
import { openDatabase } from "./store/open-database.ts";
import { traceDatabase } from "./store/trace-database.ts";
import { startLoopMonitor } from "./telemetry/loop-monitor.ts";
import { createMetrics } from "./telemetry/metrics.ts";
import { openTracing } from "./telemetry/open-tracing.ts";
import { isTracing } from "./telemetry/tracer.ts";

/** Starts all parts of the process type in the order of their dependencies, and listens last. */
export async function startApp(config: Config, options: AppOptions): Promise<App> {
  const { log, lifecycle, afterRestore = false } = options;
  const { processType } = config;
  const clock = systemClock;
  if (afterRestore && processType === "api")
    throw new Error("--after-restore needs a process that acts on the chain: PROCESS_TYPE=worker or all");
  const tracing = await openTracing(config.tracing, log);
  const { tracer } = tracing;
  // Starts first and stops last, so that it also sends spans that end while the others stop.
  lifecycle.onStop("traces", () => tracing.close());
  const metrics = createMetrics({ exemplars: isTracing(tracer) });
  lifecycle.onStop("metrics", () => metrics.close());
  const loopMonitor = startLoopMonitor(metrics);
  lifecycle.onStop("loop monitor", () => loopMonitor.close());

  const { dataDirectory } = config;
  const [opened, chain] = await together(
    lifecycle.start(
      "database",
      () =>
        openDatabase({ databaseUrl: config.databaseUrl?.reveal(), dataDirectory, log, ...config.database }),
      (running) => running.close(),
    ),
    openChainAccess(config, { lifecycle, log }),
  );
  const database = isTracing(tracer) ? traceDatabase(opened, tracer) : opened;
  await migrate(database, log, { lockWaitMs: config.database.migrationLockWaitMs });
  const coordination = openCoordination(config, log);
  lifecycle.onStop("coordination", () => coordination.close());
  const { signals } = coordination;
  const verifier = createVerifier({ threadMaxCount: config.verifyThreads });
  lifecycle.onStop("verifier", () => verifier.close());

  const observe = createServiceMetrics(metrics);
  let network: ChainNetwork;
  try {
    network = await connectNetwork({ ...chain, clock, onMixUp: observe.onMixUp });
    await checkChain(database, network);
  } catch (cause) {
    throw await explainChainFailure(cause, { config, db: database });
  }
  const reader = createNetworkReader(network);
  // Other reads of the fullnode never delay the reads for work on the chain.
  const shownNetwork = inBackground(network);
  const shown = { network: shownNetwork, reader: createNetworkReader(shownNetwork) };
  const { backOffs } = network;
  const callerReads = createCallerReads({ limits: config.callerReads, coordination, backOffs });
  const presigns = createPresignQueue({ signals, clock, onWait: observe.onPresignWait });
  const taken = await takeDeposits({
    ...{ database, network: shownNetwork, callerReads },
    ...{ config: config.deposits, log },
  });
  await startLoops(lifecycle, taken.priceLoops);
  const { deposits } = taken;
  const depositSigner = createDepositSigner(deposits?.masterSeed, network.name);
  const work = {
    database,
    network,
    reader,
    signals,
    presigns,
    verifier,
    deposits,
    depositSigner,
    config,
    observe,
    tracer,
    log,
  };
  if (processType === "api") {
    await startLoops(lifecycle, { refill: createCallersRefill(work) });
  } else {
    const keySweep = createKeySweep({ database, clock, log });
    const sealKey = config.auditSealSecretHex && createSealKey(config.auditSealSecretHex);
    const auditSealer = createAuditSealer({ database, key: sealKey, clock, log });
    const chainWork = await createChainWork({ ...work, afterRestore });
    const samplers = createSamplers({ ...shown, database, config, log });
    await startLoops(lifecycle, { keySweep, auditSealer, ...taken.watchLoops, ...chainWork, ...samplers });
  }

  const ages = readAges(database, network.name, config.deposits);
  const figures = createObservation({ ...shown, metrics, database, config, ages, log });
  await startLoops(lifecycle, figures);

  const running = runningSubject({ config, database, access: chain, network, coordination });
  const readiness = checkReadiness(healthChecks(running));
  readyGauge(metrics, readiness);
  const probes = await startProbes({ config, readiness, metrics, lifecycle, log });
  const parts = { config, probes, lifecycle, log };
  const app =
    processType === "worker"
      ? { url: (await startWorkerServer(parts)).url, banner: [] }
      : await serveContract({
          ...parts,
          ...shown,
          readiness,
          database,
          callerReads,
          coordination,
          presigns,
          verifier,
          deposits,
          metrics,
          observe,
          tracer,
        });
  loopMonitor.reset();
  return app;
}

/** Options of {@link startApp}. */
export interface AppOptions {
  readonly log: Logger;
  /** Stops the started parts in reverse. */
  readonly lifecycle: Lifecycle;
  /**
   * True if the database is an older copy. The service then catches up with the chain before it sends anything. Default
   * false.
   */
  readonly afterRestore?: boolean;
}

/** A running service. */
export interface App {
  /** Base URL of all protocols. */
  readonly url: string;
  /** Lines for the person who started it. */
  readonly banner: readonly string[];
}

/** Runs both at once. If one fails, waits for the other, so that its started part can be stopped. */
async function together<A, B>(first: Promise<A>, second: Promise<B>): Promise<[A, B]> {
  await Promise.allSettled([first, second]);
  return Promise.all([first, second]);
}
