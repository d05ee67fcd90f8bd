import type { Signer } from "@mysten/sui/cryptography";
import sql, { type Sql } from "sql-template-tag";
import type { Queryable } from "../store/database.ts";
import { execute } from "../store/statements.ts";
import type { ChainCalls } from "./calls.ts";

/** The kinds of operation that the outbox knows, by the name in its rows. */
export const OPERATION_NAMES = ["register", "dkg", "accept", "presign", "sign", "sweep"] as const;

/** One of {@link OPERATION_NAMES}. */
export type OperationName = (typeof OPERATION_NAMES)[number];

/** An event of a landed transaction: the full type and the BCS of its fields. */
export interface ChainEvent {
  readonly type: string;
  readonly bcs: Uint8Array;
}

/** A transaction that is final and succeeded. */
export interface LandedTransaction {
  /** Base58 digest. */
  readonly digest: string;
  readonly events: readonly ChainEvent[];
}

/** Why an operation can never land: a reason for machines and a sentence that may be shown to the caller. */
export interface OperationFailure {
  readonly reason: string;
  readonly message: string;
  readonly abort?: { readonly module: string; readonly code: number };
}

/**
 * One kind of operation, handed to the submitter by the feature that owns its rows. The submitter knows no kinds:
 * it takes queued operations, lets their kind add its calls to a transaction block, stores, sends, and lets the kind
 * write the outcome in the same database transaction that marks the operations.
 */
export interface OperationKind<Subject = unknown> {
  readonly name: OperationName;
  /** Lower goes first. */
  readonly priority: number;
  /** How many operations of this kind may share one transaction. */
  readonly batchCount: number;
  /** Reads the subjects of operations by their ids. */
  load(db: Queryable, subjectIds: readonly string[]): Promise<ReadonlyMap<string, Subject>>;
  /** Bytes that the subject adds to the transaction, to keep it under the chain's limit. */
  sizeBytes(subject: Subject): number;
  /** Why a subject can no longer be sent by this service, if so: it is failed without asking the chain. */
  obstacle?(subject: Subject): OperationFailure | undefined;
  /**
   * Whose transaction it is, if not the hot wallet's: the address that owns the subject's objects. The lane pays all the
   * same. Such a subject has a transaction to itself.
   */
  senderOf?(subject: Subject): Signer;
  /** Adds the calls for these subjects to the block. */
  add(calls: ChainCalls, subjects: readonly Subject[]): void;
  /** Writes what the landed transaction made of these subjects. */
  landed(db: Queryable, subjects: readonly Subject[], transaction: LandedTransaction): Promise<void>;
  /** Writes that this subject's operation can never land. */
  failed(db: Queryable, subject: Subject, failure: OperationFailure): Promise<void>;
  /** Looks up the subject's own mark on the chain, before it is failed; settles it and returns true if it is there. */
  adopt(db: Queryable, subject: Subject, failure: OperationFailure): Promise<boolean>;
  /**
   * Why the operation can never land, when another transaction has used an object that the subject itself brings.
   * Undefined while nothing proves that. It is asked after `adopt`, when the chain refuses a version of some object.
   */
  findSpent?(subject: Subject): Promise<OperationFailure | undefined>;
  /** Called once what any of the three wrote is committed, for those who watch the subject. */
  ended?(subjectId: string): void;
}

/** An operation as it is put into the outbox; its subjects come from a statement. */
export interface NewOperations {
  readonly kind: OperationName;
  /** Lower goes first. */
  readonly priority: number;
  /** `traceparent` of the call that asks for it; undefined where that is not traced. */
  readonly traceParent?: string | undefined;
}

/**
 * Puts operations into the outbox, as a part of a larger statement: one for each row of `source`, a common table
 * expression with the columns `operation_id`, `network` and `subject_id`.
 */
export function operationInsert({ kind, priority, traceParent }: NewOperations, source: Sql): Sql {
  return sql`INSERT INTO chain_operation (id, network, kind, subject_id, priority, trace_parent)
    SELECT operation_id, network, ${kind}::text, subject_id, ${priority}::integer, ${traceParent ?? null}::text FROM ${source}`;
}

/**
 * Puts one operation into the outbox. A second call for the same subject changes nothing, unless the first one failed
 * and `again` says that this kind may be tried anew.
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
