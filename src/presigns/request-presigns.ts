import { randomBytes } from "node:crypto";
import type { Sql } from "../store/database.ts";
import { newId } from "../store/ids.ts";
import { LOCK_KEYS } from "../store/lock-keys.ts";
import type { PresignBucket } from "./bucket.ts";
import { PRESIGN_PRIORITY } from "./presign-operation.ts";

/** Whether this transaction may plan a refill. The right ends with it. */
export async function lockPlanner(sql: Sql): Promise<boolean> {
  const [row] = await sql.query<{ locked: boolean }>("SELECT pg_try_advisory_xact_lock($1) AS locked", [
    LOCK_KEYS.presignPlanner,
  ]);
  return row?.locked === true;
}

/** The same, but waits for its turn. */
export async function awaitPlanner(sql: Sql): Promise<void> {
  await sql.query("SELECT pg_advisory_xact_lock($1)", [LOCK_KEYS.presignPlanner]);
}

/** Adds presigns to the bucket and puts them into the outbox, one operation each; the submitter batches them. */
export async function requestPresigns(sql: Sql, bucket: PresignBucket, count: number): Promise<void> {
  const ids = Array.from({ length: count }, newId);
  await sql.query(
    `WITH asked AS (
       INSERT INTO presign
         (id, network, curve, signature_algorithm, network_encryption_key_id, session_bytes, state)
       SELECT id, $4, $5, $6, $7, session_bytes, 'requested'
       FROM unnest($1::uuid[], $2::bytea[]) AS t (id, session_bytes) RETURNING id, network
     )
     INSERT INTO chain_operation (id, network, kind, subject_id, priority)
     SELECT t.operation_id, asked.network, 'presign', asked.id, $8
     FROM asked JOIN unnest($1::uuid[], $3::uuid[]) AS t (id, operation_id) ON t.id = asked.id`,
    [
      ids,
      ids.map(() => randomBytes(32)),
      ids.map(newId),
      bucket.network,
      bucket.curve,
      bucket.signatureAlgorithm,
      bucket.networkEncryptionKeyId,
      PRESIGN_PRIORITY,
    ],
  );
}
