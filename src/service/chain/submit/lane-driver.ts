import sql from "sql-template-tag";
import {
  type BackgroundLoop,
  createBackgroundLoop,
  type PassResult,
} from "../../platform/lifecycle/background-loop.ts";
import { type Clock, every } from "../../platform/lifecycle/clock.ts";
import { type Database, execute } from "../../platform/store/database.ts";
import { isUniqueViolation } from "../../platform/store/sql-errors.ts";
import { isTracing, type Tracer } from "../../platform/telemetry/tracer.ts";
import type { OperationKind, OperationName } from "../operation.ts";
import type { NetworkReader } from "../reader.ts";
import {
  type Block,
  type BlockContent,
  composeBlock,
  DryRunRefused,
  type SignedTransaction,
} from "./build-transaction.ts";
import { classifyFailure } from "./classify.ts";
import type { Lane } from "./lane.ts";
import {
  dropGasCoins,
  type LaneLease,
  type LaneObjects,
  leaseLane,
  markForeignUse,
  moveLane,
  readLaneObjects,
  releaseLease,
  renewLease,
} from "./lane-table.ts";
import {
  claimOperations,
  correctDropped,
  LeaseLostError,
  lookForWork,
  operationsOf,
  type QueuedOperation,
  type StoredTransaction,
  storeTransaction,
  unclaimOperations,
  unresolvedTransaction,
} from "./outbox.ts";
import { compareObjects } from "./prepare-lanes.ts";
import type { RefusalHandler } from "./refuse-operations.ts";
import { FOREIGN_USE, type SubmitterLog, type TransactionSettler } from "./settle-transaction.ts";
import { inOperationSpans } from "./trace-operations.ts";

/**
 * Creates the driver of a lane. It leases the lane while there is work. It stores a transaction before sending it.
 * While the outcome is unknown, it sends nothing on the lane except the same bytes again.
 */
export function createLaneDriver(options: LaneDriverOptions): LaneDriver {
  const { database, lane, reader, kinds, refuse, settle, tracer, clock, log, onLease, takeTurn } = options;
  const { intervalMs = DEFAULT_INTERVAL_MS, leaseMs = DEFAULT_LEASE_MS, idleMs } = options;
  const batchCounts = Object.fromEntries([...kinds].map(([name, { batchCount }]) => [name, batchCount]));
  const loop = createBackgroundLoop({
    name: `lane ${lane.id}`,
    pass,
    intervalMs,
    clock,
    maxBackoffMs: Math.max(MAX_BACKOFF_MS, intervalMs),
    log,
  });
  let isBusy = false;
  return { ...loop, sendOwn, isBusy: () => isBusy };

  async function pass(stopping: AbortSignal): Promise<PassResult> {
    const handOn = takeTurn();
    const { hasWork, hasQueued } = await lookForWork(database, lane.network, lane.id);
    if (!hasWork && !hasQueued) return { restMs: idleMs(intervalMs) };
    try {
      if (hasWork)
        await underLease(async (lease) => {
          while (!stopping.aborted && (await step(lease, handOn)));
        });
    } finally {
      handOn();
    }
    return false;
  }

  async function sendOwn(block: BlockContent): Promise<boolean> {
    let isSent = false;
    await underLease(async (lease) => {
      if (await unresolvedTransaction(database, lane.network, lane.id)) return;
      const signed = await lane.build(await readLaneObjects(database, lane.id), block, "dry-run");
      await storeSigned(lease, signed, []);
      await settle(lane, signed);
      isSent = true;
    });
    return isSent;
  }

  /**
   * Processes one transaction. Returns false if nothing is left to do. Calls `handOn` before it sends anything, when
   * the queue has only what this lane does not take.
   */
  async function step(lease: LaneLease, handOn: () => void): Promise<boolean> {
    const unresolved = await unresolvedTransaction(database, lane.network, lane.id);
    if (unresolved) {
      handOn();
      const operations = isTracing(tracer) ? await operationsOf(database, unresolved.digest) : [];
      await settleTraced(operations, async () => unresolved);
      return true;
    }
    const objects = await readLaneObjects(database, lane.id);
    // A dry run would accept its gas, but the chain would refuse the stored transaction, which would then block the
    // lane for two epochs.
    if (objects.gasCoins.length === 0) return false;
    const claimed = await claimOperations(database, lane.network, lease, batchCounts);
    if (claimed.length === 0) return false;
    handOn();
    const block = await composeBlock({ database, kinds, log }, claimed);
    if (block === undefined) return true;
    // Frees the operations that did not fit for other lanes at once.
    if (block.operations.length < claimed.length) await unclaimOperations(database, lease, block.operations);
    await settleTraced(block.operations, () => store(lease, block, objects));
    return true;
  }

  function settleTraced(
    operations: readonly QueuedOperation[],
    work: () => Promise<StoredTransaction | undefined>,
  ): Promise<void> {
    return inOperationSpans(tracer, lane.id, operations, async (tell) => {
      const stored = await work();
      if (stored === undefined) return;
      tell({ "tss.transaction.digest": stored.digest });
      tell({ "tss.transaction.outcome": await settle(lane, stored) });
    });
  }

  /** Builds, signs and stores a transaction. Returns undefined if there is nothing to send. */
  async function store(
    lease: LaneLease,
    block: Block,
    objects: LaneObjects,
  ): Promise<StoredTransaction | undefined> {
    const signed = await build(block, objects);
    if (signed === undefined) return undefined;
    const ids = block.operations.map(({ id }) => id);
    await storeSigned(lease, signed, ids);
    return signed;
  }

  /** Stores the signer as the sender, which is not always the hot wallet. */
  function storeSigned(lease: LaneLease, signed: SignedTransaction, ids: readonly string[]): Promise<void> {
    const transaction = { ...signed, network: lane.network };
    return database.transaction((db) => storeTransaction(db, lease, transaction, ids));
  }

  /** Returns undefined if the chain would refuse the block. The refusal is then already handled. */
  async function build(block: Block, objects: LaneObjects): Promise<SignedTransaction | undefined> {
    try {
      return await lane.build(objects, block, "dry-run");
    } catch (error) {
      if (!(error instanceof DryRunRefused)) throw error;
      const { foreignDigest, ownDigest, unknownCoinIds } = await compareObjects(database, reader, objects);
      if (foreignDigest !== undefined) {
        await markForeignUse(database, { laneId: lane.id, digest: foreignDigest });
        log.error({ sender: lane.sender, lane: lane.id, digest: foreignDigest }, FOREIGN_USE);
        throw new LeaseLostError("the lane was stopped");
      }
      if (ownDigest !== undefined && (await catchUp(database, reader, lane.id, objects, ownDigest))) {
        log.warn({ lane: lane.id, digest: ownDigest }, "a transaction landed that was marked as dropped");
        return undefined;
      }
      if (unknownCoinIds.length < objects.gasCoins.length)
        await dropGasCoins(database, lane.id, unknownCoinIds);
      // A lagging fullnode reports faults that the chain does not have, so its reply alone never fails an operation.
      if (block.operations.length === 1 && classifyFailure(error.failure) === "fault")
        return lane.build(objects, block, "on-chain");
      await refuse(block.operations, error.failure);
      return undefined;
    }
  }

  /** Runs the work under a lease of the lane. Does nothing if another process holds it. */
  async function underLease(work: (lease: LaneLease) => Promise<void>): Promise<void> {
    const lease = await leaseLane(database, lane.id, leaseMs);
    if (lease === undefined) return;
    isBusy = true;
    onLease?.(1);
    // If the renewal fails, the fence check refuses the next store.
    const endHeartbeat = every(
      clock,
      leaseMs / 3,
      () => void renewLease(database, lease, leaseMs).catch(() => undefined),
    );
    try {
      await work(lease);
    } catch (error) {
      if (!(error instanceof LeaseLostError || isUniqueViolation(error, LANE_INDEX))) throw error;
      log.warn({ lane: lane.id, reason: error instanceof Error ? error.message : "" }, "released the lane");
    } finally {
      isBusy = false;
      endHeartbeat();
      onLease?.(-1);
      await releaseLease(database, lease);
    }
  }
}

