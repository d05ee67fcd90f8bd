import { createSweepLoop } from "../billing/sweeps/sweep-loop.ts";
import { createSweepOperation } from "../billing/sweeps/sweep-operation.ts";
import { inBackground } from "../chain/fullnodes/network.ts";
import type { OperationKind } from "../chain/operation.ts";
import { createNetworkReader } from "../chain/reader.ts";
import type { SessionKind } from "../chain/session.ts";
import { createSettler } from "../chain/settler.ts";
import { createGasKeeper } from "../chain/submit/gas-keeper.ts";
import { createLanes } from "../chain/submit/lane.ts";
import { readForeignUses } from "../chain/submit/lane-table.ts";
import { prepareLanes } from "../chain/submit/prepare-lanes.ts";
import { createSubmitter } from "../chain/submit/submitter.ts";
import { createTreasuryReader } from "../chain/treasury/treasury-reader.ts";
import type { Config } from "../config/config.ts";
import { createEventRetention } from "../events/retain-events.ts";
import { createExpiryNotices } from "../events/tell-expiring-keys.ts";
import { createAcceptOperation } from "../onboarding/accept-dwallet.ts";
import { createConsentOperation } from "../onboarding/custody/consent-operation.ts";
import { createCustodyLoop } from "../onboarding/custody/custody-loop.ts";
import { createDkgOperation } from "../onboarding/dkg-operation.ts";
import { createDWalletSession } from "../onboarding/dwallet-session.ts";
import { createRegisterOperation } from "../onboarding/register-operation.ts";
import { createAcceptShareOperation } from "../onboarding/sharing/accept-share.ts";
import { createShareOperation } from "../onboarding/sharing/share-operation.ts";
import { createShareSession } from "../onboarding/sharing/share-state.ts";
import type { SharedMetrics } from "../operator/metrics/shared-figures.ts";
import { idleRestMs, type Signals } from "../platform/coordination/signals.ts";
import { topics } from "../platform/coordination/topics.ts";
import type { BackgroundLoop } from "../platform/lifecycle/background-loop.ts";
import type { Clock } from "../platform/lifecycle/clock.ts";
import type { NamedLoop } from "../platform/lifecycle/start-loops.ts";
import type { Database, Queryable } from "../platform/store/database.ts";
import type { Log } from "../platform/telemetry/logger.ts";
import { readWarmBuckets } from "../presigns/bucket.ts";
import { createPresignOperation } from "../presigns/presign-operation.ts";
import { createPresignSession } from "../presigns/presign-session.ts";
import { createAffordable, createRefillLoop, type RefillLoopDeps } from "../presigns/refill-loop.ts";
import { reconcile } from "../restore/reconcile.ts";
import { adoptHeldPresigns } from "../restore/restore-presigns.ts";
import { createHoldOperation } from "../signing/holds/hold-operation.ts";
import { createHoldSession } from "../signing/holds/hold-session.ts";
import { createExitLoop } from "../signing/loops/exit-loop.ts";
import { createExpireLoop } from "../signing/loops/expire-loop.ts";
import { createHoldLoop } from "../signing/loops/hold-loop.ts";
import { createRetentionLoop } from "../signing/loops/retention-loop.ts";
import { createSignOperation, type SignObserver } from "../signing/sign-operation.ts";
import { createSignSession } from "../signing/sign-session.ts";
import { createSessionSweep } from "../users/session-sweep.ts";
import type { Network } from "./network.ts";

/** Creates the loops that work between the database and one network. Start them in this order. */
export async function createChainWork(network: Network, options: ChainWorkOptions): Promise<NamedLoop[]> {
  const { config, database, chain, reader, signals, deposits, observe, tracer, log } = network;
  const { reconcileOn, pace = {} } = options;
  const { name, clock } = chain;
  const kinds = operationKinds(network);
  const afterRestore = reconcileOn !== undefined;
  // Until the network is reconciled, another process may begin to do so if this one loses the database.
  const guarded = reconcileOn ?? database;
  await prepareLanes({ database: guarded, network: chain, reader, afterRestore, log });
  if (reconcileOn) {
    const restored = deposits && { ...deposits, database: reconcileOn };
    const base = { database: reconcileOn, network: chain, reader, kinds, config, log };
    await reconcile({ ...base, deposits: restored });
  }
  const laneIds = chain.treasury.operatorCapIds;
  const treasury = createTreasuryReader(chain);
  if ((await readForeignUses(database, name)).length === 0)
    await adoptHeldPresigns({ database: guarded, network: name, reader, treasury, log });
  const gasKeeper = createGasKeeper({ database, network: chain, reader, laneIds, signals, clock, log });
  // A lane without a coin cannot send.
  await gasKeeper.assign(guarded);

  const affordable = createAffordable(treasury, clock, options.pace?.rememberedMs);
  const common = { ...pace, database, network: name, signals, clock, log };
  const submitter = createSubmitter({
    ...common,
    lanes: createLanes(chain, reader),
    reader,
    kinds,
    ...(tracer && { tracer }),
    onLease: observe?.onLease,
    onBlocked: observe?.onBlocked,
  });
  const settler = createSettler({
    ...common,
    reader,
    kinds: sessionKinds(network, options.pace?.invalidSignatureMs),
    ...(tracer && { tracer }),
    onMixUp: observe?.onMixUp,
    wakeOn: (wake) => signals.subscribe(topics.landed(name), wake),
    idleMs: (shortestMs) => idleRestMs(signals, shortestMs),
  });
  const custody = createCustodyLoop({
    ...common,
    treasuryId: chain.treasury.treasuryId,
    reader: createNetworkReader(inBackground(chain)),
  });
  const sweeps = createSweepLoop({ ...common, ...config.sweeps, reader, signerOf: network.depositSigner });
  return [
    { name: "settler", loop: settler },
    { name: "submitter", loop: submitter },
    { name: "gas keeper", loop: gasKeeper.loop(submitter.drivers) },
    {
      name: "refill",
      loop: createRefill(network, pace, {
        warmBuckets: () =>
          readWarmBuckets(database, name, config.presignBuckets, async () => (await reader.networkKey()).id),
        affordable: async (bucket) => (gasKeeper.isShort() ? 0 : affordable(bucket)),
      }),
    },
    { name: "exits", loop: createExitLoop(common) },
    { name: "custody", loop: custody },
    { name: "sweeps", loop: sweeps },
  ];
}

