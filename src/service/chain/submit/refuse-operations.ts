import { mixUpIn } from "../../../protocol/chain/read-errors.ts";
import type { Database } from "../../platform/store/database.ts";
import type { Log } from "../../platform/telemetry/logger.ts";
import type { OperationFailure, OperationKind, OperationName } from "../operation.ts";
import type { ExecutionFailure } from "../outcome.ts";
import {
  classifyFailure,
  isAboutAll,
  isAboutVersions,
  type OperatorCause,
  operatorCause,
} from "./classify.ts";
import { failOperation, finishOperations, type QueuedOperation, requeueOperations } from "./outbox.ts";

/**
 * Creates the function that handles operations which the chain refused, in a dry run or in an execution. It splits a
 * refused batch until the faulty operation is alone, and only then decides. Only an execution can fail an operation,
 * never a dry run. If the fullnode returns another operation's mark, the operation stays in the queue.
 */
export function createRefusalHandler(options: RefusalOptions): RefusalHandler {
  const { database, kindOf, log, notify, requeued, onBlocked } = options;
  const retryBaseMs = options.retryBaseMs ?? DEFAULT_RETRY_BASE_MS;
  return async (operations, failure) => {
    const [only] = operations;
    if (!only) return;
    const ids = operations.map(({ id }) => id);
    const verdict = classifyFailure(failure);
    const fields = { kind: only.kind, operations: ids.length, verdict, failure: failure.message };
    if (operations.length > 1 && !isAboutAll(failure)) {
      log.warn(fields, "the chain refused a batch; splitting it");
      return requeue(ids, { alone: true, delayMs: 0 });
    }
    const delayMs = backoff(only.attempts, retryBaseMs);
    try {
      await decide(only, operations, failure, delayMs);
    } catch (cause) {
      if (mixUpIn(cause) === undefined) throw cause;
      log.error({ ...fields, cause }, "the fullnode returned another operation; keeping the queue");
      await requeue(ids, { alone: true, delayMs });
    }
  };

  async function decide(
    only: QueuedOperation,
    operations: readonly QueuedOperation[],
    failure: ExecutionFailure,
    delayMs: number,
  ): Promise<void> {
    const ids = operations.map(({ id }) => id);
    const [verdict, cause] = [classifyFailure(failure), operatorCause(failure)];
    const fields = { kind: only.kind, operations: ids.length, verdict, failure: failure.message };
    switch (verdict) {
      case "retry":
        if (isAboutVersions(failure) && (await endSpent(only, failure))) return notify(operations);
        log.warn(fields, "the chain refused temporarily");
        return requeue(ids, { alone: false, delayMs });
      case "operator":
        log.error({ ...fields, cause }, "cannot submit until the operator acts; keeping the queue");
        if (cause !== undefined) onBlocked?.(cause);
        return requeue(ids, { alone: false, delayMs });
      case "used":
        if (await adopt(only, failure)) return notify(operations);
        log.error(
          fields,
          "the chain has the operation's session, but the fullnode does not show it yet; keeping the queue",
        );
        return requeue(ids, { alone: true, delayMs });
      case "fault":
        // An operation that is already on the chain did not fail, whatever the abort code is.
        if (!(await adopt(only, failure))) {
          log.warn(fields, "the chain refused permanently");
          await fail(only, failure, toOperationFailure(failure));
        }
        return notify(operations);
    }
  }

  async function requeue(
    ids: readonly string[],
    how: Parameters<typeof requeueOperations>[2],
  ): Promise<void> {
    await requeueOperations(database, ids, how);
    requeued();
  }

  async function adopt(operation: QueuedOperation, failure: ExecutionFailure): Promise<boolean> {
    const kind = kindOf(operation.kind);
    const subject = (await kind.load(database, [operation.subjectId])).get(operation.subjectId);
    if (subject === undefined) return false;
    if (!(await kind.adopt(database, subject, toOperationFailure(failure)))) return false;
    await finishOperations(database, [operation.id]);
    return true;
  }

  /** Fails an operation whose own objects another transaction has used. Returns false while that is not proven. */
  async function endSpent(operation: QueuedOperation, failure: ExecutionFailure): Promise<boolean> {
    const kind = kindOf(operation.kind);
    if (kind.findSpent === undefined) return false;
    if (await adopt(operation, failure)) return true;
    const subject = (await kind.load(database, [operation.subjectId])).get(operation.subjectId);
    const why = subject === undefined ? undefined : await kind.findSpent(subject);
    if (why === undefined) return false;
    log.warn({ kind: operation.kind, subjectId: operation.subjectId, reason: why.reason }, why.message);
    await fail(operation, failure, why);
    return true;
  }

  async function fail(
    operation: QueuedOperation,
    failure: ExecutionFailure,
    why: OperationFailure,
  ): Promise<void> {
    const kind = kindOf(operation.kind);
    await database.transaction(async (db) => {
      // If another process has taken the operation meanwhile, its transaction decides.
      if (!(await failOperation(db, operation.id, why.reason, failure.message))) return;
      const subject = (await kind.load(db, [operation.subjectId])).get(operation.subjectId);
      if (subject !== undefined) await kind.failed(db, subject, why);
    });
  }
}

export interface RefusalOptions {
  readonly database: Database;
  readonly kindOf: (name: OperationName) => OperationKind;
  readonly log: Log;
  /** Wakes the waiters of the operations. */
  readonly notify: (operations: readonly QueuedOperation[]) => void;
  /** Called after operations returned to the queue. */
  readonly requeued: () => void;
  /** Called when the chain refuses operations until the operator acts. */
  readonly onBlocked?: ((cause: OperatorCause) => void) | undefined;
  /** The first pause before a retry of an operation. It doubles. Default 500 ms. */
  readonly retryBaseMs?: number | undefined;
}

/** Decides about refused operations and writes the decision. */
export type RefusalHandler = (
  operations: readonly QueuedOperation[],
  failure: ExecutionFailure,
) => Promise<void>;

const DEFAULT_RETRY_BASE_MS = 500;
const RETRY_LIMIT_MS = 30_000;

function toOperationFailure(failure: ExecutionFailure): OperationFailure {
  const { abort } = failure;
  if (!abort)
    return { reason: "CHAIN_REJECTED", message: `the chain refused the operation (${failure.kind})` };
  return {
    reason: "CHAIN_REJECTED",
    message: `the chain refused the operation: abort ${abort.code} in ${abort.module}`,
    abort,
  };
}

/** Doubles up to half a minute, with jitter so that replicas do not retry in step. */
function backoff(attempts: number, baseMs: number): number {
  return Math.min(baseMs * 2 ** Math.min(attempts, 10), RETRY_LIMIT_MS) * (0.5 + Math.random() / 2);
}
