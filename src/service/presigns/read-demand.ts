import sql, { raw } from "sql-template-tag";
import { nullable, number } from "../platform/store/columns.ts";
import { type Queryable, readRows } from "../platform/store/database.ts";
import { BUCKET_COLUMNS, bucketKey, type PresignBucket } from "./bucket.ts";
import type { BucketDemand } from "./plan-refill.ts";

/** Reads stock, failures, minting times and demand of a network. The result covers every bucket of the pool. */
export async function readDemand(
  db: Queryable,
  network: string,
): Promise<(bucket: PresignBucket) => PresignDemand> {
  const stock = byBucket(await readRows(db, stockOf(network), STOCK_ROW));
  const minted = byBucket(await readRows(db, mintedOf(network), MINT_ROW));
  const taken = byBucket(await readRows(db, takenOf(network), TAKEN_ROW));
  return (bucket) => {
    const key = bucketKey(bucket);
    const { madeCount = 0, mintSeconds } = minted.get(key) ?? {};
    const { lately = 0, justNow = 0 } = taken.get(key) ?? {};
    return {
      ...NONE,
      ...stock.get(key),
      madeCount,
      mintSeconds: mintSeconds ?? undefined,
      // A sudden rise counts at once, a fall over the longer window.
      takenPerSecond: Math.max(lately / LATELY_SECONDS, justNow / JUST_NOW_SECONDS),
    };
  };
}

/** The demand for a bucket, as the database knows it. */
export type PresignDemand = Omit<BucketDemand, "waitingCount">;

const NONE: PresignDemand = {
  readyCount: 0,
  pendingCount: 0,
  spoiltCount: 0,
  madeCount: 0,
  takenPerSecond: 0,
  mintSeconds: undefined,
};

const STOCK_ROW = { ...BUCKET_COLUMNS, readyCount: number, pendingCount: number, spoiltCount: number };
const MINT_ROW = { ...BUCKET_COLUMNS, madeCount: number, mintSeconds: nullable(number) };
const TAKEN_ROW = { ...BUCKET_COLUMNS, lately: number, justNow: number };

function byBucket<Row extends PresignBucket>(rows: readonly Row[]): Map<string, Row> {
  return new Map(rows.map((row) => [bucketKey(row), row]));
}

const LATELY_SECONDS = 30;
const JUST_NOW_SECONDS = 5;

const BUCKET = sql`curve, signature_algorithm AS "signatureAlgorithm",
  network_encryption_key_id AS "networkEncryptionKeyId"`;
const GROUP = sql`GROUP BY network, curve, signature_algorithm, network_encryption_key_id`;
const LATELY = raw(`now() - interval '${LATELY_SECONDS} seconds'`);
const JUST_NOW = raw(`now() - interval '${JUST_NOW_SECONDS} seconds'`);

const stockOf = (network: string) => sql`
SELECT network, ${BUCKET},
       count(*) FILTER (WHERE state = 'ready')::int AS "readyCount",
       count(*) FILTER (WHERE state IN ('requested', 'pending'))::int AS "pendingCount",
       count(*) FILTER (WHERE state = 'burnt')::int AS "spoiltCount"
FROM (
  SELECT network, curve, signature_algorithm, network_encryption_key_id, state FROM presign
  WHERE network = ${network} AND state IN ('requested', 'pending', 'ready') AND NOT of_dwallet
  UNION ALL
  SELECT network, curve, signature_algorithm, network_encryption_key_id, state FROM presign
  WHERE network = ${network} AND state = 'burnt' AND presign IS NULL AND NOT of_dwallet
    AND updated_at > ${LATELY}
) living ${GROUP}`;

const mintedOf = (network: string) => sql`
SELECT network, ${BUCKET},
       count(*) FILTER (WHERE ready_at > ${LATELY})::int AS "madeCount",
       percentile_cont(0.9) WITHIN GROUP (ORDER BY extract(epoch FROM ready_at - created_at)::float8) AS "mintSeconds"
FROM (SELECT * FROM presign WHERE network = ${network} AND ready_at IS NOT NULL AND NOT of_dwallet ORDER BY ready_at DESC LIMIT 500) made ${GROUP}`;

const takenOf = (network: string) => sql`
SELECT p.network, p.curve, p.signature_algorithm AS "signatureAlgorithm",
       p.network_encryption_key_id AS "networkEncryptionKeyId",
       count(*)::int AS lately,
       count(*) FILTER (WHERE r.created_at > ${JUST_NOW})::int AS "justNow"
FROM sign_request r JOIN presign p ON p.id = r.presign_id
WHERE r.network = ${network} AND r.created_at > ${LATELY} AND NOT p.of_dwallet
GROUP BY p.network, p.curve, p.signature_algorithm, p.network_encryption_key_id`;
