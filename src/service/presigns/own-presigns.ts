import sql from "sql-template-tag";
import { number, text } from "../platform/store/columns.ts";
import { type Database, execute, type Queryable, readRows } from "../platform/store/database.ts";
import type { PresignBucket } from "./bucket.ts";
import { requestPresigns } from "./request-presigns.ts";

/**
 * Requests presigns that only one dWallet can use, so that there are as many as callers wait for. With those that open
 * reservations hold there are at most {@link OWN_PRESIGNS_MAX_COUNT}: nobody has paid for them, and no other dWallet can
 * use them. Presigns that lately failed count too, so that repeated failures cost little. At most
 * {@link OWN_PRESIGNS_UNDERWAY_MAX_COUNT} for dWallets of one project are underway, so that its dWallets do not keep the
 * network from the presigns of others. Replicas that ask at the same time request no more than one of them would. Does
 * nothing if the dWallet does not sign. Returns the number of new ones.
 */
export function requestOwnPresigns(
  database: Database,
  bucket: PresignBucket,
  waitingCount: number,
): Promise<number> {
  return database.transaction(async (db) => {
    const { network, networkEncryptionKeyId: dwalletId } = bucket;
    const isDWallet = sql`d.network = ${network} AND d.object_id = ${dwalletId}`;
    // The project comes first, as in a reservation. Its lock also decides between its dWallets.
    const [project] = await readRows(
      db,
      sql`SELECT p.id FROM dwallet d JOIN project p ON p.id = d.project_id WHERE ${isDWallet}
          FOR NO KEY UPDATE OF p`,
      { id: text },
    );
    const active = sql`SELECT 1 FROM dwallet d WHERE ${isDWallet} AND d.state = 'Active' FOR SHARE OF d`;
    if (project === undefined || (await execute(db, active)) === 0) return 0;
    const { freeCount, reservedCount } = await unusedCounts(db, bucket);
    const roomCount = Math.min(
      OWN_PRESIGNS_MAX_COUNT - freeCount - reservedCount,
      OWN_PRESIGNS_UNDERWAY_MAX_COUNT - (await underwayCount(db, network, project.id)),
    );
    const count = Math.max(0, Math.min(waitingCount - freeCount, roomCount));
    if (count > 0) await requestPresigns(db, bucket, count, true);
    return count;
  });
}

/** The maximum number of presigns of one dWallet that no paid signature uses. */
export const OWN_PRESIGNS_MAX_COUNT = 4;
/** The maximum number of presigns for the dWallets of one project that the network has not made yet. */
export const OWN_PRESIGNS_UNDERWAY_MAX_COUNT = 32;

/**
 * Counts the presigns that are or will be ready with those that failed in the last 30 seconds, and those that open
 * reservations hold.
 */
async function unusedCounts(
  db: Queryable,
  { network, curve, signatureAlgorithm, networkEncryptionKeyId: dwalletId }: PresignBucket,
): Promise<{ readonly freeCount: number; readonly reservedCount: number }> {
  const ofBucket = sql`p.network = ${network} AND p.curve = ${curve} AND p.signature_algorithm = ${signatureAlgorithm}
    AND p.network_encryption_key_id = ${dwalletId} AND p.of_dwallet`;
  const [row] = await readRows(
    db,
    sql`SELECT (
          SELECT count(*) FROM presign p
          WHERE ${ofBucket}
            AND (p.state IN ('requested', 'pending', 'ready')
                 OR (p.state = 'burnt' AND p.presign IS NULL AND p.updated_at > now() - interval '30 seconds'))
        )::int AS "freeCount", (
          SELECT count(*) FROM dwallet d
            JOIN sign_request r ON r.dwallet_id = d.id AND r.status = 'prepared'
            JOIN presign p ON p.id = r.presign_id
          WHERE d.network = ${network} AND d.object_id = ${dwalletId} AND ${ofBucket}
        )::int AS "reservedCount"`,
    { freeCount: number, reservedCount: number },
  );
  return row ?? { freeCount: 0, reservedCount: 0 };
}

/** Counts the presigns for the dWallets of a project that are not made yet. */
async function underwayCount(db: Queryable, network: string, projectId: string): Promise<number> {
  const [row] = await readRows(
    db,
    sql`SELECT count(*)::int AS count FROM presign p
          JOIN dwallet d ON d.network = p.network AND d.object_id = p.network_encryption_key_id
        WHERE p.network = ${network} AND p.of_dwallet AND p.state IN ('requested', 'pending')
          AND d.project_id = ${projectId}::uuid`,
    { count: number },
  );
  return row?.count ?? 0;
}
