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
import { explainChainFailure } from "../operator/health/doctor/doctor-chain.ts";
import { createSamplers } from "../operator/history/sampling.ts";
import { createObservation } from "../operator/metrics/observation.ts";
import { createServiceMetrics, type ServiceMetrics } from "../operator/metrics/service-metrics.ts";
import type { Lifecycle } from "../platform/lifecycle/lifecycle.ts";
import { startLoopsTogether } from "../platform/lifecycle/start-loops.ts";
import type { Database } from "../platform/store/database.ts";
import { createPresignQueue } from "../presigns/presign-queue.ts";
import { createVerifier } from "../signing/verifier.ts";
import { createCallersRefill, createChainWork } from "./chain-work.ts";
import type { OpenNetwork } from "./network.ts";
import { accessOf, openPool, type Service } from "./service.ts";
import { takeDeposits } from "./take-deposits.ts";

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
