import { type Columns, number, text } from "../store/columns.ts";
/** Returns the bucket as one string, for tables in memory. */
export function bucketKey(bucket: PresignBucket): string {
  return [bucket.network, bucket.curve, bucket.signatureAlgorithm, bucket.networkEncryptionKeyId].join("/");
}

/** One part of the pool: interchangeable presigns. Curve and algorithm are the chain's integers. */
export interface PresignBucket {
  readonly network: string;
  readonly curve: number;
  /** Numbered per curve. */
  readonly signatureAlgorithm: number;
  readonly networkEncryptionKeyId: string;
}

/** The columns of a bucket in the result of a statement. */
export const BUCKET_COLUMNS: Columns<PresignBucket> = {
  network: text,
  curve: number,
  signatureAlgorithm: number,
  networkEncryptionKeyId: text,
};
