import type { Queryable } from "../../store/database.ts";
import type { OperationName } from "../operation.ts";
import type { TransactionOutcome } from "../outcome.ts";
import type { LaneLease } from "./lane-table.ts";

/** An operation as it waits in the outbox. */
export interface QueuedOperation {
  readonly id: string;
  readonly kind: OperationName;
  readonly subjectId: string;
  readonly alone: boolean;
  readonly attempts: number;
  /** `traceparent` of the call that it came from; null where that was not traced. */
  readonly traceParent: string | null;
}

/** A transaction that was stored and whose outcome is not known. */
export interface StoredTransaction {
  readonly digest: string;
  readonly bytes: Uint8Array;
  readonly signatures: readonly string[];
}

const COLUMNS = `id, kind, subject_id AS "subjectId", alone, attempts, trace_parent AS "traceParent"`;

/** Queued, due, and in the hands of no living lease but the given one. */
const DUE = `o.network = $1 AND o.state = 'queued' AND o.not_before <= now()
  AND (o.claimed_fence IS NULL OR o.claimed_fence = $2 OR NOT EXISTS (
    SELECT 1 FROM lane l WHERE l.fence = o.claimed_fence AND l.leased_until > now()))`;

const CLAIM = `
WITH first AS MATERIALIZED (
  SELECT o.id, o.kind, o.alone FROM chain_operation o WHERE ${DUE} ORDER BY o.priority, o.id LIMIT 1
  FOR UPDATE SKIP LOCKED
), batch AS MATERIALIZED (
  SELECT o.id FROM chain_operation o CROSS JOIN first
  WHERE ${DUE} AND o.kind = first.kind AND (o.id = first.id OR NOT (o.alone OR first.alone))
  ORDER BY o.id <> first.id, o.priority, o.id LIMIT (SELECT ($3::jsonb ->> kind)::int FROM first)
  FOR UPDATE OF o SKIP LOCKED
)
UPDATE chain_operation o SET claimed_fence = $2 FROM batch WHERE o.id = batch.id
RETURNING o.${COLUMNS}, o.priority`;

/**
 * Takes the next operations that may share a transaction: those of the kind of the most urgent one, or that one by
 * itself if it must go alone. They are the lease's until it stores them, gives them back or is over.
 */
export async function claimOperations(
  db: Queryable,
  network: string,
  lease: LaneLease,
  batchCounts: Readonly<Partial<Record<OperationName, number>>>,
): Promise<QueuedOperation[]> {
  const rows = await db.query<QueuedOperation & { priority: number }>(CLAIM, [
    network,
    lease.fence,
    JSON.stringify(batchCounts),
  ]);
  return rows.sort((a, b) => a.priority - b.priority || (a.id < b.id ? -1 : 1));
}

/** Gives back what the lease took, except for these. All claims of a lease end with it anyway. */
export async function unclaimOperations(
  db: Queryable,
  { fence }: LaneLease,
  except: readonly QueuedOperation[],
): Promise<void> {
  await db.query(
    `UPDATE chain_operation SET claimed_fence = NULL
     WHERE claimed_fence = $1 AND state = 'queued' AND id <> ALL($2::uuid[])`,
    [fence, except.map(({ id }) => id)],
  );
}

/** Whether the lane has anything to do: a transaction to bring to its end, or operations that are due. */
export async function hasWork(db: Queryable, network: string, laneId: string): Promise<boolean> {
  const [row] = await db.query<{ hasWork: boolean }>(
    `SELECT EXISTS (SELECT 1 FROM chain_transaction WHERE network = $1 AND lane = $3 AND state = 'stored')
         OR EXISTS (SELECT 1 FROM chain_operation o WHERE ${DUE}) AS "hasWork"`,
    [network, NO_FENCE, laneId],
  );
  return row?.hasWork === true;
}

/** Whether an operation could have been taken for that long and was not. */
export async function hasStaleOperation(db: Queryable, network: string, ageMs: number): Promise<boolean> {
  const [row] = await db.query<{ isStale: boolean }>(
    `SELECT EXISTS (SELECT 1 FROM chain_operation WHERE network = $1 AND state = 'queued'
                    AND not_before < now() - $2 * interval '1 millisecond') AS "isStale"`,
    [network, ageMs],
  );
  return row?.isStale === true;
}

/** Is no lease's. */
const NO_FENCE = -1n;

/**
 * Stores a signed transaction and ties its operations to it. `db` must be one transaction. Throws
 * {@link LeaseLostError} when another process has the lane, and stores nothing that could then be sent.
 */
