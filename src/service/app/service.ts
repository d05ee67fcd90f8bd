import { hostname } from "node:os";
import type { Logger } from "pino";
import { readAnnouncedNetwork } from "../chain/fullnodes/announced-network.ts";
import type { NetworkAccess } from "../chain/fullnodes/network.ts";
import { createNetworkFetch } from "../chain/fullnodes/network-fetch.ts";
import type { Config } from "../config/config.ts";
import type { NetworkConfig } from "../config/networks.ts";
import { createParameterStore, type ParameterStore } from "../onboarding/parameter-store.ts";
import { createPoolGauges, type PoolGauges } from "../operator/metrics/pool-gauges.ts";
import { createSharedMetrics, type SharedMetrics } from "../operator/metrics/shared-figures.ts";
import type { Coordination } from "../platform/coordination/coordination.ts";
import { createLocalCoordination } from "../platform/coordination/local-coordination.ts";
import { createRedisCoordination } from "../platform/coordination/redis-coordination.ts";
import { type Clock, systemClock } from "../platform/lifecycle/clock.ts";
import type { Lifecycle } from "../platform/lifecycle/lifecycle.ts";
import type { Database } from "../platform/store/database.ts";
import { migrate } from "../platform/store/migrate.ts";
import { openDatabase } from "../platform/store/open-database.ts";
import { traceDatabase } from "../platform/store/trace-database.ts";
import { createMetrics, type Metrics } from "../platform/telemetry/metrics.ts";
import { createNetworkMetrics } from "../platform/telemetry/network-metrics.ts";
import { openTracing } from "../platform/telemetry/open-tracing.ts";
import { isTracing, type Tracer } from "../platform/telemetry/tracer.ts";
import { markProcess, type ProcessMark } from "../restore/mark-process.ts";
import { openChainAccess } from "./chain-access.ts";

/** What all networks of a process share. {@link openService} makes it once. */
export interface Service {
  readonly config: Config;
  readonly clock: Clock;
  /** Stops the started parts in reverse order. */
  readonly lifecycle: Lifecycle;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Returns the metrics of one network. */
  readonly metricsOf: ReturnType<typeof createNetworkMetrics>;
  readonly observe: SharedMetrics;
  readonly showPool: PoolGauges;
  readonly tracer: Tracer;
  readonly database: Database;
  readonly coordination: Coordination;
  /** The mark of this process in the database. */
  readonly mark: ProcessMark;
  /** Caches protocol parameters of all networks by their digest. */
  readonly parameterStore: ParameterStore;
  /** The address of each chain and the keys, by the name of the network. */
  readonly accesses: ReadonlyMap<string, NetworkAccess>;
}

/** Opens what the networks share: traces and metrics, the migrated database, coordination, and access to the chains. */
export async function openService(config: Config, options: ServiceOptions): Promise<Service> {
  const { log, lifecycle, afterRestore } = options;
  const { processType, dataDirectory, networks } = config;
  const clock = systemClock;
  const tracing = await openTracing(config.tracing, log);
  const { tracer } = tracing;
  // Starts first and stops last, so that it also exports spans that end during the shutdown.
  lifecycle.onStop("traces", () => tracing.close());
  const metrics = createMetrics({ exemplars: isTracing(tracer) });
  lifecycle.onStop("metrics", () => metrics.close());
  const openAccess =
    options.openAccess ?? ((network) => openChainAccess(network, { dataDirectory, lifecycle, log }));
  const [database, opened] = await together(
    openPool({ config, tracer, log }, lifecycle),
    Promise.all(networks.map(openAccess)),
  );
  await migrate(database, log, { lockWaitMs: config.database.migrationLockWaitMs });
  const mark = await startMark(lifecycle, {
    database,
    kind: processType,
    reconciles: afterRestore ? networks.map(({ name }) => name) : [],
    clock,
    log,
  });
  const coordination = openCoordination(config, log);
  lifecycle.onStop("coordination", () => coordination.close());
  const connections = networks.map(() => createNetworkFetch({ clock }));
  lifecycle.onStop("connections of the networks", () =>
    Promise.all(connections.map((connection) => connection.close())),
  );
  const accesses = networks.map(
    ({ name }, index) => [name, { ...opened[index]!, fetch: connections[index]!.fetch }] as const,
  );
  return {
    config,
    clock,
    lifecycle,
    log,
    metrics,
    metricsOf: createNetworkMetrics(metrics),
    observe: createSharedMetrics(metrics),
    showPool: createPoolGauges(metrics),
    tracer,
    database,
    coordination,
    mark,
    parameterStore: createParameterStore(dataDirectory),
    accesses: new Map(accesses),
  };
}

