import { SUI_TYPE_ARG } from "@mysten/sui/utils";
import sql, { raw, type Sql } from "sql-template-tag";
import type { ChainNetwork } from "../../chain/fullnodes/network.ts";
import type { NetworkReader } from "../../chain/reader.ts";
import { createTreasuryReader } from "../../chain/treasury/treasury-reader.ts";
import type { NetworkConfig } from "../../config/networks.ts";
import { createBackgroundLoop, type PassResult } from "../../platform/lifecycle/background-loop.ts";
import type { NamedLoop } from "../../platform/lifecycle/start-loops.ts";
import { boolean, number } from "../../platform/store/columns.ts";
import { execute, type Queryable, readRows } from "../../platform/store/database.ts";
import type { Log } from "../../platform/telemetry/logger.ts";
import { type PresignBucket, readWarmBuckets } from "../../presigns/bucket.ts";

/** Creates the loops that record levels of the pool and balances of a network. Any number of workers may run them. */
export function createSamplers(options: SamplersOptions): NamedLoop[] {
  const { database, network, reader, config, log } = options;
  const { clock, gasOwnerAddress } = network;
  const treasury = createTreasuryReader(network);
  const newestKeyId = async () => (await reader.networkKey()).id;
  const loopOf = (name: string, intervalMs: number, read: () => Promise<PassResult>): NamedLoop => ({
    name,
    loop: createBackgroundLoop({ name, intervalMs, clock, log, pass: read }),
  });
  return [
    loopOf("presign samples", PRESIGN_INTERVAL_MS, async () => {
      const warm = () => readWarmBuckets(database, network.name, config.presignBuckets, newestKeyId);
      return { restMs: PRESIGN_LATE_MS + (await samplePresigns(database, network.name, warm)) };
    }),
    loopOf("treasury samples", TREASURY_INTERVAL_MS, async () => {
      await sampleTreasury(database, network.name, async () => {
        const { ika, sui } = await treasury.balances();
        const coins = await reader.gasCoins(gasOwnerAddress);
        const outside = await reader.addressBalance(gasOwnerAddress, SUI_TYPE_ARG);
        return { ika, sui, gas: coins.reduce((sum, { balanceMist }) => sum + balanceMist, outside) };
      });
      return false;
    }),
  ];
}

interface SamplersOptions {
  readonly database: Queryable;
  readonly network: ChainNetwork;
  readonly reader: NetworkReader;
  readonly config: Pick<NetworkConfig, "presignBuckets">;
  readonly log: Log;
}

/** Retries a failed sample while its minute lasts. */
const PRESIGN_INTERVAL_MS = 10_000;
/** The time after the beginning of a minute at which it is sampled. */
const PRESIGN_LATE_MS = 200;
const TREASURY_INTERVAL_MS = 60_000;

/**
 * Records the levels of the pool once in each minute, by the database's clock: of the warm buckets, and of all that
 * have, or recently had, presigns. The first caller in a minute writes; the others write nothing. Returns the time
 * until the next minute, in milliseconds.
 */
export async function samplePresigns(
  db: Queryable,
  network: string,
  readWarm: () => Promise<readonly PresignBucket[]>,
): Promise<number> {
  const [noted] = await readRows(
    db,
    sql`SELECT EXISTS (SELECT 1 FROM presign_sample WHERE network = ${network} AND minute = ${THIS_MINUTE}) AS "isNoted",
          60000 - mod(extract(epoch FROM now()) * 1000, 60000)::float8 AS "leftMs"`,
    { isNoted: boolean, leftMs: number },
  );
  if (noted === undefined) throw new Error("the database does not say what time it is");
  if (noted.isNoted) return noted.leftMs;
  await execute(db, sampleOf(network, await readWarm()));
  await execute(
    db,
    sql`DELETE FROM presign_sample WHERE network = ${network} AND minute < now() - ${PRESIGNS_KEPT}`,
  );
  return noted.leftMs;
}

/** How long levels are kept. */
export const PRESIGN_SAMPLE_DAYS = 14;

/** A constant, so that the planner knows how few rows are older. */
const PRESIGNS_KEPT = raw(`interval '${PRESIGN_SAMPLE_DAYS} days'`);

const THIS_MINUTE = sql`date_trunc('minute', now(), 'UTC')`;
const LAST_MINUTE = sql`date_trunc('minute', now(), 'UTC') - interval '1 minute'`;
const BUCKET = sql`p.curve, p.signature_algorithm, p.network_encryption_key_id`;

/** Each part counts one thing for each bucket of the pool: ready, pending, held, made, taken. */
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
  FROM presign p WHERE network = ${network} AND state IN ('requested', 'pending', 'ready') AND NOT of_dwallet GROUP BY ${BUCKET}
  UNION ALL
  SELECT ${BUCKET}, 0, 0, count(*), 0, 0 FROM sign_request r JOIN presign p ON p.id = r.presign_id
  WHERE r.network = ${network} AND r.status = 'prepared' AND NOT p.of_dwallet GROUP BY ${BUCKET}
  UNION ALL
  SELECT ${BUCKET}, 0, 0, 0, count(*), 0 FROM presign p
  WHERE network = ${network} AND ready_at >= ${LAST_MINUTE} AND ready_at < ${THIS_MINUTE} AND NOT of_dwallet
  GROUP BY ${BUCKET}
  UNION ALL
  SELECT ${BUCKET}, 0, 0, 0, 0, count(*) FROM sign_request r JOIN presign p ON p.id = r.presign_id
  WHERE r.network = ${network} AND r.created_at >= ${LAST_MINUTE} AND r.created_at < ${THIS_MINUTE} AND NOT p.of_dwallet
  GROUP BY ${BUCKET}
) counted GROUP BY curve, signature_algorithm, network_encryption_key_id
ON CONFLICT DO NOTHING`;

/**
 * Records the balances at most once in ten minutes, by the database's clock. The first of several callers writes. Reads
 * the chain only if nothing is recorded yet.
 */
export async function sampleTreasury(
  db: Queryable,
  network: string,
  readFunds: () => Promise<TreasuryFunds>,
): Promise<void> {
  const [noted] = await readRows(
    db,
    sql`SELECT EXISTS (SELECT 1 FROM treasury_sample WHERE network = ${network} AND taken_at = ${SLOT}) AS "isNoted"`,
    { isNoted: boolean },
  );
  if (noted?.isNoted) return;
  const { ika, sui, gas } = await readFunds();
  await execute(
    db,
    sql`INSERT INTO treasury_sample (network, taken_at, ika, sui, gas)
        VALUES (${network}, ${SLOT}, ${ika}, ${sui}, ${gas}) ON CONFLICT DO NOTHING`,
  );
  await execute(
    db,
    sql`DELETE FROM treasury_sample WHERE network = ${network} AND taken_at < now() - ${TREASURY_KEPT}`,
  );
}

/** The service's funds, in the smallest units. */
export interface TreasuryFunds {
  readonly ika: bigint;
  readonly sui: bigint;
  /** All SUI of the address that pays for gas. */
  readonly gas: bigint;
}

/** How long balances are kept. */
export const TREASURY_SAMPLE_DAYS = 30;

/** A constant, so that the planner knows how few rows are older. */
const TREASURY_KEPT = raw(`interval '${TREASURY_SAMPLE_DAYS} days'`);

/** The current ten minutes. */
const SLOT = sql`date_bin('10 minutes', now(), '2000-01-01T00:00:00Z'::timestamptz)`;
