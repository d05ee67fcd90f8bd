import type { Database, Queryable } from "../../platform/store/database.ts";
import type { Log } from "../../platform/telemetry/logger.ts";
import type { LandedTransaction, OperationKind, OperationName } from "../operation.ts";
import type { Executed, TransactionOutcome } from "../outcome.ts";
import type { Lane } from "./lane.ts";
import { isLaneObject, markForeignUse, moveLane } from "./lane-table.ts";
import {
  finishOperations,
  isKnownTransaction,
  operationsOf,
  type QueuedOperation,
  releaseOperations,
  resolveTransaction,
  type StoredTransaction,
} from "./outbox.ts";
import type { RefusalHandler } from "./refuse-operations.ts";
import type { DeadTransaction, SendResult } from "./send-transaction.ts";

/**
 * Creates a function that writes an outcome, its effects on the operations and the lane's objects in one database
 * transaction.
 */
export function createTransactionSettler(options: SettleOptions): TransactionSettler {
  const { database, kindOf, refuse, notify, requeued, log } = options;
  return async (lane, stored) => {
    const result = await lane.send(stored);
    await write(lane, stored, result);
    return result.kind;
  };

  async function write(lane: Lane, stored: StoredTransaction, result: SendResult): Promise<void> {
    switch (result.kind) {
      case "landed":
        return land(lane, stored.digest, result);
      case "aborted": {
        const { error, gasUsedMist } = result;
        const ended = { state: "aborted", gasUsedMist, error: error.message } as const;
        return refuse(await requeueAll(lane, stored.digest, ended, result), error);
      }
      case "dead":
        await requeueAll(lane, stored.digest, { state: "dropped", error: result.reason });
        requeued();
        return tellOfDeath(lane, stored.digest, result);
    }
  }

  async function land(
    lane: Lane,
    digest: string,
    outcome: TransactionOutcome & { kind: "landed" },
  ): Promise<void> {
    const operations = await database.transaction(async (db) => {
      // Locks the operations before the transaction, in the same order as the code that returns them to the queue.
      const found = await operationsOf(db, digest);
      if (!(await resolveTransaction(db, digest, { state: "landed", gasUsedMist: outcome.gasUsedMist })))
        return [];
      await moveLane(db, lane.id, outcome.changes);
      return landOperations(db, kindOf, outcome.transaction, found);
    });
    const fields = { digest, lane: lane.id, operations: operations.length, kind: operations[0]?.kind };
    log.info(fields, "a transaction landed");
    notify(operations);
  }

  /** Ends a transaction without effects and returns its operations to the queue, in one database transaction. */
  function requeueAll(
    lane: Lane,
    digest: string,
    ended: Parameters<typeof resolveTransaction>[2],
    executed?: Executed,
  ): Promise<QueuedOperation[]> {
    return database.transaction(async (db) => {
      const operations = await operationsOf(db, digest);
      if (!(await resolveTransaction(db, digest, ended))) return [];
      if (executed) await moveLane(db, lane.id, executed.changes);
      await releaseOperations(db, digest);
      return operations;
    });
  }

  async function tellOfDeath(lane: Lane, digest: string, { reason, spent }: DeadTransaction): Promise<void> {
    log.warn({ digest, lane: lane.id, reason }, "a stored transaction can never land");
    // The kind of operation checks the objects that the operation itself brings.
    if (spent === undefined || !(await isLaneObject(database, lane.id, spent.objectId))) return;
    if (await isKnownTransaction(database, spent.byDigest)) return;
    await markForeignUse(database, { laneId: lane.id, digest: spent.byDigest });
    log.error({ sender: lane.sender, lane: lane.id, digest: spent.byDigest }, FOREIGN_USE);
  }
}

/** Receives events for the operator. */
export type SubmitterLog = Log;

interface SettleOptions {
  readonly database: Database;
  readonly kindOf: (name: OperationName) => OperationKind;
  readonly refuse: RefusalHandler;
  /** Wakes the waiters of the operations. */
  readonly notify: (operations: readonly QueuedOperation[]) => void;
  /** Called after operations returned to the queue. */
  readonly requeued: () => void;
  readonly log: SubmitterLog;
}

/** Sends a stored transaction, writes its outcome and reports it. Throws while the outcome is unknown. */
export type TransactionSettler = (lane: Lane, stored: StoredTransaction) => Promise<SendResult["kind"]>;

/** The log message for a lane that a transaction outside this database has used. */
export const FOREIGN_USE =
  "another sender uses the hot wallet, so nothing more is submitted; a hot wallet belongs to one database only: " +
  "stop the other sender, or restore the newest database, then start with `tss serve --after-restore`";

/**
 * Writes the effects of a landed transaction on its operations and returns them; a second call returns none. `db` must
 * be one database transaction. Reads the operations unless the caller has read them in that transaction.
 */
export async function landOperations(
  db: Queryable,
  kindOf: (name: OperationName) => OperationKind,
  transaction: LandedTransaction,
  known?: QueuedOperation[],
): Promise<QueuedOperation[]> {
  const found = known ?? (await operationsOf(db, transaction.digest));
  for (const [name, group] of groupByKind(found)) {
    const kind = kindOf(name);
    const subjects = await kind.load(
      db,
      group.map((operation) => operation.subjectId),
    );
    if (subjects.size > 0) await kind.landed(db, [...subjects.values()], transaction);
  }
  await finishOperations(
    db,
    found.map(({ id }) => id),
  );
  return found;
}

function groupByKind(operations: readonly QueuedOperation[]): Map<OperationName, QueuedOperation[]> {
  const groups = new Map<OperationName, QueuedOperation[]>();
  for (const operation of operations)
    groups.set(operation.kind, [...(groups.get(operation.kind) ?? []), operation]);
  return groups;
}
