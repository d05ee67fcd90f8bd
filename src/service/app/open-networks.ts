import type { Logger } from "pino";
import { createDepositSigner } from "../billing/sweeps/sweep-signer.ts";
import {
  type AnnouncedNetwork,
  announceNetwork,
  awaitAnnouncedNetwork,
} from "../chain/fullnodes/announced-network.ts";
import { createCallerReads } from "../chain/fullnodes/caller-reads.ts";
import { checkChain, knownChain } from "../chain/fullnodes/check-chain.ts";
import { type ChainNetwork, connectNetwork, inBackground } from "../chain/fullnodes/network.ts";
import { createNetworkReader } from "../chain/reader.ts";
import { prepareLanes } from "../chain/submit/prepare-lanes.ts";
import type { NetworkConfig } from "../config/networks.ts";
import type { HealthNetwork } from "../operator/health/checks/health-check.ts";
import { explainChainFailure, openDoctorChain } from "../operator/health/doctor/doctor-chain.ts";
import { createSamplers } from "../operator/history/sampling.ts";
import { createObservation } from "../operator/metrics/observation.ts";
import { createServiceMetrics, type ServiceMetrics } from "../operator/metrics/service-metrics.ts";
import { type Clock, pause } from "../platform/lifecycle/clock.ts";
import { type KeptOpen, keepOpen } from "../platform/lifecycle/keep-open.ts";
import type { Lifecycle } from "../platform/lifecycle/lifecycle.ts";
import { startLoopsTogether } from "../platform/lifecycle/start-loops.ts";
import type { Database } from "../platform/store/database.ts";
import type { Metrics } from "../platform/telemetry/metrics.ts";
import { createPresignQueue } from "../presigns/presign-queue.ts";
import { createVerifier } from "../signing/verify/verifier.ts";
import type { OpenNetwork } from "./network.ts";
import type { NetworkServices } from "./serve-network.ts";
import { accessOf, openPool, type Service } from "./service.ts";
import { takeDeposits } from "./take-deposits.ts";
import { createCallersRefill, createChainWork } from "./work.ts";

/**
 * Opens the networks concurrently. Throws the failure of a single network. With several, returns once one is open and
 * the others have finished their first attempt or a few seconds have passed; the others continue in the background.
 * Throws if the first attempts of all networks fail.
 */
export async function openNetworks(service: Service, open: OpenServed): Promise<Networks> {
  const { clock, lifecycle } = service;
  const { networks } = service.config;
  const isRetried = networks.length > 1;
  const kept = networks.map((config) => {
    const log = service.log.child({ network: config.name });
    const entry = {
      config,
      ...keepOpen({ open: (own) => open(config, own, log), clock, log, isRetried }),
    };
    entry.first.catch(() => {});
    return entry;
  });
  lifecycle.onStop("networks", () => stopAll(kept), STOP_TIMEOUT_MS);
  showOpen(service.metrics, kept);
  await firstAttempts(kept, clock);
  return {
    opened: (name) => kept.find(({ config }) => config.name === name)?.opened(),
    anyOpen: () => kept.map((entry) => entry.opened()).find((one) => one !== undefined),
    health: kept.map((entry) => healthOf(entry, service)),
  };
}

/** The networks of this process. */
export interface Networks {
  /** Returns the network; undefined while it is not open. */
  opened(name: string): ServedNetwork | undefined;
  /** Returns the first open network, if any. */
  anyOpen(): ServedNetwork | undefined;
  readonly health: readonly HealthNetwork[];
}

/** An open network with its services. */
export interface ServedNetwork {
  readonly network: OpenNetwork;
  /** Undefined in a worker. */
  readonly services: NetworkServices | undefined;
}

/** Opens one network. Its lifecycle is its own, so that it can end before the process. */
export type OpenServed = (config: NetworkConfig, lifecycle: Lifecycle, log: Logger) => Promise<ServedNetwork>;

type Entry = KeptOpen<ServedNetwork> & { readonly config: NetworkConfig };

/** The longest wait for the first attempts of other networks once one is open. */
const OTHERS_MS = 5_000;
/** Bounds the stop of all networks. Each part has its own limit. */
const STOP_TIMEOUT_MS = 120_000;

/** Stops the networks concurrently, because one may wait for its fullnode. Returns true if all stopped cleanly. */
async function stopAll(kept: readonly Entry[]): Promise<boolean> {
  const areClean = await Promise.all(kept.map((entry) => entry.stop()));
  return areClean.every((isClean) => isClean);
}

async function firstAttempts(kept: readonly Entry[], clock: Clock): Promise<void> {
  const firsts = kept.map(({ first }) => first);
  const waiting = new AbortController();
  try {
    await Promise.any(firsts);
    await Promise.race([Promise.allSettled(firsts), pause(clock, OTHERS_MS, waiting.signal)]);
  } catch (error) {
    if (!(error instanceof AggregateError)) throw error;
    if (kept.length === 1) throw error.errors[0];
    const causes = error.errors.map((cause, index) => `${kept[index]?.config.name}: ${messageOf(cause)}`);
    throw new Error(`no network can be opened\n${causes.join("\n")}`, { cause: error });
  } finally {
    waiting.abort();
  }
}