/** Options of {@link createChainWork}. */
interface ChainWorkOptions {
  /**
   * The database for a reconciliation with the chain, which stops if others may use it: see `tss serve
   * --after-restore`. Undefined unless the database is an older copy.
   */
  readonly reconcileOn: Database | undefined;
  /** For tests: shorter times of the parts. */
  readonly pace?: Pace | undefined;
}

interface Pace {
  readonly intervalMs: number;
  readonly leaseMs: number;
  readonly retryBaseMs: number;
  readonly rememberedMs: number;
  readonly invalidSignatureMs?: number;
}

function sessionKinds(network: Network, invalidSignatureMs: number | undefined): SessionKind[] {
  const { chain, verifier, signals, log, observe } = network;
  const { name } = chain;
  const { refundsPerDay } = network.config;
  return [
    createSignSession({
      network: name,
      refundsPerDay,
      verifier,
      signals,
      observer: observe?.signs,
      invalidSignatureMs,
    }),
    createHoldSession({ network: name, refundsPerDay, signals, observer: observe?.signs }),
    createDWalletSession(name, refundsPerDay),
    createShareSession(name, refundsPerDay),
    createPresignSession({ network: name, signals, log }),
  ];
}

/** Returns all kinds of operations on a network. */
export function operationKinds(network: OperatedNetwork): OperationKind[] {
  const { config, chain, reader, signals, depositSigner, observe, log } = network;
  const { senderAddress } = chain;
  const { submitBatchCount, presignBatchCount, refundsPerDay } = config;
  const signs = { signals, reader, senderAddress, refundsPerDay, observer: observe?.signs };
  return [
    createSignOperation({ ...signs, batchCount: submitBatchCount }),
    createSignOperation({ ...signs, batchCount: submitBatchCount, name: "partial_sign" }),
    createHoldOperation(signs),
    createRegisterOperation(reader),
    createDkgOperation(reader, senderAddress),
    createAcceptOperation(reader),
    createShareOperation(reader, senderAddress),
    createAcceptShareOperation(reader),
    createConsentOperation({ reader, treasuryId: chain.treasury.treasuryId }),
    createPresignOperation({ reader, senderAddress, batchCount: presignBatchCount }),
    createSweepOperation({ reader, signerOf: depositSigner, log }),
  ] as OperationKind[];
}

/** The parts of a network that an operation uses. A reconciliation has no others. */
type OperatedNetwork = Pick<
  Network,
  "config" | "chain" | "reader" | "signals" | "depositSigner" | "observe"
> & { readonly log: Log };

/**
 * Creates an api process's refill, which queues presigns for callers that wait in this process. A worker submits them.
 */
export function createCallersRefill(network: Network): BackgroundLoop {
  const affordable = createAffordable(createTreasuryReader(network.chain), network.chain.clock);
  return createRefill(network, {}, { warmBuckets: async () => [], affordable });
}

/** Creates a refill, which also fills buckets that callers of this process wait for. */
function createRefill(
  { config, database, chain, reader, signals, presigns, log }: Network,
  pace: Partial<Pace>,
  more: Pick<RefillLoopDeps, "warmBuckets" | "affordable">,
): BackgroundLoop {
  return createRefillLoop({
    database,
    signals,
    queue: presigns,
    network: chain.name,
    sessionBuffer: () => reader.sessionBuffer(),
    clock: chain.clock,
    bounds: { lowWaterCount: config.presignLowWaterCount, highWaterCount: config.presignHighWaterCount },
    log,
    ...pace,
    ...more,
  });
}

/**
 * Creates the loops of a worker that need no chain. They also process rows of networks that are no longer served,
 * because an expired reservation must return its credit there too.
 */
export function createSharedWork(options: SharedWorkOptions): NamedLoop[] {
  const { database, signals, retentionDays, clock, log, pace = {} } = options;
  const { observerOf, observe } = options;
  const expiry = createExpireLoop({ database, signals, clock, log, observerOf, ...pace });
  const onRetained = observe?.onRetained;
  const retention = createRetentionLoop({ ...pace, database, retentionDays, clock, log, onRetained });
  return [
    { name: "expiry", loop: expiry },
    { name: "holds", loop: createHoldLoop({ database, signals, clock, log, observerOf, ...pace }) },
    { name: "retention", loop: retention },
    { name: "event retention", loop: createEventRetention({ database, clock, log, ...pace }) },
    { name: "expiring keys", loop: createExpiryNotices({ database, signals, clock, log, ...pace }) },
    { name: "sessions", loop: createSessionSweep({ database, clock, log, ...pace }) },
  ];
}

interface SharedWorkOptions extends Pick<Config, "retentionDays"> {
  readonly database: Queryable;
  readonly signals: Signals;
  readonly clock: Clock;
  readonly log: Log;
  readonly observe?: Pick<SharedMetrics, "onRetained">;
  /** Returns the observer of a network; undefined for one that is not open here. */
  readonly observerOf?: (network: string) => SignObserver | undefined;
  /** For tests: a shorter interval. */
  readonly pace?: { readonly intervalMs: number };
}
