import sql from "sql-template-tag";
import {
  boolean,
  bytea,
  type Columns,
  listOf,
  nullable,
  number,
  oneOf,
  text,
} from "../../platform/store/columns.ts";
import { execute, type Queryable, readRows } from "../../platform/store/database.ts";
import { OPERATION_NAMES, type OperationName } from "../operation.ts";
import type { TransactionOutcome } from "../outcome.ts";
import type { LaneLease } from "./lane-table.ts";

/** An operation that waits in the outbox. */
export interface QueuedOperation {
  readonly id: string;
  readonly kind: OperationName;
  readonly subjectId: string;
  readonly alone: boolean;
  readonly attempts: number;
  /** The `traceparent` of the call that queued it; null if the call was not traced. */
  readonly traceParent: string | null;
}

/** A stored transaction with an unknown outcome. */
export interface StoredTransaction {
  readonly digest: string;
  readonly bytes: Uint8Array;
  readonly signatures: readonly string[];
}

const COLUMNS = sql`o.id, o.kind, o.subject_id AS "subjectId", o.alone, o.attempts, o.trace_parent AS "traceParent"`;

const QUEUED_OPERATION: Columns<QueuedOperation> = {
  id: text,
  kind: oneOf(...OPERATION_NAMES),
  subjectId: text,
  alone: boolean,
  attempts: number,
  traceParent: nullable(text),
};

const STORED_TRANSACTION: Columns<StoredTransaction> = {
  digest: text,
  bytes: bytea,
  signatures: listOf(text),
};

/** The condition for operations that are queued, due and not claimed by another living lease. */
const due = (
  network: string,
  fence: bigint,
) => sql`o.network = ${network} AND o.state = 'queued' AND o.not_before <= now()
  AND (o.claimed_fence IS NULL OR o.claimed_fence = ${fence} OR NOT EXISTS (
    SELECT 1 FROM lane l WHERE l.fence = o.claimed_fence AND l.leased_until > now()))`;

const claim = (network: string, { fence }: LaneLease, batchCounts: string) => sql`
WITH first AS MATERIALIZED (
  SELECT o.id, o.kind, o.alone FROM chain_operation o WHERE ${due(network, fence)} ORDER BY o.priority, o.id LIMIT 1
  FOR UPDATE SKIP LOCKED
), batch AS MATERIALIZED (
  SELECT o.id FROM chain_operation o CROSS JOIN first
  WHERE ${due(network, fence)} AND o.kind = first.kind AND (o.id = first.id OR NOT (o.alone OR first.alone))
  ORDER BY o.id <> first.id, o.priority, o.id LIMIT (SELECT (${batchCounts}::jsonb ->> kind)::int FROM first)
  FOR UPDATE OF o SKIP LOCKED
)
UPDATE chain_operation o SET claimed_fence = ${fence} FROM batch WHERE o.id = batch.id
RETURNING ${COLUMNS}, o.priority`;

/**
 * Claims the next operations for one transaction: those of the most urgent operation's kind, or only that operation if
 * it must be sent alone. They belong to the lease until it stores them, returns them or ends.
 */
export async function claimOperations(
  db: Queryable,
  network: string,
  lease: LaneLease,
  batchCounts: Readonly<Partial<Record<OperationName, number>>>,
): Promise<QueuedOperation[]> {
  const rows = await readRows<QueuedOperation & { priority: number }>(
    db,
    claim(network, lease, JSON.stringify(batchCounts)),
    { ...QUEUED_OPERATION, priority: number },
  );
  return rows.sort((a, b) => a.priority - b.priority || (a.id < b.id ? -1 : 1));
}

/** Returns the lease's claimed operations to the queue, except these. All claims also end with the lease. */
export async function unclaimOperations(
  db: Queryable,
  { fence }: LaneLease,
  except: readonly QueuedOperation[],
): Promise<void> {
  await execute(
    db,
    sql`UPDATE chain_operation SET claimed_fence = NULL
        WHERE claimed_fence = ${fence} AND state = 'queued' AND id <> ALL(${except.map(({ id }) => id)}::uuid[])`,
  );
}