function showOpen(metrics: Pick<Metrics, "gauge">, kept: readonly Entry[]): void {
  metrics.gauge(
    "network_open",
    "1 while this replica has opened the network, 0 while it refuses the network's calls.",
    ["network"],
    (gauge) => {
      for (const { config, opened } of kept)
        gauge.set({ network: config.name }, Number(opened() !== undefined));
    },
  );
}

function healthOf({ config, opened }: Entry, service: Service): HealthNetwork {
  const access = () => accessOf(service, config.name);
  const outside = openDoctorChain(config, access);
  return {
    config,
    isOpen: () => opened() !== undefined,
    chain: {
      access,
      client: async () => opened()?.network.chain.client ?? outside.client(),
      network: async () => opened()?.network.chain ?? outside.network(),
    },
  };
}

const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));

/**
 * Opens one network: makes its parts and starts their loops. If the fullnode does not answer or serves another chain,
 * throws an error with the doctor's findings. The lifecycle is the network's own, so that it can end before the process.
 */
export async function openNetwork(
  service: Service,
  config: NetworkConfig,
  lifecycle: Lifecycle,
  log: Logger,
): Promise<OpenNetwork> {
  const { coordination, clock, mark, tracer } = service;
  const { name } = config;
  const { signals } = coordination;
  const isApi = service.config.processType === "api";
  const database = await openOwnPool(service, name, lifecycle);
  await mark.checkFree(name);
  const verifier = createVerifier({ threadMaxCount: config.verifyThreads });
  lifecycle.onStop("verifier", () => verifier.close());
  const metrics = service.metricsOf(name);
  const observe = createServiceMetrics(metrics);
  const announced = isApi ? await awaitAnnouncedNetwork(database, name, { clock, log }) : undefined;
  const chain = await connect(service, config, { database, observe, announced, log });
  const backgroundChain = inBackground(chain);
  const background = { chain: backgroundChain, reader: createNetworkReader(backgroundChain) };
  const callerReads = createCallerReads({
    network: name,
    limits: config.callerReads,
    coordination,
    backOffs: chain.backOffs,
  });
  const taken = await takeDeposits({
    database,
    network: background.chain,
    callerReads,
    config: config.deposits,
    usersMaxCount: config.usersMaxCount,
    announced,
    signals,
    log,
  });
  const { deposits, pricedCoins } = taken;
  if (!announced) {
    const { senderAddress, gasOwnerAddress } = chain;
    await announceNetwork(database, name, {
      senderAddress,
      gasOwnerAddress,
      takesDeposits: deposits !== undefined,
    });
  }
  await startLoopsTogether(lifecycle, taken.priceLoops);
  const network: OpenNetwork = {
    config,
    database,
    chain,
    reader: createNetworkReader(chain),
    background,
    callerReads,
    signals,
    presigns: createPresignQueue({ signals, clock, onWait: observe.onPresignWait }),
    verifier,
    deposits,
    depositSigner: createDepositSigner(deposits?.masterSeed, name),
    observe,
    tracer,
    log,
  };
  if (isApi) {
    // A restored database must show itself in every process, before a worker starts.
    await prepareLanes({ database, network: chain, reader: network.reader, afterRestore: false, log });
    await startLoopsTogether(lifecycle, [{ name: "refill", loop: createCallersRefill(network) }]);
  } else {
    // A second attempt to open the network must not reconcile it again, beside processes that have opened it since.
    const reconcileOn = mark.reconciles(name) ? mark.guard(database) : undefined;
    const chainWork = await createChainWork(network, { reconcileOn });
    await mark.reconciled(name);
    const samplers = createSamplers({
      database,
      network: background.chain,
      reader: background.reader,
      config,
      log,
    });
    await startLoopsTogether(lifecycle, [...taken.watchLoops, ...chainWork, ...samplers]);
  }
  const figures = createObservation({
    metrics,
    database,
    network: background.chain,
    reader: background.reader,
    pricedCoins,
    config,
    log,
  });
  await startLoopsTogether(lifecycle, figures);
  return network;
}

/** Each of several networks has its own pool, so that one whose statements wait does not exhaust the others'. */
async function openOwnPool(service: Service, name: string, lifecycle: Lifecycle): Promise<Database> {
  if (service.config.networks.length === 1) return service.database;
  const own = await openPool(service, lifecycle);
  service.showPool(name, own);
  return own;
}

async function connect(
  service: Service,
  config: NetworkConfig,
  {
    database,
    observe,
    announced: walletAddresses,
    log,
  }: {
    readonly database: Database;
    readonly observe: ServiceMetrics;
    readonly announced: AnnouncedNetwork | undefined;
    readonly log: Logger;
  },
): Promise<ChainNetwork> {
  const access = () => accessOf(service, config.name);
  try {
    const chain = await knownChain(database, config.name);
    const found = await access();
    const network = await connectNetwork({
      ...found,
      walletAddresses,
      clock: service.clock,
      chain,
      onMixUp: observe.onMixUp,
      onSwitch(fullnode) {
        observe.onFullnodeSwitch();
        log.warn({ fullnode }, "another fullnode answers");
      },
    });
    await checkChain(database, network, found);
    return network;
  } catch (cause) {
    throw await explainChainFailure(cause, { network: config, access, db: database });
  }
}
