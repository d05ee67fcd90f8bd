import { createBackgroundLoop } from "../coordination/background-loop.ts";
import type { Signals } from "../coordination/signals.ts";
import { topics } from "../coordination/topics.ts";
import type { Database } from "../store/database.ts";
import { isUniqueViolation } from "../store/sql-errors.ts";
import { DryRunRefused } from "./build-transaction.ts";
import type { Lane } from "./lane.ts";
import type { OperationKind, OperationName } from "./operation.ts";
import {
  failOperation,
  finishOperations,
  isKnownTransaction,
  nextOperations,
  OperationTakenError,
  operationsOf,
  type QueuedOperation,
  releaseOperations,
  resolveTransaction,
  type StoredTransaction,
  storeTransaction,
  unresolvedTransaction,
} from "./outbox.ts";
import type { ExecutionFailure, TransactionOutcome } from "./reader.ts";
import { createRefusalHandler } from "./refuse-operations.ts";
import type { DeadTransaction } from "./send-transaction.ts";

/** What the submitter works with. */
export interface SubmitterOptions {
  readonly database: Database;
  readonly lane: Lane;
  readonly signals: Signals;
  readonly kinds: readonly OperationKind[];
  readonly log: SubmitterLog;
}

/** Where the submitter tells of what an operator should know. */
export interface SubmitterLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** The loop that brings queued operations to the chain. */
export interface Submitter {
  start(): void;
  wake(): void;
  stop(): Promise<void>;
}

const POLL_INTERVAL_MS = 500;
/** The longest pause while the fullnode does not answer. */
const MAX_BACKOFF_MS = 5_000;
/** Lets a lane have one transaction whose outcome is not known. */
const LANE_INDEX = "chain_transaction_unresolved_lane";
/** Below the chain's limit of 128 KiB, with room for gas, signatures and the calls themselves. */
const BLOCK_BYTES = 100 * 1024;

/**
 * Drives one lane. A transaction is stored before it is sent,
 * and while its outcome is not known nothing else is sent on the lane but the same bytes again.
 */