/** Returns what the lane finds: whether it has work now, and whether an operation waits for later or for another lane. */
export async function lookForWork(db: Queryable, network: string, laneId: string): Promise<LaneWork> {
  const [row] = await readRows(
    db,
    sql`SELECT EXISTS (SELECT 1 FROM chain_transaction WHERE network = ${network} AND lane = ${laneId} AND state = 'stored')
            OR EXISTS (SELECT 1 FROM chain_operation o WHERE ${due(network, NO_FENCE)}) AS "hasWork",
          EXISTS (SELECT 1 FROM chain_operation WHERE network = ${network} AND state = 'queued') AS "hasQueued"`,
    { hasWork: boolean, hasQueued: boolean },
  );
  return row ?? { hasWork: false, hasQueued: false };
}

export interface LaneWork {
  /** True if the lane has an unresolved transaction or due operations. */
  readonly hasWork: boolean;
  /** True if the network has any queued operation. */
  readonly hasQueued: boolean;
}

/** Returns true if an operation has been due for this long and is still queued. */
export async function hasStaleOperation(db: Queryable, network: string, ageMs: number): Promise<boolean> {
  const [row] = await readRows(
    db,
    sql`SELECT EXISTS (SELECT 1 FROM chain_operation WHERE network = ${network} AND state = 'queued'
                       AND not_before < now() - ${ageMs} * interval '1 millisecond') AS "isStale"`,
    { isStale: boolean },
  );
  return row?.isStale === true;
}

/** No lease has this fence. */
const NO_FENCE = -1n;

/**
 * Stores a signed transaction with its operations. `db` must be one database transaction. Throws {@link LeaseLostError}
 * if another process holds the lane; the caller's transaction then stores nothing.
 */
export async function storeTransaction(
  db: Queryable,
  lease: LaneLease,
  transaction: StoredTransaction & { network: string; sender: string },
  operationIds: readonly string[],
): Promise<void> {
  const { digest, network, sender, bytes, signatures } = transaction;
  const storedCount = await execute(
    db,
    sql`WITH held AS (SELECT id FROM lane WHERE id = ${lease.laneId} AND fence = ${lease.fence} FOR NO KEY UPDATE)
        INSERT INTO chain_transaction (digest, network, sender, lane, bytes, signatures)
        SELECT ${digest}, ${network}, ${sender}, held.id, ${bytes}, ${signatures} FROM held RETURNING digest`,
  );
  if (storedCount === 0) throw new LeaseLostError(`another process holds lane ${lease.laneId}`);
  const tiedCount = await execute(
    db,
    sql`UPDATE chain_operation SET state = 'sent', tx_digest = ${digest}, claimed_fence = NULL, updated_at = now()
        WHERE id = ANY(${operationIds}::uuid[]) AND state = 'queued' AND claimed_fence = ${lease.fence} RETURNING id`,
  );
  // Another process has taken one of them. This transaction must not be stored, so that it is never sent.
  if (tiedCount !== operationIds.length) throw new LeaseLostError("another lane has taken an operation");
}

/** Thrown when another process has taken the lane or an operation. The caller reads the queue again. */
export class LeaseLostError extends Error {
  override readonly name = "LeaseLostError";
}

/** Returns the lane's transaction with an unknown outcome, if any. */
export async function unresolvedTransaction(
  db: Queryable,
  network: string,
  lane: string,
): Promise<StoredTransaction | undefined> {
  const [row] = await readRows(
    db,
    sql`UPDATE chain_transaction SET sends = sends + 1
        WHERE network = ${network} AND lane = ${lane} AND state = 'stored' RETURNING digest, bytes, signatures`,
    STORED_TRANSACTION,
  );
  return row;
}

/** Returns the operations of a stored transaction, in the order of their ids. */
export function operationsOf(db: Queryable, digest: string): Promise<QueuedOperation[]> {
  return readRows(
    db,
    sql`SELECT ${COLUMNS} FROM chain_operation o WHERE tx_digest = ${digest} AND state = 'sent' ORDER BY id FOR UPDATE`,
    QUEUED_OPERATION,
  );
}

/** Marks operations as landed: those of a landed transaction, or queued ones that are already on the chain. */
export async function finishOperations(db: Queryable, ids: readonly string[]): Promise<void> {
  await execute(
    db,
    sql`UPDATE chain_operation SET state = 'landed', updated_at = now() WHERE id = ANY(${ids}::uuid[])`,
  );
}

