import sql, { type Sql } from "sql-template-tag";
import { bigint, type Columns, number, text } from "../store/columns.ts";
import type { Queryable } from "../store/database.ts";
import { readRows } from "../store/statements.ts";
import type { TimeSteps } from "./time-steps.ts";

/** Reads the recorded levels of the pool, sorted by bucket and then by step. */
export function readPresignHistory(
  db: Queryable,
  network: string,
  window: TimeSteps,
  only: { readonly curve: number; readonly signatureAlgorithm: number } | undefined,
): Promise<PresignStep[]> {
  return readRows(db, levels(network, window, only), STEP);
}

export interface PresignStep {
  readonly curve: number;
  readonly signatureAlgorithm: number;
  readonly networkEncryptionKeyId: string;
  /** Counts from 0. */
  readonly step: number;
  readonly sampleCount: number;
  readonly emptySampleCount: number;
  readonly readyMin: number;
  readonly readyLast: number;
  readonly pendingLast: number;
  readonly heldLast: number;
  readonly madeCount: bigint;
  readonly takenCount: bigint;
}

const STEP: Columns<PresignStep> = {
  curve: number,
  signatureAlgorithm: number,
  networkEncryptionKeyId: text,
  step: number,
  sampleCount: number,
  emptySampleCount: number,
  readyMin: number,
  readyLast: number,
  pendingLast: number,
  heldLast: number,
  madeCount: bigint,
  takenCount: bigint,
};

const levels = (
  network: string,
  { start, end, stepSeconds }: TimeSteps,
  only: { readonly curve: number; readonly signatureAlgorithm: number } | undefined,
): Sql => sql`
SELECT curve, signature_algorithm AS "signatureAlgorithm", network_encryption_key_id AS "networkEncryptionKeyId",
  floor(extract(epoch FROM minute - ${start}::timestamptz) / ${stepSeconds}::int)::int AS step,
  count(*)::int AS "sampleCount", count(*) FILTER (WHERE ready = 0)::int AS "emptySampleCount",
  min(ready) AS "readyMin", (array_agg(ready ORDER BY minute DESC))[1] AS "readyLast",
  (array_agg(pending ORDER BY minute DESC))[1] AS "pendingLast", (array_agg(held ORDER BY minute DESC))[1] AS "heldLast",
  sum(made)::bigint AS "madeCount", sum(taken)::bigint AS "takenCount"
FROM presign_sample
WHERE network = ${network} AND minute >= ${start} AND minute < ${end}
  AND (${only?.curve ?? null}::int IS NULL
    OR (curve, signature_algorithm) = (${only?.curve ?? null}::int, ${only?.signatureAlgorithm ?? null}::int))
GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4`;
