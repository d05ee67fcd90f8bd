import type { Signer } from "@mysten/sui/cryptography";
import sql, { type Sql } from "sql-template-tag";
import { type Signals, waitForSignal } from "../platform/coordination/signals.ts";
import { topics } from "../platform/coordination/topics.ts";
import { ServiceError } from "../platform/errors/service-error.ts";
import { nullable, oneOf, text } from "../platform/store/columns.ts";
import { type Database, execute, type Queryable, readRows } from "../platform/store/database.ts";
import type { ChainNetwork } from "./fullnodes/network.ts";
import type { ChainCalls } from "./treasury/treasury-calls.ts";

/** The kinds of operation in the outbox, by the name in its rows. */
export const OPERATION_NAMES = [
  "register",
  "dkg",
  "accept",
  "presign",
  "sign",
  "sweep",
  "consent",
  "share",
  "accept_share",
  "future_sign",
  "partial_sign",
] as const;

/** One of {@link OPERATION_NAMES}. */
export type OperationName = (typeof OPERATION_NAMES)[number];

/** An event of a landed transaction: the full type and the BCS of its fields. */
export interface ChainEvent {
  readonly type: string;
  readonly bcs: Uint8Array;
}

/** A final, successful transaction. */
export interface LandedTransaction {
  /** Base58 digest. */
  readonly digest: string;
  /** The version of every object that it wrote. */
  readonly version: bigint;
  readonly events: readonly ChainEvent[];
}

/** Why an operation can never land: a machine-readable reason, and a sentence for the caller. */
export interface OperationFailure {
  readonly reason: string;
  readonly message: string;
  readonly abort?: { readonly module: string; readonly code: number };
}

/**
 * One kind of operation, defined by the feature that owns its rows. The submitter is generic: it claims queued
 * operations, lets their kind add its calls to a transaction block, stores and sends the transaction, and lets the kind
 * write the outcome in the database transaction that marks the operations.
 */
export interface OperationKind<Subject = unknown> {
  readonly name: OperationName;
  /** Lower values go first. */
  readonly priority: number;
  /** The maximum number of operations of this kind in one transaction. */
  readonly batchCount: number;
  /** Reads the subjects of operations by their ids. */
  load(db: Queryable, subjectIds: readonly string[]): Promise<ReadonlyMap<string, Subject>>;
  /** The number of bytes that the subject adds to the transaction, which must stay under the chain's limit. */
  sizeBytes(subject: Subject): number;
  /**
   * Returns why this service can no longer send a subject, or undefined. Such a subject fails without a call to the
   * chain.
   */
  obstacle?(subject: Subject): OperationFailure | undefined;
  /**
   * Returns the sender if it is not the hot wallet: the address that owns the subject's objects. The lane still pays
   * for gas. Such a subject gets its own transaction.
   */
  senderOf?(subject: Subject): Signer;
  /** Adds the calls for these subjects to the block. */
  add(calls: ChainCalls, subjects: readonly Subject[]): void;
  /** Writes the effects of a landed transaction on these subjects. */
  landed(db: Queryable, subjects: readonly Subject[], transaction: LandedTransaction): Promise<void>;
  /** Writes that this subject's operation can never land. */
  failed(db: Queryable, subject: Subject, failure: OperationFailure): Promise<void>;
  /**
   * Looks up the subject's mark on the chain before the subject fails. If it exists, settles the subject and returns
   * true.
   */
  adopt(db: Queryable, subject: Subject, failure: OperationFailure): Promise<boolean>;
  /**
   * Returns why the operation can never land if another transaction has used an object that the subject brings.
   * Undefined while that is not proven. Called after `adopt` when the chain refuses the version of an object.
   */
  findSpent?(subject: Subject): Promise<OperationFailure | undefined>;
  /** Called when an outcome of the subject's operation is committed, to wake the watchers of the subject. */
  ended?(subjectId: string): void;
}

/** An operation to put into the outbox. A statement supplies its subjects. */
interface NewOperations {
  readonly kind: OperationName;
  /** Lower values go first. */
  readonly priority: number;
  /** The `traceparent` of the requesting call; undefined if the call is not traced; or its column of the source. */
  readonly traceParent?: string | Sql | undefined;
}

