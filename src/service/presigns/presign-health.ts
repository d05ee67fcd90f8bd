import sql from "sql-template-tag";
import type { CurveAlgorithm } from "../../protocol/algorithms.ts";
import { type Columns, number } from "../platform/store/columns.ts";
import { type Queryable, readRows } from "../platform/store/database.ts";
import { BUCKET_COLUMNS, bucketKey, type PresignBucket, readWarmBuckets } from "./bucket.ts";

/** Counts each bucket of the pool that is warm or has ever had presigns, sorted by curve, algorithm and key. */
export async function readPresignHealth(
  db: Queryable,
  network: string,
  configured: readonly CurveAlgorithm[],
  newestNetworkEncryptionKeyId: () => Promise<string>,
): Promise<(PresignBucket & PresignCounts)[]> {
  const empty = { ready: 0, pending: 0, held: 0, used: 0, burnt: 0 };
  const warm = await readWarmBuckets(db, network, configured, newestNetworkEncryptionKeyId);
  const counted = await readRows(db, countsOf(network), COUNTS);
  const all = [...warm.map((bucket) => ({ ...bucket, ...empty })), ...counted];
  const byBucket = new Map(all.map((bucket) => [bucketKey(bucket), bucket]));
  return [...byBucket.values()].sort(
    (a, b) =>
      a.curve - b.curve ||
      a.signatureAlgorithm - b.signatureAlgorithm ||
      a.networkEncryptionKeyId.localeCompare(b.networkEncryptionKeyId),
  );
}

/** The number of a bucket's presigns in each state. */
export interface PresignCounts {
  readonly ready: number;
  /** Requested and not ready yet. */
  readonly pending: number;
  readonly held: number;
  readonly used: number;
  readonly burnt: number;
}

const COUNTS: Columns<Required<Omit<PresignBucket, "ofDWallet">> & PresignCounts> = {
  ...BUCKET_COLUMNS,
  ready: number,
  pending: number,
  held: number,
  used: number,
  burnt: number,
};

const countsOf = (network: string) => sql`
SELECT network, curve, signature_algorithm AS "signatureAlgorithm",
       network_encryption_key_id AS "networkEncryptionKeyId",
       count(*) FILTER (WHERE state = 'ready')::int AS ready,
       count(*) FILTER (WHERE state IN ('requested', 'pending'))::int AS pending,
       count(*) FILTER (WHERE state = 'held')::int AS held,
       count(*) FILTER (WHERE state = 'used')::int AS used,
       count(*) FILTER (WHERE state = 'burnt')::int AS burnt
FROM presign WHERE network = ${network} AND NOT of_dwallet
GROUP BY network, curve, signature_algorithm, network_encryption_key_id`;
