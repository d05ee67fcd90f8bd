import sql from "sql-template-tag";
import { bigint, nullable, number, oneOf, text, time } from "../platform/store/columns.ts";
import { type Queryable, readRows } from "../platform/store/database.ts";
import { OPERATION_NAMES, type OperationName } from "./operation.ts";
import { TRANSACTION_STATES, type TransactionRow } from "./read-transactions.ts";

/** Reads the operations about one subject of the network, the oldest first, each with its newest transaction. */
export async function readOperationsOf(
  db: Queryable,
  network: string,
  subjectId: string,
): Promise<OperationRow[]> {
  const rows = await readRows(
    db,
    sql`SELECT o.kind, o.state, o.attempts, o.failure_reason AS "failureReason", o.failure_detail AS "failureDetail",
       o.created_at AS "createdAt", o.updated_at AS "updatedAt", t.digest, t.lane, t.state AS "transactionState",
       t.sends, t.error, t.gas_used_mist AS "gasUsedMist", t.created_at AS "storedAt", t.resolved_at AS "resolvedAt"
     FROM chain_operation o LEFT JOIN chain_transaction t ON t.digest = o.tx_digest
     WHERE o.kind = ANY(${OPERATION_NAMES}::text[]) AND o.subject_id = ${subjectId}::uuid AND o.network = ${network}
     ORDER BY o.created_at, o.id`,
    ROW,
  );
  return rows.map((row) => {
    const { kind, state, attempts, failureReason, failureDetail, createdAt, updatedAt } = row;
    const { digest, lane, transactionState, sends, storedAt, error, gasUsedMist, resolvedAt } = row;
    const operation = { kind, state, attempts, failureReason, failureDetail, createdAt, updatedAt };
    if (digest === null || lane === null || transactionState === null || sends === null || storedAt === null)
      return { ...operation, transaction: undefined };
    const outcome = { state: transactionState, sends, error, gasUsedMist, createdAt: storedAt, resolvedAt };
    return { ...operation, transaction: { digest, lane, ...outcome, kinds: [], subjectIds: [] } };
  });
}

const STATES = ["queued", "sent", "landed", "failed"] as const;

/** The state of an operation. */
export type OperationState = (typeof STATES)[number];

/** An operation about a subject. */
export interface OperationRow {
  readonly kind: OperationName;
  readonly state: OperationState;
  /** How many times it went back to the queue. */
  readonly attempts: number;
  readonly failureReason: string | null;
  readonly failureDetail: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** Its newest transaction, without the other operations; undefined while it waits for a lane. */
  readonly transaction: TransactionRow | undefined;
}

/** The columns of the transaction are null together. */
const ROW = {
  kind: oneOf(...OPERATION_NAMES),
  state: oneOf(...STATES),
  attempts: number,
  failureReason: nullable(text),
  failureDetail: nullable(text),
  createdAt: time,
  updatedAt: time,
  digest: nullable(text),
  lane: nullable(text),
  transactionState: nullable(oneOf(...TRANSACTION_STATES)),
  sends: nullable(number),
  error: nullable(text),
  gasUsedMist: nullable(bigint),
  storedAt: nullable(time),
  resolvedAt: nullable(time),
};
