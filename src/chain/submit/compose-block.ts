import type { Database } from "../../store/database.ts";
import type { Log } from "../../telemetry/log.ts";
import type { OperationFailure, OperationKind, OperationName } from "../operation.ts";
import type { BlockContent } from "./build-transaction.ts";
import { failOperation, type QueuedOperation } from "./outbox.ts";

/**
 * Takes as many operations of one kind from the front as fit into one transaction. Returns undefined if none is left.
 * An operation whose row is gone can never be built, so it fails and does not block the others.
 */
export async function composeBlock(
  { database, kinds, log }: ComposeOptions,
  operations: readonly QueuedOperation[],
): Promise<Block | undefined> {
  const [first] = operations;
  if (first === undefined) return undefined;
  const kind = kinds.get(first.kind);
  if (!kind) throw new Error(`no operation kind ${first.kind}`);
  const subjects = await kind.load(
    database,
    operations.map((operation) => operation.subjectId),
  );
  for (const { id, kind: name, subjectId } of operations.filter((o) => !subjects.has(o.subjectId))) {
    log.error({ kind: name, subjectId }, "an operation's row does not exist");
    const detail = "the operation's row does not exist";
    await failOperation(database, id, "SUBJECT_MISSING", detail);
  }
  const sendable: QueuedOperation[] = [];
  for (const operation of operations) {
    const subject = subjects.get(operation.subjectId);
    const obstacle = subject === undefined ? undefined : kind.obstacle?.(subject);
    if (obstacle !== undefined) await fail(operation, subject, obstacle);
    else if (subject !== undefined) sendable.push(operation);
  }
  const together = kind.senderOf ? sendable.slice(0, 1) : sendable;
  const fitting = cutToSize(together, (operation) => kind.sizeBytes(subjects.get(operation.subjectId)));
  if (fitting.length === 0) return undefined;
  const chosen = fitting.map((operation) => subjects.get(operation.subjectId));
  return {
    operations: fitting,
    sender: kind.senderOf?.(chosen[0]),
    addCalls: (calls) => kind.add(calls, chosen),
  };

  async function fail(
    { id, kind: name }: QueuedOperation,
    subject: unknown,
    why: OperationFailure,
  ): Promise<void> {
    log.error({ kind: name, operation: id, reason: why.reason }, why.message);
    await database.transaction(async (db) => {
      if (await failOperation(db, id, why.reason, why.message)) await kind?.failed(db, subject, why);
    });
  }
}

/** The operations of one transaction. */
export interface Block extends BlockContent {
  readonly operations: readonly QueuedOperation[];
}

export interface ComposeOptions {
  readonly database: Database;
  readonly kinds: ReadonlyMap<OperationName, OperationKind>;
  readonly log: Pick<Log, "error">;
}

/** The chain's limit is 128 KiB. The difference is for gas, signatures and the calls themselves. */
const BLOCK_BYTES = 100 * 1024;

/** Takes operations from the front while they fit, at least one. */
function cutToSize(
  operations: readonly QueuedOperation[],
  sizeOf: (operation: QueuedOperation) => number,
): QueuedOperation[] {
  let bytes = 0;
  const fitting: QueuedOperation[] = [];
  for (const operation of operations) {
    bytes += sizeOf(operation);
    if (fitting.length > 0 && bytes > BLOCK_BYTES) break;
    fitting.push(operation);
  }
  return fitting;
}
