import type { Deposits } from "../billing/deposits/deposits.ts";
import { createSweepLoop } from "../billing/sweeps/sweep-loop.ts";
import { createSweepOperation } from "../billing/sweeps/sweep-operation.ts";
import type { DepositSigner } from "../billing/sweeps/sweep-signer.ts";
import { type ChainNetwork, inBackground } from "../chain/fullnodes/network.ts";
import type { OperationKind } from "../chain/operation.ts";
import { createNetworkReader, type NetworkReader } from "../chain/reader.ts";
import type { SessionKind } from "../chain/session.ts";
import { createSettler } from "../chain/settler.ts";
import { createGasKeeper } from "../chain/submit/gas-keeper.ts";
import { createLanes } from "../chain/submit/lane.ts";
import { readForeignUses } from "../chain/submit/lane-table.ts";
import { prepareLanes } from "../chain/submit/prepare-lanes.ts";
import { createSubmitter } from "../chain/submit/submitter.ts";
import { createTreasuryReader } from "../chain/treasury/treasury-reader.ts";
import type { NetworkConfig } from "../config/networks.ts";
import { createAcceptOperation } from "../onboarding/accept-dwallet.ts";
import { createConsentOperation } from "../onboarding/custody/consent-operation.ts";
import { createCustodyLoop } from "../onboarding/custody/custody-loop.ts";
import { createDkgOperation } from "../onboarding/dkg-operation.ts";
import { createDWalletSession } from "../onboarding/dwallet-session.ts";
import { createRegisterOperation } from "../onboarding/register-operation.ts";
import type { ServiceMetrics } from "../operator/metrics/service-metrics.ts";
import { idleRestMs, type Signals } from "../platform/coordination/signals.ts";
import { topics } from "../platform/coordination/topics.ts";
import type { BackgroundLoop } from "../platform/lifecycle/background-loop.ts";
import type { NamedLoop } from "../platform/lifecycle/start-loops.ts";
import type { Database } from "../platform/store/database.ts";
import type { Log } from "../platform/telemetry/logger.ts";
import type { Tracer } from "../platform/telemetry/tracer.ts";
import { readWarmBuckets } from "../presigns/bucket.ts";
import { createPresignOperation } from "../presigns/presign-operation.ts";
import type { PresignQueue } from "../presigns/presign-queue.ts";
import { createPresignSession } from "../presigns/presign-session.ts";
import {
  type Affordable,
  createAffordable,
  createRefillLoop,
  type RefillLoopDeps,
} from "../presigns/refill-loop.ts";
import { reconcile } from "../restore/reconcile.ts";
import { adoptHeldPresigns } from "../restore/restore-presigns.ts";
import { createExitLoop } from "../signing/exit-loop.ts";
import { createSignOperation } from "../signing/sign-operation.ts";
import { createSignSession } from "../signing/sign-session.ts";
import type { Verifier } from "../signing/verifier.ts";

/** Creates the loops that work between the database and one network. Start them in this order. */
export async function createChainWork(options: ChainWorkOptions): Promise<NamedLoop[]> {
  const { database, network, reader, signals, config, afterRestore, log, pace = {} } = options;
  const { clock } = network;
  const traced = options.tracer && { tracer: options.tracer };
  const operations = operationKinds(options);
  await prepareLanes({ database, network, reader, afterRestore, log });
  if (afterRestore) {
    await reconcile({
      database,
      network,
      reader,
      kinds: operations,
      deposits: options.deposits,
      config,
      log,
    });
  }
  const laneIds = network.treasury.operatorCapIds;
  const treasury = createTreasuryReader(network);
  if ((await readForeignUses(database, network.name)).length === 0)
    await adoptHeldPresigns({ database, network: network.name, reader, treasury, log });
  const gasKeeper = createGasKeeper({ database, network, reader, laneIds, clock, log });
  // A lane without a coin cannot send.
  await gasKeeper.assign();

  const affordable = createAffordable(treasury, network.clock, options.pace?.rememberedMs);
  const lanes = createLanes(network, reader);
  const submitter = createSubmitter({
    database,
    network: network.name,
    lanes,
    reader,
    signals,
    clock,
    log,
    kinds: operations,
    ...traced,
    onLease: options.observe?.onLease,
    onBlocked: options.observe?.onBlocked,
    ...pace,
  });
  const settler = createSettler({
    database,
    reader,
    clock,
    log,
    onMixUp: options.observe?.onMixUp,
    kinds: sessionKinds(options),
    wakeOn: (wake) => signals.subscribe(topics.landed(network.name), wake),
    idleMs: (shortestMs) => idleRestMs(signals, shortestMs),
    ...traced,
    ...pace,
  });
  const custody = createCustodyLoop({
    ...pace,
    database,
    network: network.name,
    treasuryId: network.treasury.treasuryId,
    reader: createNetworkReader(inBackground(network)),
    clock,
    log,
  });
  const sweeps = createSweepLoop({
    ...pace,
    ...config.sweeps,
    database,
    network: network.name,
    reader,
    signerOf: options.depositSigner,
    signals,
    clock,
    log,
  });
  const exits = createExitLoop({ ...pace, database, network: network.name, signals, clock, log });
  const refill = createWarmRefill(options, async (bucket) => (gasKeeper.isShort() ? 0 : affordable(bucket)));
  return [
    { name: "settler", loop: settler },
    { name: "submitter", loop: submitter },
    { name: "gas keeper", loop: gasKeeper.loop(submitter.drivers) },
    { name: "refill", loop: refill },
    { name: "exits", loop: exits },
    { name: "custody", loop: custody },
    { name: "sweeps", loop: sweeps },
  ];
}

