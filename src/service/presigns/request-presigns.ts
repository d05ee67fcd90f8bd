import { randomBytes } from "node:crypto";
import sql from "sql-template-tag";
import type { CurveAlgorithm } from "../../protocol/algorithms.ts";
import { type AuditOrigin, writeAuditEvent } from "../audit/audit-event.ts";
import { requestedSessions } from "../chain/events.ts";
import { refuseWhileDraining } from "../chain/network-drain.ts";
import { type LandedTransaction, operationInsert } from "../chain/operation.ts";
import type { Signals } from "../platform/coordination/signals.ts";
import { topics } from "../platform/coordination/topics.ts";
import { boolean } from "../platform/store/columns.ts";
import { type Database, execute, newId, type Queryable, readRows } from "../platform/store/database.ts";
import { LOCK_KEYS } from "../platform/store/migrate.ts";
import { bucketKey, bucketOf, type PresignBucket } from "./bucket.ts";
import { PRESIGN_PRIORITY } from "./presign-operation.ts";
import { readDemand } from "./read-demand.ts";

/**
 * Adds presigns to the bucket and to the outbox, one operation each. The submitter batches them.
 *
 * @param ofDWallet whether only one dWallet can use them; default false
 */
export async function requestPresigns(
  db: Queryable,
  bucket: PresignBucket,
  count: number,
  ofDWallet = false,
): Promise<void> {
  const { network, curve, signatureAlgorithm, networkEncryptionKeyId } = bucket;
  const ids = Array.from({ length: count }, newId);
  const sessionBytes = ids.map(() => randomBytes(32));
  const operationIds = ids.map(newId);
  await execute(
    db,
    sql`WITH inserted AS (
          INSERT INTO presign
            (id, network, curve, signature_algorithm, network_encryption_key_id, of_dwallet, session_bytes, state)
          SELECT id, ${network}, ${curve}, ${signatureAlgorithm}, ${networkEncryptionKeyId}, ${ofDWallet},
                 session_bytes, 'requested'
          FROM unnest(${ids}::uuid[], ${sessionBytes}::bytea[]) AS t (id, session_bytes) RETURNING id, network
        ), asked AS (
          SELECT t.operation_id, inserted.network, inserted.id AS subject_id
          FROM inserted JOIN unnest(${ids}::uuid[], ${operationIds}::uuid[]) AS t (id, operation_id) USING (id)
        )
        ${operationInsert({ kind: "presign", priority: PRESIGN_PRIORITY }, sql`asked`)}`,
  );
}

/** Tries to lock the planning of the network's refill until the transaction ends. Returns whether it has the lock. */
export async function lockPlanner(db: Queryable, network: string): Promise<boolean> {
  const [row] = await readRows(
    db,
    sql`SELECT pg_try_advisory_xact_lock(${LOCK_KEYS.presignPlanner}::integer, hashtext(${network})) AS locked`,
    { locked: boolean },
  );
  return row?.locked === true;
}

/** Locks the planning of the network's refill until the transaction ends. Waits for the lock. */
async function awaitPlanner(db: Queryable, network: string): Promise<void> {
  await execute(
    db,
    sql`SELECT pg_advisory_xact_lock(${LOCK_KEYS.presignPlanner}::integer, hashtext(${network}))`,
  );
}

/**
 * Requests presigns for an operator, under the newest network encryption key. Returns the number that was queued: fewer
 * than `count` if more would exceed the high-water mark. Throws NETWORK_DRAINING.
 */
export async function refillBucket(
  database: Database,
  pool: RefilledPool,
  origin: AuditOrigin,
  algorithm: CurveAlgorithm,
  count: number,
): Promise<number> {
  const { network, highWaterCount } = pool;
  const bucket = bucketOf(network, algorithm, await pool.newestNetworkEncryptionKeyId());
  const queuedCount = await database.transaction(async (db) => {
    await awaitPlanner(db, network);
    await refuseWhileDraining(db, network);
    const { readyCount, pendingCount } = (await readDemand(db, network))(bucket);
    const room = Math.max(0, Math.min(count, highWaterCount - readyCount - pendingCount));
    if (room > 0) await requestPresigns(db, bucket, room);
    await writeAuditEvent(db, origin, { action: "presign.refill", subject: `${bucketKey(bucket)} ${room}` });
    return room;
  });
  if (queuedCount > 0) pool.signals.notify(topics.outbox(network));
  return queuedCount;
}

/** A network's pool of presigns, as an operator refills it. */
export interface RefilledPool {
  readonly network: string;
  readonly highWaterCount: number;
  readonly newestNetworkEncryptionKeyId: () => Promise<string>;
  readonly signals: Signals;
}

/**
 * Inserts rows for presigns that a transaction requested, if `wanted` accepts their object ids and they have no row
 * yet. They become ready when the network has made them. Returns their number.
 */
export async function insertPendingPresigns(
  db: Queryable,
  network: string,
  { digest, events }: LandedTransaction,
  wanted: (presignId: string) => boolean,
): Promise<number> {
  const found = requestedSessions(events, "PresignRequestEvent").filter(({ data }) =>
    wanted(data.presign_id),
  );
  const curves = found.map(({ data }) => data.curve);
  const algorithms = found.map(({ data }) => data.signature_algorithm);
  const keyIds = found.map(({ data }) => data.dwallet_id ?? data.dwallet_network_encryption_key_id);
  const ofDWallets = found.map(({ data }) => data.dwallet_id !== null);
  const presignIds = found.map(({ data }) => data.presign_id);
  return execute(
    db,
    sql`INSERT INTO presign
          (id, network, curve, signature_algorithm, network_encryption_key_id, of_dwallet, presign_id, state, tx_digest)
        SELECT id, ${network}, curve, algorithm, key_id, of_dwallet, presign_id, 'pending', ${digest}
        FROM unnest(${found.map(newId)}::uuid[], ${curves}::int[], ${algorithms}::int[], ${keyIds}::text[],
                    ${ofDWallets}::boolean[], ${presignIds}::text[])
          AS t (id, curve, algorithm, key_id, of_dwallet, presign_id)
        ON CONFLICT (network, presign_id) DO NOTHING RETURNING id`,
  );
}
