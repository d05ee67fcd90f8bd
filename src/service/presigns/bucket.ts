import sql from "sql-template-tag";
import { CURVE_ALGORITHMS, type CurveAlgorithm } from "../../protocol/algorithms.ts";
import { type Columns, number, text } from "../platform/store/columns.ts";
import { type Queryable, readRows } from "../platform/store/database.ts";

/** Returns the bucket as one string, for tables in memory. */
export function bucketKey(bucket: PresignBucket): string {
  return [bucket.network, bucket.curve, bucket.signatureAlgorithm, bucket.networkEncryptionKeyId].join("/");
}

/**
 * Interchangeable presigns: a part of the pool, or those that only one dWallet can use. Curve and algorithm are the
 * chain's integers.
 */
export interface PresignBucket {
  readonly network: string;
  readonly curve: number;
  /** Numbered per curve. */
  readonly signatureAlgorithm: number;
  /** Of presigns that only one dWallet can use, the id of that dWallet's object. */
  readonly networkEncryptionKeyId: string;
  /** Whether only one dWallet can use them. Default false. */
  readonly ofDWallet?: boolean;
}

/** The columns of a bucket in the result of a statement. */
export const BUCKET_COLUMNS: Columns<Required<Omit<PresignBucket, "ofDWallet">>> = {
  network: text,
  curve: number,
  signatureAlgorithm: number,
  networkEncryptionKeyId: text,
};

/**
 * Returns the buckets that the pool keeps at the low-water mark: the configured algorithms under the newest network
 * encryption key, and all algorithms of each curve that has a dWallet, under that dWallet's key.
 */
export async function readWarmBuckets(
  db: Queryable,
  network: string,
  configured: readonly CurveAlgorithm[],
  newestNetworkEncryptionKeyId: () => Promise<string>,
): Promise<PresignBucket[]> {
  const used = await readRows(db, usedOf(network), { curve: number, networkEncryptionKeyId: text });
  const buckets = used.flatMap(({ curve, networkEncryptionKeyId }) =>
    CURVE_ALGORITHMS.filter((algorithm) => algorithm.curveNumber === curve).map((algorithm) =>
      bucketOf(network, algorithm, networkEncryptionKeyId),
    ),
  );
  if (configured.length > 0) {
    const newest = await newestNetworkEncryptionKeyId();
    buckets.push(...configured.map((algorithm) => bucketOf(network, algorithm, newest)));
  }
  return [...new Map(buckets.map((bucket) => [bucketKey(bucket), bucket])).values()];
}

const living = (network: string) =>
  sql`network = ${network} AND state NOT IN ('Failed', 'NetworkRejectedDKGVerification')`;

/**
 * Steps from one pair to the next in the index. DISTINCT would read every dWallet, and this runs several times a
 * second.
 */
const usedOf = (network: string) => sql`
WITH RECURSIVE used AS (
  (SELECT curve, network_encryption_key_id FROM dwallet WHERE ${living(network)}
   ORDER BY curve, network_encryption_key_id LIMIT 1)
  UNION ALL
  SELECT next.curve, next.network_encryption_key_id FROM used CROSS JOIN LATERAL (
    SELECT d.curve, d.network_encryption_key_id FROM dwallet d
    WHERE ${living(network)} AND (d.curve, d.network_encryption_key_id) > (used.curve, used.network_encryption_key_id)
    ORDER BY d.curve, d.network_encryption_key_id LIMIT 1
  ) next
)
SELECT curve, network_encryption_key_id AS "networkEncryptionKeyId" FROM used`;

/** Returns the bucket of an algorithm under a network encryption key. */
export function bucketOf(
  network: string,
  { curveNumber, signatureAlgorithmNumber }: CurveAlgorithm,
  networkEncryptionKeyId: string,
): PresignBucket {
  return {
    network,
    curve: curveNumber,
    signatureAlgorithm: signatureAlgorithmNumber,
    networkEncryptionKeyId,
  };
}