/**
 * A fragment of a larger statement that puts operations into the outbox: one for each row of `source`, a common table
 * expression with the columns `operation_id`, `network` and `subject_id`.
 */
export function operationInsert({ kind, priority, traceParent }: NewOperations, source: Sql): Sql {
  return sql`INSERT INTO chain_operation (id, network, kind, subject_id, priority, trace_parent)
    SELECT operation_id, network, ${kind}::text, subject_id, ${priority}::integer, ${traceParent ?? null}::text FROM ${source}`;
}

/**
 * Puts one operation into the outbox. A second call for the same subject changes nothing, unless the first operation
 * failed and `again` allows a retry.
 */
export async function enqueueOperation(
  db: Queryable,
  operation: NewOperations & { readonly id: string; readonly network: string; readonly subjectId: string },
  { again = false }: { readonly again?: boolean } = {},
): Promise<void> {
  const { id, network, subjectId } = operation;
  await execute(
    db,
    sql`WITH asked AS (
          SELECT ${id}::uuid AS operation_id, ${network}::text AS network, ${subjectId}::uuid AS subject_id
        ) ${operationInsert(operation, sql`asked`)}
        ON CONFLICT (kind, subject_id) DO UPDATE SET state = 'queued', tx_digest = NULL, alone = false, not_before = now(),
          failure_reason = NULL, failure_detail = NULL, trace_parent = excluded.trace_parent, created_at = now(),
          updated_at = now()
        WHERE ${again} AND chain_operation.state = 'failed'`,
  );
}

/**
 * Waits until the operation of a row has ended. Throws CHAIN_REJECTED if it can never land, and DEADLINE at the time
 * limit. After DEADLINE the operation continues, and the caller may retry the call.
 */
export async function waitForOperation(
  deps: {
    readonly database: Database;
    readonly network: Pick<ChainNetwork, "clock">;
    readonly signals: Signals;
  },
  kind: OperationName,
  subjectId: string,
  { timeoutMs = DEFAULT_WAIT_MS, signal }: WaitTime,
): Promise<void> {
  const { clock } = deps.network;
  const endMs = clock.now() + Math.max(0, timeoutMs - REPLY_TIME_MS);
  for (;;) {
    const leftMs = endMs - clock.now();
    if (leftMs <= 0 || signal.aborted) {
      throw new ServiceError("DEADLINE", "the operation is not on the chain yet; retry the same call");
    }
    const look = () => readEnd(deps.database, kind, subjectId);
    const wait = { clock, timeoutMs: Math.min(leftMs, LOOK_AGAIN_MS), signal };
    const ended = await waitForSignal(deps.signals, topics.operation(subjectId), wait, look);
    if (ended === undefined) continue;
    if (ended.state === "landed") return;
    throw new ServiceError("CHAIN_REJECTED", "the chain refused the operation permanently", {
      metadata: { chainError: ended.failureDetail ?? "" },
    });
  }
}

/** The time limits of a caller's wait. */
export interface WaitTime {
  /** The time until the call's deadline. Default: {@link DEFAULT_WAIT_MS}. */
  readonly timeoutMs: number | undefined;
  readonly signal: AbortSignal;
}

const DEFAULT_WAIT_MS = 30_000;
/** The part of the call's time that is reserved for the reply. */
const REPLY_TIME_MS = 250;
/** A signal may be lost, so the row is also polled. */
const LOOK_AGAIN_MS = 500;

interface EndedOperation {
  readonly state: "landed" | "failed";
  readonly failureDetail: string | null;
}

async function readEnd(
  database: Database,
  kind: OperationName,
  subjectId: string,
): Promise<EndedOperation | undefined> {
  const [row] = await readRows<EndedOperation>(
    database,
    sql`SELECT state, failure_detail AS "failureDetail" FROM chain_operation
        WHERE kind = ${kind} AND subject_id = ${subjectId} AND state IN ('landed', 'failed')`,
    { state: oneOf("landed", "failed"), failureDetail: nullable(text) },
  );
  return row;
}
