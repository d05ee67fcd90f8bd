import type { Logger } from "pino";
import { createAuditSealer, createSealKey } from "../audit/seal-events.ts";
import type { NetworkAccess } from "../chain/fullnodes/network.ts";
import type { Config } from "../config/config.ts";
import type { NetworkConfig } from "../config/networks.ts";
import { healthChecks } from "../operator/health/checks/health-checks.ts";
import { checkReadiness, readyGauge } from "../operator/health/readiness.ts";
import { runningSubject } from "../operator/health/running-subject.ts";
import { createSharedFigures } from "../operator/metrics/shared-figures.ts";
import { createKeySweep } from "../platform/idempotency/key-table.ts";
import type { Lifecycle } from "../platform/lifecycle/lifecycle.ts";
import { type NamedLoop, startLoops } from "../platform/lifecycle/start-loops.ts";
import { startLoopMonitor } from "../platform/telemetry/loop-monitor.ts";
import { createEndpointSecrets } from "../webhooks/endpoint-secret.ts";
import { createDeliveryRetention } from "../webhooks/retain-deliveries.ts";
import { createWebhookSender } from "../webhooks/send-webhook.ts";
import { createWebhookLoop } from "../webhooks/webhook-loop.ts";
import { type Networks, openNetwork, openNetworks } from "./open-networks.ts";
import { serveContract } from "./serve-contract.ts";
import { serveNetwork } from "./serve-network.ts";
import { startProbes, startWorkerServer } from "./servers.ts";
import { openService, type Service } from "./service.ts";
import { createSharedWork } from "./work.ts";

/** Starts all parts of the process type in the order of their dependencies, and listens last. */
export async function startApp(config: Config, options: AppOptions): Promise<App> {
  const { afterRestore = false } = options;
  const { processType } = config;
  if (afterRestore && processType === "api")
    throw new Error("--after-restore needs a process that acts on the chain: PROCESS_TYPE=worker or all");
  const service = await openService(config, { ...options, afterRestore });
  const { database, metrics, coordination, clock, lifecycle, log } = service;
  const loopMonitor = startLoopMonitor(metrics);
  lifecycle.onStop("loop monitor", () => loopMonitor.close());
  service.showPool("shared", database);
  const networks = await openNetworks(service, async (own, parts, ownLog) => {
    const network = await openNetwork(service, own, parts, ownLog);
    if (processType === "worker") return { network, services: undefined };
    const services = await serveNetwork(network, service, { readiness: () => readiness(), lifecycle: parts });
    return { network, services };
  });
  if (processType !== "api") await startLoops(lifecycle, workOf(service, networks));
  await startLoops(lifecycle, createSharedFigures({ metrics, database, clock, log }));

  const running = runningSubject({ config, database, networks: networks.health, coordination });
  const readiness = checkReadiness(healthChecks(running));
  readyGauge(metrics, readiness);
  const probes = await startProbes(service, readiness);
  const app =
    processType === "worker"
      ? { url: (await startWorkerServer(service, probes)).url, banner: [] }
      : await serveContract(service, networks, probes);
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

/** The loops of a process that acts on the chain which concern no single network. */
function workOf(service: Service, networks: Networks): NamedLoop[] {
  const { config, database, coordination, observe, clock, log } = service;
  const secrets = config.webhookSecretHex && createEndpointSecrets(config.webhookSecretHex);
  const sealKey = config.auditSealSecretHex && createSealKey(config.auditSealSecretHex);
  return [
    { name: "keySweep", loop: createKeySweep({ database, clock, log }) },
    { name: "auditSealer", loop: createAuditSealer({ database, key: sealKey, clock, log }) },
    ...createSharedWork({
      database,
      signals: coordination.signals,
      retentionDays: config.retentionDays,
      clock,
      log,
      observe,
      observerOf: (name) => networks.opened(name)?.network.observe?.signs,
    }),
    { name: "webhook retention", loop: createDeliveryRetention({ database, clock, log }) },
    ...(secrets === undefined
      ? []
      : [
          {
            name: "webhooks",
            loop: createWebhookLoop({
              database,
              secrets,
              clock,
              log,
              signals: coordination.signals,
              send: createWebhookSender({ allowsInside: config.allowsPrivateWebhooks }),
              onAttempt: observe.onWebhook,
            }),
          },
        ]),
  ];
}
