import { type BackgroundLoop, createBackgroundLoop } from "../../lifecycle/background-loop.ts";
import { type Clock, every } from "../../lifecycle/clock.ts";
import type { Database } from "../../store/database.ts";
import { isUniqueViolation } from "../../store/sql-errors.ts";
import { isTracing, type Tracer } from "../../telemetry/tracer.ts";
import type { ChainCalls } from "../calls.ts";
import { compareObjects } from "../compare-objects.ts";
import type { OperationKind, OperationName } from "../operation.ts";
import type { NetworkReader } from "../reader.ts";
import { DryRunRefused, type SignedTransaction } from "./build-transaction.ts";
import { catchUp } from "./catch-up.ts";
import { classifyFailure } from "./classify.ts";
import { type Block, composeBlock } from "./compose-block.ts";
import type { Lane } from "./lane.ts";
import {
  dropGasCoins,
  type LaneLease,
  type LaneObjects,
  leaseLane,
  markForeignUse,
  readLaneObjects,
  releaseLease,
  renewLease,
} from "./lane-table.ts";
import {
  claimOperations,
  hasWork,
  LeaseLostError,
  operationsOf,
  type QueuedOperation,
  type StoredTransaction,
  storeTransaction,
  unclaimOperations,
  unresolvedTransaction,
} from "./outbox.ts";
import type { RefusalHandler } from "./refuse-operations.ts";
import { FOREIGN_USE, type SubmitterLog, type TransactionSettler } from "./settle-transaction.ts";
import { inOperationSpans } from "./trace-operations.ts";

/**
 * Takes the lane when there is work, and keeps it while there is. A transaction is stored before it is sent, and while
 * its outcome is not known nothing else is sent on the lane but the same bytes again.
 */
export function createLaneDriver(options: LaneDriverOptions): LaneDriver {
  const { database, lane, reader, kinds, refuse, settle, tracer, clock, log, onLease } = options;
  const { intervalMs = DEFAULT_INTERVAL_MS, leaseMs = DEFAULT_LEASE_MS } = options;
  const batchCounts = Object.fromEntries([...kinds].map(([name, { batchCount }]) => [name, batchCount]));
  const loop = createBackgroundLoop({
    name: `lane ${lane.id}`,
    pass,
    intervalMs,
    clock,
    maxBackoffMs: Math.max(MAX_BACKOFF_MS, intervalMs),
    log,
  });
  return { ...loop, sendOwn };

  async function pass(stopping: AbortSignal): Promise<false> {
    if (!(await hasWork(database, lane.network, lane.id))) return false;
    await underLease(async (lease) => {
      while (!stopping.aborted && (await step(lease)));
    });
    return false;
  }

  async function sendOwn(addCalls: (calls: ChainCalls) => void): Promise<boolean> {
    let isSent = false;
    await underLease(async (lease) => {
      if (await unresolvedTransaction(database, lane.network, lane.id)) return;
      const signed = await lane.build(await readLaneObjects(database, lane.id), { addCalls }, "dry-run");
      await storeSigned(lease, signed, []);
      await settle(lane, signed);
      isSent = true;
    });
    return isSent;
  }

  /** One transaction; false when there is nothing more to do. */
  async function step(lease: LaneLease): Promise<boolean> {
    const unresolved = await unresolvedTransaction(database, lane.network, lane.id);
    if (unresolved) {
      const operations = isTracing(tracer) ? await operationsOf(database, unresolved.digest) : [];
      await settleTraced(operations, async () => unresolved);
      return true;
    }
    const objects = await readLaneObjects(database, lane.id);
    // A dry run would find gas for it, and the chain then refuses what was stored: it would be in the way for two epochs.
    if (objects.gasCoins.length === 0) return false;
    const claimed = await claimOperations(database, lane.network, lease, batchCounts);
    if (claimed.length === 0) return false;
    const block = await composeBlock({ database, kinds, log }, claimed);
    if (block === undefined) return true;
    // What did not fit is free for another lane at once.
    if (block.operations.length < claimed.length) await unclaimOperations(database, lease, block.operations);
    await settleTraced(block.operations, () => store(lease, block, objects));
    return true;
  }

  /** Brings what the work stored to its end. */
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

  /** Builds, signs and stores; undefined when there is nothing to send after all. */
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

  /** Its sender is the one that signed it, which need not be the lane's. */
  function storeSigned(lease: LaneLease, signed: SignedTransaction, ids: readonly string[]): Promise<void> {
    const transaction = { ...signed, network: lane.network };
    return database.transaction((db) => storeTransaction(db, lease, transaction, ids));
  }

  /** Undefined when the chain would refuse the block, and the refusal was dealt with. */
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
      // A fullnode that lags behind finds faults that the chain does not: nothing fails by its word alone.
      if (block.operations.length === 1 && classifyFailure(error.failure) === "fault")
        return lane.build(objects, block, "on-chain");
      await refuse(block.operations, error.failure);
      return undefined;
    }
  }

  /** Runs the work while the lane is this process's; does nothing when another one has it. */
  async function underLease(work: (lease: LaneLease) => Promise<void>): Promise<void> {
    const lease = await leaseLane(database, lane.id, leaseMs);
    if (lease === undefined) return;
    onLease?.(1);
    // When renewing fails, the fence says so as soon as something is stored.
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
      endHeartbeat();
      onLease?.(-1);
      await releaseLease(database, lease);
    }
  }
}

export interface LaneDriverOptions {
  readonly database: Database;
  readonly lane: Lane;
  readonly reader: Pick<NetworkReader, "ownedObjects" | "transaction">;
  readonly kinds: ReadonlyMap<OperationName, OperationKind>;
  readonly refuse: RefusalHandler;
  readonly settle: TransactionSettler;
  readonly tracer: Tracer;
  readonly clock: Clock;
  readonly log: SubmitterLog;
  /** Between looks at the queue; signals wake it sooner. Default 500 ms. */
  readonly intervalMs?: number;
  /** How long a lease lasts when its process dies. Default 10 s. */
  readonly leaseMs?: number;
  /** Told when this process takes the lane (1) and gives it back (-1). */
  readonly onLease?: ((change: 1 | -1) => void) | undefined;
}

/** Drives one lane together with any other process that does. */
export interface LaneDriver extends BackgroundLoop {
  /**
   * Sends a block of the service's own through the lane, when nobody else has it and it has nothing to bring to its
   * end; false when it could not.
   */
  sendOwn(addCalls: (calls: ChainCalls) => void): Promise<boolean>;
}

const DEFAULT_INTERVAL_MS = 500;
const DEFAULT_LEASE_MS = 10_000;
/** The longest pause while the fullnode does not answer. */
const MAX_BACKOFF_MS = 5_000;
/** Lets a lane have one transaction whose outcome is not known. */
const LANE_INDEX = "chain_transaction_unresolved_lane";
