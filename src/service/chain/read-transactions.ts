import sql, { join } from "sql-template-tag";
import {
  bigint,
  type Columns,
  listOf,
  nullable,
  number,
  oneOf,
  text,
  time,
} from "../platform/store/columns.ts";
import { type Queryable, readRows } from "../platform/store/database.ts";
import { OPERATION_NAMES, type OperationName } from "./operation.ts";

/** Reads the network's first `count` transactions older than the given one, the newest first. */
export function readTransactions(
  db: Queryable,
  network: string,
  { lane, state, kind }: TransactionFilter,
  { after, count }: { readonly after: TransactionPosition | undefined; readonly count: number },
): Promise<TransactionRow[]> {
  // Contains only the given filters, because each list is read from the end of its own index.
  const filters = [
    sql`t.network = ${network}`,
    ...(after ? [sql`(t.created_at, t.digest) < (${after.createdAt}::timestamptz, ${after.digest})`] : []),
    ...(lane === undefined ? [] : [sql`t.lane = ${lane}`]),
    ...(state === undefined ? [] : [sql`t.state = ${state}`]),
    ...(kind === undefined
      ? []
      : [sql`EXISTS (SELECT 1 FROM chain_operation o WHERE o.tx_digest = t.digest AND o.kind = ${kind})`]),
  ];
  return readRows<TransactionRow>(
    db,
    sql`SELECT t.digest, t.lane, t.state, t.sends, t.error, t.gas_used_mist AS "gasUsedMist",
       t.created_at AS "createdAt", t.resolved_at AS "resolvedAt",
       ARRAY(SELECT o.kind FROM chain_operation o WHERE o.tx_digest = t.digest ORDER BY o.id) AS kinds,
       ARRAY(SELECT o.subject_id::text FROM chain_operation o WHERE o.tx_digest = t.digest ORDER BY o.id) AS "subjectIds"
     FROM chain_transaction t WHERE ${join(filters, " AND ")}
     ORDER BY t.created_at DESC, t.digest DESC LIMIT ${count}`,
    TRANSACTION,
  );
}

/** The states of a stored transaction. */
export const TRANSACTION_STATES = ["stored", "landed", "aborted", "dropped"] as const;

/** One of {@link TRANSACTION_STATES}. */
export type TransactionState = (typeof TRANSACTION_STATES)[number];

/** Filters of the transactions. An undefined filter accepts all. */
export interface TransactionFilter {
  /** The lane: the object id of its OperatorCap. */
  readonly lane: string | undefined;
  readonly state: TransactionState | undefined;
  /** The kind of one of its operations. */
  readonly kind: OperationName | undefined;
}

/** A transaction of the service, with its operations. */
export interface TransactionRow {
  readonly digest: string;
  readonly lane: string;
  readonly state: TransactionState;
  readonly sends: number;
  readonly error: string | null;
  readonly gasUsedMist: bigint | null;
  readonly createdAt: Date;
  readonly resolvedAt: Date | null;
  /** The two lists are parallel. */
  readonly kinds: readonly OperationName[];
  readonly subjectIds: readonly string[];
}

const TRANSACTION: Columns<TransactionRow> = {
  digest: text,
  lane: text,
  state: oneOf(...TRANSACTION_STATES),
  sends: number,
  error: nullable(text),
  gasUsedMist: nullable(bigint),
  createdAt: time,
  resolvedAt: nullable(time),
  kinds: listOf(oneOf(...OPERATION_NAMES)),
  subjectIds: listOf(text),
};

/** A position in the order of {@link readTransactions}. */
export type TransactionPosition = Pick<TransactionRow, "createdAt" | "digest">;
