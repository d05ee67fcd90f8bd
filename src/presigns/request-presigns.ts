import { randomBytes } from "node:crypto";
import sql from "sql-template-tag";
import { operationInsert } from "../chain/operation.ts";
import { boolean } from "../store/columns.ts";
import type { Queryable } from "../store/database.ts";
import { newId } from "../store/ids.ts";
import { LOCK_KEYS } from "../store/lock-keys.ts";
import { execute, readRows } from "../store/statements.ts";
import type { PresignBucket } from "./bucket.ts";
import { PRESIGN_PRIORITY } from "./presign-operation.ts";

/** Adds presigns to the bucket and to the outbox, one operation each. The submitter batches them. */
export async function requestPresigns(db: Queryable, bucket: PresignBucket, count: number): Promise<void> {
  const { network, curve, signatureAlgorithm, networkEncryptionKeyId } = bucket;
  const ids = Array.from({ length: count }, newId);
  const sessionBytes = ids.map(() => randomBytes(32));
  const operationIds = ids.map(newId);
  await execute(
    db,
    sql`WITH inserted AS (
          INSERT INTO presign
            (id, network, curve, signature_algorithm, network_encryption_key_id, session_bytes, state)
          SELECT id, ${network}, ${curve}, ${signatureAlgorithm}, ${networkEncryptionKeyId}, session_bytes, 'requested'
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
export async function awaitPlanner(db: Queryable, network: string): Promise<void> {
  await execute(
    db,
    sql`SELECT pg_advisory_xact_lock(${LOCK_KEYS.presignPlanner}::integer, hashtext(${network}))`,
  );
}
