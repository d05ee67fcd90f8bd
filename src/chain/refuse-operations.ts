import type { Database } from "../store/database.ts";
import { classifyFailure, INVALID_TRANSACTION } from "./classify.ts";
import type { OperationFailure, OperationKind, OperationName } from "./operation.ts";
import { failOperation, finishOperations, type QueuedOperation, requeueOperations } from "./outbox.ts";
import type { ExecutionFailure } from "./reader.ts";

/** What the handler works with. */
export interface RefusalOptions {
  readonly database: Database;
  readonly kindOf: (name: OperationName) => OperationKind;
  readonly log: { warn(fields: object, message: string): void; error(fields: object, message: string): void };
  /** Tells those who wait for the operations. */
  readonly notify: (operations: readonly QueuedOperation[]) => void;
}

const RETRY_BASE_MS = 500;
const RETRY_LIMIT_MS = 30_000;
const OPERATOR_RETRY_MS = 5_000;

/**
 * Decides what becomes of operations that the chain refused, in a dry run or for real. A refused batch is split until
 * the guilty operation stands alone; only then is a verdict passed on it.
 */
export function createRefusalHandler(
  options: RefusalOptions,
): (operations: readonly QueuedOperation[], failure: ExecutionFailure) => Promise<void> {
  const { database, kindOf, log, notify } = options;
  return async (operations, failure) => {
    const [only] = operations;
    if (!only) return;
    const ids = operations.map(({ id }) => id);
    const verdict = classifyFailure(failure);
    const fields = { kind: only.kind, operations: ids.length, verdict, failure: failure.message };
    switch (verdict) {
      case "retry":
        log.warn(fields, "the chain refused for now");
        // One malformed operation must not hold up those that share its block.
        return requeueOperations(database, ids, {
          alone: failure.kind === INVALID_TRANSACTION,
          delayMs: backoff(only.attempts),
        });
      case "operator":
        log.error(fields, "nothing can be submitted until the operator acts; the queue stays");
        return requeueOperations(database, ids, { alone: false, delayMs: OPERATOR_RETRY_MS });
      case "already":
      case "fault":
        log.warn(
          fields,
          operations.length > 1 ? "the chain refused a batch; splitting it" : "the chain refused",
        );
        if (operations.length > 1) return requeueOperations(database, ids, { alone: true, delayMs: 0 });
        await end(only, failure, verdict === "already");
        return notify(operations);
    }
  };

  async function end(
    operation: QueuedOperation,
    failure: ExecutionFailure,
    mayBeThere: boolean,
  ): Promise<void> {
    const kind = kindOf(operation.kind);
    const subjects = await kind.load(database, [operation.subjectId]);
    const subject = subjects.get(operation.subjectId);
    const why = toOperationFailure(failure);
    if (mayBeThere && subject !== undefined && (await kind.adopt?.(database, subject, why))) {
      return finishOperations(database, [operation.id]);
    }
    await database.transaction(async (sql) => {
      if (subject !== undefined) await kind.failed(sql, subject, why);
      await failOperation(sql, operation.id, why.reason, failure.message);
    });
  }
}

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

/** Doubles up to half a minute, with jitter so that replicas do not step together. */
function backoff(attempts: number): number {
  return Math.min(RETRY_BASE_MS * 2 ** Math.min(attempts, 10), RETRY_LIMIT_MS) * (0.5 + Math.random() / 2);
}