export function createSubmitter(options: SubmitterOptions): Submitter {
  const { database, lane, signals, log } = options;
  const kinds = new Map<OperationName, OperationKind>(options.kinds.map((kind) => [kind.name, kind]));
  const refuse = createRefusalHandler({ database, kindOf, log, notify });
  const loop = createBackgroundLoop({
    name: "submitter",
    pass,
    intervalMs: POLL_INTERVAL_MS,
    maxBackoffMs: MAX_BACKOFF_MS,
    log,
  });
  const unsubscribe = signals.subscribe(topics.outbox(lane.network), () => loop.wake());

  return {
    start: () => loop.start(),
    wake: () => loop.wake(),
    async stop() {
      unsubscribe();
      await loop.stop();
    },
  };

  async function pass(): Promise<boolean> {
    const unresolved = await unresolvedTransaction(database, lane.network, lane.id);
    if (unresolved) {
      await settle(unresolved);
      return true;
    }
    const due = await nextOperations(database, lane.network, (name) => kindOf(name).batchCount);
    if (due.length === 0) return false;
    const stored = await store(due);
    if (stored) await settle(stored);
    return true;
  }

  /** Builds, signs and stores; undefined when there is nothing to send after all. */
  async function store(due: readonly QueuedOperation[]): Promise<StoredTransaction | undefined> {
    const kind = kindOf(due[0]?.kind ?? "sign");
    const subjects = await kind.load(
      database,
      due.map((operation) => operation.subjectId),
    );
    await failOrphans(due.filter((operation) => !subjects.has(operation.subjectId)));
    const batch = cutToSize(due, kind, subjects);
    if (batch.length === 0) return undefined;
    try {
      const signed = await lane.build((calls) =>
        kind.add(
          calls,
          batch.map((operation) => subjects.get(operation.subjectId)),
        ),
      );
      await database.transaction((sql) =>
        storeTransaction(
          sql,
          { ...signed, network: lane.network, sender: lane.sender, lane: lane.id },
          batch.map(({ id }) => id),
        ),
      );
      return signed;
    } catch (error) {
      if (error instanceof DryRunRefused) {
        await refuse(batch, error.failure);
        return undefined;
      }
      // Another process drives this lane just now.
      if (error instanceof OperationTakenError || isUniqueViolation(error, LANE_INDEX)) return undefined;
      throw error;
    }
  }

  /** An operation whose row is gone can never be built, and must not stand in the way of the others. */
  async function failOrphans(operations: readonly QueuedOperation[]): Promise<void> {
    for (const { id, kind, subjectId } of operations) {
      log.error({ kind, subjectId }, "an operation has no subject");
      await failOperation(
        database,
        id,
        "SUBJECT_MISSING",
        "the row that the operation is about does not exist",
      );
    }
  }

  async function settle(stored: StoredTransaction): Promise<void> {
    const result = await lane.send(stored);
    switch (result.kind) {
      case "landed":
        return land(stored.digest, result);
      case "aborted":
        return abort(stored.digest, result.error, result.gasUsedMist);
      case "dead":
        await tellOfDeath(stored.digest, result);
        await requeueAll(stored.digest, { state: "dropped", error: result.reason });
        return;
    }
  }

  async function tellOfDeath(digest: string, { reason, byDigest }: DeadTransaction): Promise<void> {
    log.warn({ digest, reason }, "a stored transaction can never land");
    if (byDigest === undefined || (await isKnownTransaction(database, byDigest))) return;
    log.error(
      { sender: lane.sender, byDigest },
      "something else sends from the hot wallet; a hot wallet is for one database alone, so stop the other one",
    );
  }

  async function land(digest: string, outcome: TransactionOutcome & { kind: "landed" }): Promise<void> {
    const operations = await database.transaction(async (sql) => {
      const found = await operationsOf(sql, digest);
      if (!(await resolveTransaction(sql, digest, { state: "landed", gasUsedMist: outcome.gasUsedMist })))
        return [];
      for (const [name, group] of groupByKind(found)) {
        const kind = kindOf(name);
        const subjects = await kind.load(
          sql,
          group.map((o) => o.subjectId),
        );
        for (const subject of subjects.values()) await kind.landed(sql, subject, outcome.transaction);
      }
      await finishOperations(
        sql,
        found.map(({ id }) => id),
      );
      return found;
    });
    log.info({ digest, operations: operations.length, kind: operations[0]?.kind }, "a transaction landed");
    notify(operations);
  }

  async function abort(digest: string, failure: ExecutionFailure, gasUsedMist: bigint): Promise<void> {
    await refuse(
      await requeueAll(digest, { state: "aborted", gasUsedMist, error: failure.message }),
      failure,
    );
  }

  /** Ends a transaction that did nothing and gives its operations back, in one step: none is left tied to it. */
  function requeueAll(
    digest: string,
    outcome: Parameters<typeof resolveTransaction>[2],
  ): Promise<QueuedOperation[]> {
    return database.transaction(async (sql) => {
      const operations = await operationsOf(sql, digest);
      if (!(await resolveTransaction(sql, digest, outcome))) return [];
      await releaseOperations(sql, digest);
      return operations;
    });
  }

  function kindOf(name: OperationName): OperationKind {
    const kind = kinds.get(name);
    if (!kind) throw new Error(`no operation kind ${name}`);
    return kind;
  }

  function notify(operations: readonly QueuedOperation[]): void {
    for (const { subjectId } of operations) signals.notify(topics.operation(subjectId));
  }
}

/** As many operations, from the front, as fit into one block; one at least. */
function cutToSize(
  operations: readonly QueuedOperation[],
  kind: OperationKind,
  subjects: ReadonlyMap<string, unknown>,
): QueuedOperation[] {
  let bytes = 0;
  const present = operations.filter((operation) => subjects.has(operation.subjectId));
  return present.filter((operation, index) => {
    bytes += kind.sizeBytes(subjects.get(operation.subjectId));
    return index === 0 || bytes <= BLOCK_BYTES;
  });
}

function groupByKind(operations: readonly QueuedOperation[]): Map<OperationName, QueuedOperation[]> {
  const groups = new Map<OperationName, QueuedOperation[]>();
  for (const operation of operations)
    groups.set(operation.kind, [...(groups.get(operation.kind) ?? []), operation]);
  return groups;
}