interface LaneDriverOptions {
  readonly database: Database;
  readonly lane: Lane;
  readonly reader: Pick<NetworkReader, "ownedObjects" | "transaction">;
  readonly kinds: ReadonlyMap<OperationName, OperationKind>;
  readonly refuse: RefusalHandler;
  readonly settle: TransactionSettler;
  readonly tracer: Tracer;
  readonly clock: Clock;
  readonly log: SubmitterLog;
  /** The interval between queries of the queue. Signals wake the loop earlier. Default 500 ms. */
  readonly intervalMs?: number;
  /** Returns the pause while the queue is empty, which is at least `shortestMs`. */
  readonly idleMs: (shortestMs: number) => number;
  /** The duration of a lease after its process dies. Default 10 s. */
  readonly leaseMs?: number;
  /** Called with 1 when this process takes the lane, and with -1 when it releases it. */
  readonly onLease?: ((change: 1 | -1) => void) | undefined;
  /** Takes the lane's turn. Returns the function that hands it on to another lane. */
  readonly takeTurn: () => () => void;
}

/** Drives one lane, together with other processes. */
export interface LaneDriver extends BackgroundLoop {
  /** Whether the lane has a lease, and so looks for more work when it is done with what it has. */
  isBusy(): boolean;
  /**
   * Sends one of the service's own blocks through the lane. Returns false if another process holds the lane or it has
   * an unresolved transaction.
   */
  sendOwn(block: BlockContent): Promise<boolean>;
}

const DEFAULT_INTERVAL_MS = 500;
const DEFAULT_LEASE_MS = 10_000;
/** The longest pause while the fullnode is unavailable. */
const MAX_BACKOFF_MS = 5_000;
/** Allows one transaction with an unknown outcome per lane. */
const LANE_INDEX = "chain_transaction_unresolved_lane";

/**
 * Sets the lane to the result of a transaction of its own that was marked as dropped because a lagging fullnode did not
 * know it. Its operations are back in the queue, and each finds its mark on the chain. Returns false if another process
 * has moved the lane or the fullnode lags again.
 */
export async function catchUp(
  database: Database,
  reader: Pick<NetworkReader, "transaction">,
  laneId: string,
  expected: LaneObjects,
  digest: string,
): Promise<boolean> {
  const outcome = await reader.transaction(digest);
  if (outcome === undefined) return false;
  return database.transaction(async (db) => {
    await execute(db, sql`SELECT 1 FROM lane WHERE id = ${laneId} FOR UPDATE`);
    if (JSON.stringify(await readLaneObjects(db, laneId)) !== JSON.stringify(expected)) return false;
    if (!(await correctDropped(db, digest, outcome))) return false;
    await moveLane(db, laneId, outcome.changes);
    return true;
  });
}
