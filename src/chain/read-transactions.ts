import type { Queryable } from "../store/database.ts";
import type { OperationName } from "./operation.ts";

/** How a stored transaction stands. */
export type TransactionState = "stored" | "landed" | "aborted" | "dropped";

/** Which transactions are read; undefined means all. */
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
  /** The two lists go together. */
  readonly kinds: readonly OperationName[];
  readonly subjectIds: readonly string[];
}

/** Where a transaction is in the order of {@link readTransactions}. */
export type TransactionPosition = Pick<TransactionRow, "createdAt" | "digest">;

/** Reads the network's first `count` transactions older than the given one, the newest first. */
export function readTransactions(
  db: Queryable,
  network: string,
  { lane, state, kind }: TransactionFilter,
  { after, count }: { readonly after: TransactionPosition | undefined; readonly count: number },
): Promise<TransactionRow[]> {
  const parameters: unknown[] = [network, count];
  const bind = (value: unknown) => `$${parameters.push(value)}`;
  // Only the filters that there are: each list is read from the end of an index of its own.
  const filters = [
    ...(after
      ? [`(t.created_at, t.digest) < (${bind(after.createdAt)}::timestamptz, ${bind(after.digest)})`]
      : []),
    ...(lane === undefined ? [] : [`t.lane = ${bind(lane)}`]),
    ...(state === undefined ? [] : [`t.state = ${bind(state)}`]),
    ...(kind === undefined
      ? []
      : [`EXISTS (SELECT 1 FROM chain_operation o WHERE o.tx_digest = t.digest AND o.kind = ${bind(kind)})`]),
  ];
  return db.query<TransactionRow>(
    `SELECT t.digest, t.lane, t.state, t.sends, t.error, t.gas_used_mist AS "gasUsedMist",
       t.created_at AS "createdAt", t.resolved_at AS "resolvedAt",
       ARRAY(SELECT o.kind FROM chain_operation o WHERE o.tx_digest = t.digest ORDER BY o.id) AS kinds,
       ARRAY(SELECT o.subject_id::text FROM chain_operation o WHERE o.tx_digest = t.digest ORDER BY o.id) AS "subjectIds"
     FROM chain_transaction t WHERE t.network = $1 ${filters.map((filter) => `AND ${filter}`).join(" ")}
     ORDER BY t.created_at DESC, t.digest DESC LIMIT $2`,
    parameters,
  );
}