/** Marks a queued operation as failed. Returns false if it is no longer queued. */
export async function failOperation(
  db: Queryable,
  id: string,
  reason: string,
  detail: string,
): Promise<boolean> {
  const failedCount = await execute(
    db,
    sql`UPDATE chain_operation SET state = 'failed', failure_reason = ${reason}, failure_detail = ${detail},
          updated_at = now()
        WHERE id = ${id} AND state = 'queued' RETURNING id`,
  );
  return failedCount === 1;
}

/** Delays queued operations. With `alone`, each is sent in its own transaction from now on. */
export async function requeueOperations(
  db: Queryable,
  ids: readonly string[],
  how: { readonly alone: boolean; readonly delayMs: number },
): Promise<void> {
  await execute(
    db,
    sql`UPDATE chain_operation SET alone = alone OR ${how.alone}, attempts = attempts + 1, claimed_fence = NULL,
          not_before = now() + ${how.delayMs} * interval '1 millisecond', updated_at = now()
        WHERE id = ANY(${ids}::uuid[]) AND state = 'queued'`,
  );
}

/** Returns the operations of a transaction without effects to the queue. */
export async function releaseOperations(db: Queryable, digest: string): Promise<void> {
  await execute(
    db,
    sql`UPDATE chain_operation SET state = 'queued', tx_digest = NULL, updated_at = now()
        WHERE tx_digest = ${digest} AND state = 'sent'`,
  );
}

/** Returns true if this database has stored the transaction, which makes it the service's own. */
export async function isKnownTransaction(db: Queryable, digest: string): Promise<boolean> {
  return (await execute(db, sql`SELECT 1 FROM chain_transaction WHERE digest = ${digest}`)) > 0;
}

/** Returns true if this database knows the transaction's outcome. */
export async function isResolvedTransaction(db: Queryable, digest: string): Promise<boolean> {
  const resolved = sql`SELECT 1 FROM chain_transaction WHERE digest = ${digest} AND state <> 'stored'`;
  return (await execute(db, resolved)) > 0;
}

/** Stores the outcome of a transaction. Returns false if another process has already stored it. */
export async function resolveTransaction(
  db: Queryable,
  digest: string,
  outcome: { state: "landed" | "aborted" | "dropped"; gasUsedMist?: bigint; error?: string },
): Promise<boolean> {
  const resolvedCount = await execute(
    db,
    sql`UPDATE chain_transaction SET state = ${outcome.state}, gas_used_mist = ${outcome.gasUsedMist ?? null},
          error = ${outcome.error ?? null}, resolved_at = now()
        WHERE digest = ${digest} AND state = 'stored' RETURNING digest`,
  );
  return resolvedCount === 1;
}

/** Stores the outcome of a transaction that was wrongly marked as dropped. Returns false if it was not so marked. */
export async function correctDropped(
  db: Queryable,
  digest: string,
  outcome: TransactionOutcome,
): Promise<boolean> {
  const correctedCount = await execute(
    db,
    sql`UPDATE chain_transaction SET state = ${outcome.kind}, gas_used_mist = ${outcome.gasUsedMist}, error = NULL
        WHERE digest = ${digest} AND state = 'dropped' RETURNING digest`,
  );
  return correctedCount === 1;
}

/**
 * Empties the bytes and signatures of at most `maxCount` transactions whose outcome is at least `days` days old, the
 * oldest first. Returns their number. Afterwards only the chain has their contents, by digest.
 */
export async function emptyTransactions(db: Queryable, days: number, maxCount: number): Promise<number> {
  return execute(db, empty(days, maxCount));
}

const empty = (days: number, maxCount: number) => sql`
UPDATE chain_transaction SET bytes = '', signatures = '{}' WHERE ctid = ANY(ARRAY(
  SELECT ctid FROM chain_transaction
  WHERE state <> 'stored' AND octet_length(bytes) > 0
    AND resolved_at <= statement_timestamp() - ${days} * interval '1 day'
  ORDER BY resolved_at LIMIT ${maxCount} FOR UPDATE SKIP LOCKED
)) RETURNING digest`;
