import sql, { raw, type Sql } from "sql-template-tag";
import type { PresignBucket } from "../presigns/bucket.ts";
import { boolean } from "../store/columns.ts";
import type { Queryable } from "../store/database.ts";
import { execute, readRows } from "../store/statements.ts";

/**
 * Records the levels of the pool once in each minute, by the database's clock: of the warm buckets, and of all that
 * have, or recently had, presigns. The first caller in a minute writes; the others write nothing.
 */
export async function samplePresigns(
  db: Queryable,
  network: string,
  readWarm: () => Promise<readonly PresignBucket[]>,
): Promise<void> {
  const [noted] = await readRows(
    db,
    sql`SELECT EXISTS (SELECT 1 FROM presign_sample WHERE network = ${network} AND minute = ${THIS_MINUTE}) AS "isNoted"`,
    { isNoted: boolean },
  );
  if (noted?.isNoted) return;
  await execute(db, sampleOf(network, await readWarm()));
  await execute(db, sql`DELETE FROM presign_sample WHERE network = ${network} AND minute < now() - ${KEPT}`);
}

/** How long levels are kept. */
export const PRESIGN_SAMPLE_DAYS = 14;

/** A constant, so that the planner knows how few rows are older. */
const KEPT = raw(`interval '${PRESIGN_SAMPLE_DAYS} days'`);

const THIS_MINUTE = sql`date_trunc('minute', now(), 'UTC')`;
const LAST_MINUTE = sql`date_trunc('minute', now(), 'UTC') - interval '1 minute'`;
const BUCKET = sql`p.curve, p.signature_algorithm, p.network_encryption_key_id`;

/** Each part counts one thing for each bucket: ready, pending, held, made, taken. */
const sampleOf = (network: string, warm: readonly PresignBucket[]): Sql => sql`
INSERT INTO presign_sample (network, minute, curve, signature_algorithm, network_encryption_key_id, ready, pending, held,
  made, taken)
SELECT ${network}, ${THIS_MINUTE}, curve, signature_algorithm, network_encryption_key_id, sum(ready), sum(pending),
  sum(held), sum(made), sum(taken)
FROM (
  SELECT curve, signature_algorithm, network_encryption_key_id, 0 AS ready, 0 AS pending, 0 AS held, 0 AS made, 0 AS taken
  FROM unnest(${warm.map(({ curve }) => curve)}::int[], ${warm.map((each) => each.signatureAlgorithm)}::int[],
    ${warm.map((each) => each.networkEncryptionKeyId)}::text[]) AS warm (curve, signature_algorithm, network_encryption_key_id)
  UNION ALL
  SELECT ${BUCKET}, count(*) FILTER (WHERE p.state = 'ready'), count(*) FILTER (WHERE p.state <> 'ready'), 0, 0, 0
  FROM presign p WHERE network = ${network} AND state IN ('requested', 'pending', 'ready') GROUP BY ${BUCKET}
  UNION ALL
  SELECT ${BUCKET}, 0, 0, count(*), 0, 0 FROM sign_request r JOIN presign p ON p.id = r.presign_id
  WHERE r.network = ${network} AND r.status = 'prepared' GROUP BY ${BUCKET}
  UNION ALL
  SELECT ${BUCKET}, 0, 0, 0, count(*), 0 FROM presign p
  WHERE network = ${network} AND ready_at >= ${LAST_MINUTE} AND ready_at < ${THIS_MINUTE} GROUP BY ${BUCKET}
  UNION ALL
  SELECT ${BUCKET}, 0, 0, 0, 0, count(*) FROM sign_request r JOIN presign p ON p.id = r.presign_id
  WHERE r.network = ${network} AND r.created_at >= ${LAST_MINUTE} AND r.created_at < ${THIS_MINUTE} GROUP BY ${BUCKET}
) counted GROUP BY curve, signature_algorithm, network_encryption_key_id
ON CONFLICT DO NOTHING`;
