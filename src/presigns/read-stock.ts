import type { Sql } from "../store/database.ts";
import { bucketKey, type PresignBucket } from "./bucket.ts";

/** What a bucket has. */
export interface PresignStock {
  readonly readyCount: number;
  /** Asked for and not yet there. */
  readonly pendingCount: number;
  /** Failed in the last half minute before they were ready. */
  readonly spoiltCount: number;
}

type StockRow = PresignBucket & PresignStock;

/** Counts the living presigns of a network. The result knows every bucket; one without presigns has none. */
export async function readStock(sql: Sql, network: string): Promise<(bucket: PresignBucket) => PresignStock> {
  const rows = await sql.query<StockRow>(STOCK, [network]);
  const byBucket = new Map(rows.map((row) => [bucketKey(row), row]));
  return (bucket) => byBucket.get(bucketKey(bucket)) ?? { readyCount: 0, pendingCount: 0, spoiltCount: 0 };
}

const STOCK = `
SELECT network, curve, signature_algorithm AS "signatureAlgorithm",
       network_encryption_key_id AS "networkEncryptionKeyId",
       count(*) FILTER (WHERE state = 'ready')::int AS "readyCount",
       count(*) FILTER (WHERE state IN ('requested', 'pending'))::int AS "pendingCount",
       count(*) FILTER (WHERE state = 'burnt')::int AS "spoiltCount"
FROM (
  SELECT network, curve, signature_algorithm, network_encryption_key_id, state FROM presign
  WHERE network = $1 AND state IN ('requested', 'pending', 'ready')
  UNION ALL
  SELECT network, curve, signature_algorithm, network_encryption_key_id, state FROM presign
  WHERE network = $1 AND state = 'burnt' AND presign IS NULL AND updated_at > now() - interval '30 seconds'
) living
GROUP BY network, curve, signature_algorithm, network_encryption_key_id`;
