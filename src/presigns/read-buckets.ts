import { CURVE_ALGORITHMS, type CurveAlgorithm } from "../protocol/algorithms.ts";
import type { Sql } from "../store/database.ts";
import { bucketKey, type PresignBucket } from "./bucket.ts";

/**
 * The buckets that are kept at low water: the configured algorithms under the newest network encryption key, and all
 * algorithms of every curve that has a dWallet, under that dWallet's key.
 */
export async function readWarmBuckets(
  sql: Sql,
  network: string,
  configured: readonly CurveAlgorithm[],
  newestNetworkEncryptionKeyId: () => Promise<string>,
): Promise<PresignBucket[]> {
  const used = await sql.query<{ curve: number; networkEncryptionKeyId: string }>(
    `SELECT DISTINCT curve, network_encryption_key_id AS "networkEncryptionKeyId" FROM dwallet
     WHERE network = $1 AND state NOT IN ('Failed', 'NetworkRejectedDKGVerification')`,
    [network],
  );
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

/** The bucket of an algorithm under a network encryption key. */
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
