import type { Logger } from "pino";
import { createDepositSigner } from "../billing/sweeps/sweep-signer.ts";
import { announceNetwork, awaitAnnouncedNetwork } from "../chain/fullnodes/announced-network.ts";
import { type CallerReads, createCallerReads } from "../chain/fullnodes/caller-reads.ts";
import { checkChain, knownChain } from "../chain/fullnodes/check-chain.ts";
import {
  type ChainNetwork,
  connectNetwork,
  inBackground,
  type NetworkAccess,
  type WalletAddresses,
} from "../chain/fullnodes/network.ts";
import { createNetworkReader, type NetworkReader } from "../chain/reader.ts";
import { prepareLanes } from "../chain/submit/prepare-lanes.ts";
import type { Config } from "../config/config.ts";
import type { NetworkConfig } from "../config/networks.ts";
import { explainChainFailure } from "../operator/health/doctor/doctor-chain.ts";
import { createSamplers } from "../operator/history/sampling.ts";
import { createObservation } from "../operator/metrics/observation.ts";
import { createServiceMetrics, type ServiceMetrics } from "../operator/metrics/service-metrics.ts";
import type { Coordination } from "../platform/coordination/coordination.ts";
import { systemClock } from "../platform/lifecycle/clock.ts";
import type { Lifecycle } from "../platform/lifecycle/lifecycle.ts";
import { startLoopsTogether } from "../platform/lifecycle/start-loops.ts";
import type { Database } from "../platform/store/database.ts";
import type { MetricsMaker } from "../platform/telemetry/network-metrics.ts";
import type { Tracer } from "../platform/telemetry/tracer.ts";
import { createPresignQueue, type PresignQueue } from "../presigns/presign-queue.ts";
import type { ProcessMark } from "../restore/mark-process.ts";
import type { SignObserver } from "../signing/sign-operation.ts";
import { createVerifier, type Verifier } from "../signing/verifier.ts";
import { createCallersRefill, createChainWork } from "./chain-work.ts";
import type { NetworkServices } from "./network-services.ts";
import { type TakenDeposits, takeDeposits } from "./take-deposits.ts";

/**
 * Opens one network: creates all its parts from its configuration and starts them. They share nothing with the parts of
 * another network except the process. If the fullnode does not answer or serves another chain, throws an error with the
 * doctor's findings.
 */
export async function openNetwork(options: OpenNetworkOptions): Promise<OpenNetwork> {
  const { config, network: own, processType, coordination, lifecycle, log, mark } = options;
  const { tracer, metrics, serve } = options;
  const { signals } = coordination;
  const clock = systemClock;
  const database = await options.openDatabase(lifecycle);
  await mark.checkFree(own.name);
  const verifier = createVerifier({ threadMaxCount: own.verifyThreads });
  lifecycle.onStop("verifier", () => verifier.close());
  const observe = createServiceMetrics(metrics);
  const announced =
    processType === "api" ? await awaitAnnouncedNetwork(database, own.name, { clock, log }) : undefined;
  const network = await connect(options, database, observe, announced);
  const reader = createNetworkReader(network);
  // Separate, so that other reads of the fullnode never delay the reads for work on the chain.
  const shownNetwork = inBackground(network);
  const shown = { network: shownNetwork, reader: createNetworkReader(shownNetwork) };
  const callerReads = createCallerReads({
    ...{ network: network.name, limits: own.callerReads, coordination, backOffs: network.backOffs },
  });
  const presigns = createPresignQueue({ signals, clock, onWait: observe.onPresignWait });
  const taken = await takeDeposits({
    ...{ database, network: shownNetwork, callerReads },
    ...{ config: own.deposits, announced, signals, log },
  });
  if (!announced) {
    const { senderAddress, gasOwnerAddress } = network;
    const takesDeposits = taken.deposits !== undefined;
    await announceNetwork(database, own.name, { senderAddress, gasOwnerAddress, takesDeposits });
  }
  await startLoopsTogether(lifecycle, taken.priceLoops);
  const { deposits, pricedCoins } = taken;
  const depositSigner = createDepositSigner(deposits?.masterSeed, network.name);
  const base = { database, signals, presigns, verifier, deposits, depositSigner, observe, tracer, log };
  const work = { ...base, network, reader, config: own };
  if (processType === "api") {
    // A restored database must show itself in every process, before a worker starts.
    await prepareLanes({ database, network, reader, afterRestore: false, log });
    await startLoopsTogether(lifecycle, [{ name: "refill", loop: createCallersRefill(work) }]);
  } else {
    // A second attempt to open the network must not reconcile it again, beside processes that have opened it since.
    const chainWork = await createChainWork({
      ...work,
      afterRestore: mark.reconciles(own.name),
    });
    await mark.reconciled(own.name);
    const samplers = createSamplers({ ...shown, database, config: own, log });
    await startLoopsTogether(lifecycle, [...taken.watchLoops, ...chainWork, ...samplers]);
  }
  const figures = createObservation({ ...shown, metrics, database, pricedCoins, config: own, log });
  await startLoopsTogether(lifecycle, figures);
  const parts = {
    config,
    own,
    database,
    ...shown,
    callerReads,
    presigns,
    verifier,
    deposits,
    lifecycle,
    log,
  };
  return { network, observer: observe.signs, services: await serve?.(parts) };
}

/** A running network. */
export interface OpenNetwork {
  readonly network: ChainNetwork;
  readonly observer: SignObserver;
  /** Undefined in a worker. */
  readonly services: NetworkServices | undefined;
}

/** The parts of a network that its callers use. */
export interface NetworkParts extends Pick<TakenDeposits, "deposits"> {
  readonly config: Config;
  readonly own: NetworkConfig;
  readonly database: Database;
  readonly network: ChainNetwork;
  readonly reader: NetworkReader;
  readonly callerReads: CallerReads;
  readonly presigns: PresignQueue;
  readonly verifier: Verifier;
  readonly lifecycle: Lifecycle;
  readonly log: Logger;
}

export interface OpenNetworkOptions {
  readonly config: Config;
  readonly network: NetworkConfig;
  readonly processType: Config["processType"];
  /** Opens the network's connections to the database, which close with the lifecycle. */
  readonly openDatabase: (lifecycle: Lifecycle) => Promise<Database>;
  readonly access: () => Promise<NetworkAccess>;
  readonly coordination: Coordination;
  /** The metrics of the network. */
  readonly metrics: MetricsMaker;
  readonly tracer: Tracer;
  /** The network's own lifecycle, so that it can end before the process does. */
  readonly lifecycle: Lifecycle;
  readonly log: Logger;
  /** The mark of this process in the database. */
  readonly mark: Pick<ProcessMark, "checkFree" | "reconciles" | "reconciled">;
  /** Builds the parts for callers. Undefined in a worker. */
  readonly serve: ((parts: NetworkParts) => Promise<NetworkServices>) | undefined;
}

async function connect(
  { network: own, access, log }: OpenNetworkOptions,
  database: Database,
  observe: ServiceMetrics,
  walletAddresses: WalletAddresses | undefined,
): Promise<ChainNetwork> {
  try {
    const chain = await knownChain(database, own.name);
    const found = await access();
    const network = await connectNetwork({
      ...{ ...found, walletAddresses },
      ...{ clock: systemClock, chain, onMixUp: observe.onMixUp },
      onSwitch(fullnode) {
        observe.onFullnodeSwitch();
        log.warn({ fullnode }, "another fullnode answers");
      },
    });
    await checkChain(database, network, found);
    return network;
  } catch (cause) {
    throw await explainChainFailure(cause, { network: own, access, db: database });
  }
}