/** Options of {@link openService}. */
export interface ServiceOptions {
  readonly log: Logger;
  readonly lifecycle: Lifecycle;
  /** True if the database is an older copy that this process brings in line with the chain. */
  readonly afterRestore: boolean;
  /** Only for tests: opens a network's access. Default: the configured access. */
  readonly openAccess?: ((network: NetworkConfig) => Promise<NetworkAccess>) | undefined;
}

/**
 * Returns the address of a network's chain with the service's keys. An api process has no keys, so it gets the wallets
 * that a worker announced.
 */
export async function accessOf(
  { config, database, accesses }: Pick<Service, "config" | "database" | "accesses">,
  name: string,
): Promise<NetworkAccess> {
  const found = accesses.get(name);
  if (found === undefined) throw new Error(`${name} has no access`);
  const walletAddresses =
    config.processType === "api" ? await readAnnouncedNetwork(database, name) : undefined;
  // Copied for each attempt to connect, because the Ika client completes its configuration in place.
  return { ...found, walletAddresses, ikaConfig: structuredClone(found.ikaConfig) };
}

/** Opens connections to the configured database. They close with the lifecycle. */
export async function openPool(
  { config, tracer, log }: Pick<Service, "config" | "tracer" | "log">,
  lifecycle: Lifecycle,
): Promise<Database> {
  const databaseUrl = config.databaseUrl?.reveal();
  const { dataDirectory } = config;
  const opened = await lifecycle.start(
    "database",
    () => openDatabase({ databaseUrl, dataDirectory, log, ...config.database }),
    (running) => running.close(),
  );
  return isTracing(tracer) ? traceDatabase(opened, tracer) : opened;
}

/** Marks this process in the database, and renews the mark until the process stops. */
export async function startMark(
  lifecycle: Lifecycle,
  options: Omit<Parameters<typeof markProcess>[0], "host" | "pid">,
): Promise<ProcessMark> {
  const mark = await lifecycle.start(
    "process mark",
    () => markProcess({ ...options, host: hostname(), pid: process.pid }),
    (made) => made.end(),
  );
  mark.loop.start();
  return mark;
}

/**
 * Opens the coordination of replicas: through Redis if configured, otherwise within the process. Warns if other
 * replicas may exist without Redis.
 */
export function openCoordination(
  { redisUrl, databaseUrl }: Pick<Config, "redisUrl" | "databaseUrl">,
  log: Logger,
): Coordination {
  if (redisUrl !== undefined) return createRedisCoordination({ url: redisUrl.reveal(), log });
  // The embedded database has only one process.
  const isAlone = databaseUrl === undefined;
  if (!isAlone) log.warn({}, ALONE);
  return createLocalCoordination(undefined, isAlone);
}

const ALONE =
  "REDIS_URL is not set: with other replicas, this one counts calls for its rate limits separately, accepts a key that " +
  "another one revoked for up to five seconds more, and notices the others' changes later, by polling; nothing else changes";

/** Runs both at once. If one fails, waits for the other, so that its started part can be stopped. */
async function together<A, B>(first: Promise<A>, second: Promise<B>): Promise<[A, B]> {
  await Promise.allSettled([first, second]);
  return Promise.all([first, second]);
}