export async function storeTransaction(
  db: Queryable,
  lease: LaneLease,
  transaction: StoredTransaction & { network: string; sender: string },
  operationIds: readonly string[],
): Promise<void> {
  const { digest, network, sender, bytes, signatures } = transaction;
  const stored = await db.query(
    `WITH held AS (SELECT id FROM lane WHERE id = $4 AND fence = $7 FOR NO KEY UPDATE)
     INSERT INTO chain_transaction (digest, network, sender, lane, bytes, signatures)
     SELECT $1, $2, $3, held.id, $5, $6 FROM held RETURNING digest`,
    [digest, network, sender, lease.laneId, bytes, signatures, lease.fence],
  );
  if (stored.length === 0) throw new LeaseLostError(`another process holds lane ${lease.laneId}`);
  const tied = await db.query(
    `UPDATE chain_operation SET state = 'sent', tx_digest = $1, claimed_fence = NULL, updated_at = now()
     WHERE id = ANY($2::uuid[]) AND state = 'queued' AND claimed_fence = $3 RETURNING id`,
    [digest, operationIds, lease.fence],
  );
  // Another process took one of them in the meantime: this transaction must not be stored, so that it is never sent.
  if (tied.length !== operationIds.length) throw new LeaseLostError("an operation is another lane's");
}

/** Another process has taken the lane or an operation; there is nothing to do but to look again. */
export class LeaseLostError extends Error {
  override readonly name = "LeaseLostError";
}

/** The lane's transaction whose outcome is not known, if there is one. */
export async function unresolvedTransaction(
  db: Queryable,
  network: string,
  lane: string,
): Promise<StoredTransaction | undefined> {
  const [row] = await db.query<StoredTransaction>(
    `UPDATE chain_transaction SET sends = sends + 1 WHERE network = $1 AND lane = $2 AND state = 'stored'
     RETURNING digest, bytes, signatures`,
    [network, lane],
  );
  return row;
}

/** Whether this database has stored the transaction: then it is the service's own. */
export async function isKnownTransaction(db: Queryable, digest: string): Promise<boolean> {
  return (await db.query("SELECT 1 FROM chain_transaction WHERE digest = $1", [digest])).length > 0;
}

/** Whether this database knows how the transaction ended. */
export async function isResolvedTransaction(db: Queryable, digest: string): Promise<boolean> {
  const rows = await db.query("SELECT 1 FROM chain_transaction WHERE digest = $1 AND state <> 'stored'", [
    digest,
  ]);
  return rows.length > 0;
}

/** The operations of a stored transaction, in the order of their ids. */
export function operationsOf(db: Queryable, digest: string): Promise<QueuedOperation[]> {
  return db.query<QueuedOperation>(
    `SELECT ${COLUMNS} FROM chain_operation WHERE tx_digest = $1 AND state = 'sent' ORDER BY id FOR UPDATE`,
    [digest],
  );
}

/** Notes how a stored transaction ended; false when another process has noted it before. */
export async function resolveTransaction(
  db: Queryable,
  digest: string,
  outcome: { state: "landed" | "aborted" | "dropped"; gasUsedMist?: bigint; error?: string },
): Promise<boolean> {
  const rows = await db.query(
    `UPDATE chain_transaction SET state = $2, gas_used_mist = $3, error = $4, resolved_at = now()
     WHERE digest = $1 AND state = 'stored' RETURNING digest`,
    [digest, outcome.state, outcome.gasUsedMist ?? null, outcome.error ?? null],
  );
  return rows.length === 1;
}

/** Notes that a transaction that was taken for dead was executed after all; false when it was not taken for dead. */
export async function correctDropped(
  db: Queryable,
  digest: string,
  outcome: TransactionOutcome,
): Promise<boolean> {
  const rows = await db.query(
    `UPDATE chain_transaction SET state = $2, gas_used_mist = $3, error = NULL
     WHERE digest = $1 AND state = 'dropped' RETURNING digest`,
    [digest, outcome.kind, outcome.gasUsedMist],
  );
  return rows.length === 1;
}

/** Marks operations as done: those of a transaction that landed, or a queued one that the chain had before. */
export async function finishOperations(db: Queryable, ids: readonly string[]): Promise<void> {
  await db.query(
    `UPDATE chain_operation SET state = 'landed', updated_at = now() WHERE id = ANY($1::uuid[])`,
    [ids],
  );
}

/** Marks a queued operation as one that can never land; false when it is not queued any more. */
export async function failOperation(
  db: Queryable,
  id: string,
  reason: string,
  detail: string,
): Promise<boolean> {
  const rows = await db.query(
    `UPDATE chain_operation SET state = 'failed', failure_reason = $2, failure_detail = $3, updated_at = now()
     WHERE id = $1 AND state = 'queued' RETURNING id`,
    [id, reason, detail],
  );
  return rows.length === 1;
}

/** Takes queued operations up again after a while, and each by itself if one of them may have spoilt the block. */
export async function requeueOperations(
  db: Queryable,
  ids: readonly string[],
  how: { readonly alone: boolean; readonly delayMs: number },
): Promise<void> {
  await db.query(
    `UPDATE chain_operation SET alone = alone OR $2, attempts = attempts + 1, claimed_fence = NULL,
       not_before = now() + $3 * interval '1 millisecond', updated_at = now()
     WHERE id = ANY($1::uuid[]) AND state = 'queued'`,
    [ids, how.alone, how.delayMs],
  );
}

/** Gives the operations of a transaction that did nothing back to the queue. */
export async function releaseOperations(db: Queryable, digest: string): Promise<void> {
  await db.query(
    `UPDATE chain_operation SET state = 'queued', tx_digest = NULL, updated_at = now()
     WHERE tx_digest = $1 AND state = 'sent'`,
    [digest],
  );
}
