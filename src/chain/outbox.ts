import type { Sql } from "../store/database.ts";
import type { OperationName } from "./operation.ts";

/** An operation as it waits in the outbox. */
export interface QueuedOperation {
  readonly id: string;
  readonly kind: OperationName;
  readonly subjectId: string;
  readonly alone: boolean;
  readonly attempts: number;
}

/** A transaction that was stored and whose outcome is not known. */
export interface StoredTransaction {
  readonly digest: string;
  readonly bytes: Uint8Array;
  readonly signatures: readonly string[];
}

const SELECT = `SELECT id, kind, subject_id AS "subjectId", alone, attempts FROM chain_operation`;

/**
 * The next operations that may share a transaction: all of the kind of the most urgent one, or that one by itself if
 * it must go alone.
 */
export async function nextOperations(
  sql: Sql,
  network: string,
  batchCountOf: (kind: OperationName) => number,
): Promise<QueuedOperation[]> {
  const due = `network = $1 AND state = 'queued' AND not_before <= now()`;
  const [first] = await sql.query<QueuedOperation>(`${SELECT} WHERE ${due} ORDER BY priority, id LIMIT 1`, [
    network,
  ]);
  if (!first || first.alone) return first ? [first] : [];
  return sql.query<QueuedOperation>(
    `${SELECT} WHERE ${due} AND kind = $2 AND NOT alone ORDER BY priority, id LIMIT $3`,
    [network, first.kind, batchCountOf(first.kind)],
  );
}

/** Stores a signed transaction and ties its operations to it. `sql` must be one transaction. */
export async function storeTransaction(
  sql: Sql,
  transaction: StoredTransaction & { network: string; sender: string; lane: string },
  operationIds: readonly string[],
): Promise<void> {
  const { digest, network, sender, lane, bytes, signatures } = transaction;
  await sql.query(
    `INSERT INTO chain_transaction (digest, network, sender, lane, bytes, signatures) VALUES ($1, $2, $3, $4, $5, $6)`,
    [digest, network, sender, lane, bytes, signatures],
  );
  const tied = await sql.query(
    `UPDATE chain_operation SET state = 'sent', tx_digest = $1, updated_at = now()
     WHERE id = ANY($2::uuid[]) AND state = 'queued' RETURNING id`,
    [digest, operationIds],
  );
  // Another process took one of them in the meantime: this transaction must not be stored, so that it is never sent.
  if (tied.length !== operationIds.length) throw new OperationTakenError();
}

/** Another process has taken an operation or the lane; there is nothing to do but to look again. */
export class OperationTakenError extends Error {
  override readonly name = "OperationTakenError";
}

/** The lane's transaction whose outcome is not known, if there is one. */
export async function unresolvedTransaction(
  sql: Sql,
  network: string,
  lane: string,
): Promise<StoredTransaction | undefined> {
  const [row] = await sql.query<StoredTransaction>(
    `UPDATE chain_transaction SET sends = sends + 1 WHERE network = $1 AND lane = $2 AND state = 'stored'
     RETURNING digest, bytes, signatures`,
    [network, lane],
  );
  return row;
}

/** Whether this database has stored the transaction: then it is the service's own. */
export async function isKnownTransaction(sql: Sql, digest: string): Promise<boolean> {
  return (await sql.query("SELECT 1 FROM chain_transaction WHERE digest = $1", [digest])).length > 0;
}

/** The operations of a stored transaction, in the order of their ids. */
export function operationsOf(sql: Sql, digest: string): Promise<QueuedOperation[]> {
  return sql.query<QueuedOperation>(
    `${SELECT} WHERE tx_digest = $1 AND state = 'sent' ORDER BY id FOR UPDATE`,
    [digest],
  );
}

/** Notes how a stored transaction ended; false when another process has noted it before. */
export async function resolveTransaction(
  sql: Sql,
  digest: string,
  outcome: { state: "landed" | "aborted" | "dropped"; gasUsedMist?: bigint; error?: string },
): Promise<boolean> {
  const rows = await sql.query(
    `UPDATE chain_transaction SET state = $2, gas_used_mist = $3, error = $4, resolved_at = now()
     WHERE digest = $1 AND state = 'stored' RETURNING digest`,
    [digest, outcome.state, outcome.gasUsedMist ?? null, outcome.error ?? null],
  );
  return rows.length === 1;
}

/** Marks operations as done: those of a transaction that landed, or a queued one that the chain had before. */
export async function finishOperations(sql: Sql, ids: readonly string[]): Promise<void> {
  await sql.query(
    `UPDATE chain_operation SET state = 'landed', updated_at = now() WHERE id = ANY($1::uuid[])`,
    [ids],
  );
}

/** Marks a queued operation as one that can never land; false when it is not queued any more. */
export async function failOperation(sql: Sql, id: string, reason: string, detail: string): Promise<boolean> {
  const rows = await sql.query(
    `UPDATE chain_operation SET state = 'failed', failure_reason = $2, failure_detail = $3, updated_at = now()
     WHERE id = $1 AND state = 'queued' RETURNING id`,
    [id, reason, detail],
  );
  return rows.length === 1;
}

/** Takes queued operations up again after a while, and each by itself if one of them may have spoilt the block. */
export async function requeueOperations(
  sql: Sql,
  ids: readonly string[],
  how: { readonly alone: boolean; readonly delayMs: number },
): Promise<void> {
  await sql.query(
    `UPDATE chain_operation SET alone = alone OR $2, attempts = attempts + 1,
       not_before = now() + $3 * interval '1 millisecond', updated_at = now()
     WHERE id = ANY($1::uuid[]) AND state = 'queued'`,
    [ids, how.alone, how.delayMs],
  );
}

/** Gives the operations of a transaction that did nothing back to the queue. */
export async function releaseOperations(sql: Sql, digest: string): Promise<void> {
  await sql.query(
    `UPDATE chain_operation SET state = 'queued', tx_digest = NULL, updated_at = now()
     WHERE tx_digest = $1 AND state = 'sent'`,
    [digest],
  );
}