interface ChainWorkOptions {
  readonly database: Database;
  readonly network: ChainNetwork;
  readonly reader: NetworkReader;
  readonly signals: Signals;
  readonly presigns: PresignQueue;
  /** Undefined if the service takes no deposits. */
  readonly deposits?: Deposits | undefined;
  readonly depositSigner: DepositSigner;
  readonly verifier: Pick<Verifier, "checkSignature">;
  readonly config: Pick<
    NetworkConfig,
    | "submitBatchCount"
    | "presignBatchCount"
    | "refundsPerDay"
    | "presignLowWaterCount"
    | "presignHighWaterCount"
    | "presignBuckets"
    | "prices"
    | "sweeps"
  >;
  /** True if the database is an older copy: see `tss serve --after-restore`. */
  readonly afterRestore: boolean;
  readonly observe?: Pick<ServiceMetrics, "signs" | "onLease" | "onBlocked" | "onMixUp">;
  readonly log: Log;
  /** Default: none. */
  readonly tracer?: Tracer;
  /** For tests: shorter times of the parts. */
  readonly pace?: {
    readonly intervalMs: number;
    readonly leaseMs: number;
    readonly retryBaseMs: number;
    readonly rememberedMs: number;
    readonly invalidSignatureMs?: number;
  };
}

function sessionKinds(options: ChainWorkOptions): SessionKind[] {
  const { network, verifier, signals, config, log, observe } = options;
  const { refundsPerDay } = config;
  return [
    createSignSession({
      network: network.name,
      refundsPerDay,
      verifier,
      signals,
      observer: observe?.signs,
      invalidSignatureMs: options.pace?.invalidSignatureMs,
    }),
    createDWalletSession(network.name, refundsPerDay),
    createPresignSession({ network: network.name, signals, log }),
  ];
}

/** Returns all kinds of operations. */
export function operationKinds(options: OperationKindsOptions): OperationKind[] {
  const { network, reader, signals, config, depositSigner, observe, log } = options;
  const { senderAddress } = network;
  const { submitBatchCount, presignBatchCount, refundsPerDay } = config;
  return [
    createSignOperation({
      signals,
      reader,
      senderAddress,
      batchCount: submitBatchCount,
      refundsPerDay,
      observer: observe?.signs,
    }),
    createRegisterOperation(reader),
    createDkgOperation(reader, senderAddress),
    createAcceptOperation(reader),
    createConsentOperation({ reader, treasuryId: network.treasury.treasuryId }),
    createPresignOperation({ reader, senderAddress, batchCount: presignBatchCount }),
    createSweepOperation({ reader, signerOf: depositSigner, log }),
  ] as OperationKind[];
}

interface OperationKindsOptions {
  readonly network: Pick<ChainNetwork, "senderAddress" | "treasury">;
  readonly reader: NetworkReader;
  readonly signals: Signals;
  readonly config: Pick<NetworkConfig, "submitBatchCount" | "presignBatchCount" | "refundsPerDay">;
  readonly depositSigner: DepositSigner;
  readonly observe?: Pick<ServiceMetrics, "signs"> | undefined;
  readonly log: Pick<Log, "info" | "warn">;
}

/**
 * Creates a worker's refill, which keeps warm buckets at their target and fills buckets that callers of this process
 * wait for.
 */
function createWarmRefill(options: PresignRefillOptions, affordable: Affordable): BackgroundLoop {
  const { database, network, reader, config } = options;
  const newestKeyId = async () => (await reader.networkKey()).id;
  const warmBuckets = () => readWarmBuckets(database, network.name, config.presignBuckets, newestKeyId);
  return createRefill(options, { warmBuckets, affordable });
}

type PresignRefillOptions = Pick<
  ChainWorkOptions,
  "database" | "network" | "reader" | "signals" | "presigns" | "config" | "log" | "pace"
>;

/**
 * Creates an api process's refill, which queues presigns for callers that wait in this process. A worker submits them.
 */
export function createCallersRefill(options: PresignRefillOptions): BackgroundLoop {
  const affordable = createAffordable(createTreasuryReader(options.network), options.network.clock);
  return createRefill(options, { warmBuckets: async () => [], affordable });
}

function createRefill(
  { database, network, reader, signals, presigns, config, log, pace }: PresignRefillOptions,
  more: Pick<RefillLoopDeps, "warmBuckets" | "affordable">,
): BackgroundLoop {
  return createRefillLoop({
    database,
    signals,
    queue: presigns,
    network: network.name,
    sessionBuffer: () => reader.sessionBuffer(),
    clock: network.clock,
    bounds: { lowWaterCount: config.presignLowWaterCount, highWaterCount: config.presignHighWaterCount },
    log,
    ...pace,
    ...more,
  });
}
