import sql, { type Sql } from "sql-template-tag";
import { compareIntegers } from "../../../protocol/class-groups/integers.ts";
import { writeAuditEvent } from "../../audit/audit-event.ts";
import { enqueueOperation } from "../../chain/operation.ts";
import type { OwnedRef } from "../../chain/treasury/treasury-calls.ts";
import { bigint, number, text } from "../../platform/store/columns.ts";
import { type Database, execute, newId, type Queryable, readRows } from "../../platform/store/database.ts";
import type { Log } from "../../platform/telemetry/logger.ts";
import { SWEEP_PRIORITY, SWEEPER } from "./sweep-operation.ts";
import { type DepositSigner, type SweptAddress, signerObstacle } from "./sweep-signer.ts";

/**
 * Queues a sweep for every address and coin type whose credited coins are worth one. Returns the number of sweeps. Only
 * one sweep takes a coin, even if several processes plan at the same time.
 */
export async function queueSweeps(options: QueueSweepsOptions): Promise<number> {
  const { database, destination, signerOf, log } = options;
  if (await isDepositAddress(database, destination)) {
    log.error(
      { destination },
      "the sweep destination is a deposit address of this service; nothing is swept",
    );
    return 0;
  }
  let queuedCount = 0;
  let after: Pick<CoinGroup, "address" | "coinType"> = { address: FIRST, coinType: FIRST };
  for (;;) {
    const groups = await readGroups(options, after);
    for (const group of groups) {
      const obstacle = signerObstacle(signerOf, group);
      if (obstacle !== undefined) {
        log.error({ projectId: group.projectId, reason: obstacle.reason }, obstacle.message);
        continue;
      }
      while (await database.transaction((db) => queueSweep(db, options, group))) queuedCount++;
    }
    const last = groups.at(PAGE_COUNT - 1);
    if (last === undefined) return queuedCount;
    after = last;
  }
}

export interface QueueSweepsOptions extends SweepBounds {
  readonly database: Database;
  readonly network: string;
  /** The address that receives the coins. */
  readonly destination: string;
  readonly signerOf: DepositSigner;
  readonly log: Log;
}

/** Coins of one address and type that together are worth a sweep. */
interface CoinGroup extends SweptAddress {
  readonly coinType: string;
}

/** Sorts before every address. */
const FIRST = "";
const PAGE_COUNT = 100;

async function isDepositAddress({ prisma }: Database, address: string): Promise<boolean> {
  return (await prisma.depositAddress.count({ where: { address } })) > 0;
}

function readGroups(
  { database, network, minValueMicroUsd }: QueueSweepsOptions,
  after: Pick<CoinGroup, "address" | "coinType">,
): Promise<CoinGroup[]> {
  return readRows(
    database,
    sql`SELECT address, project_id AS "projectId", reference, coin_type AS "coinType" FROM (${unswept(network)}) unswept
     WHERE (address, coin_type) > (${after.address}, ${after.coinType})
     GROUP BY address, project_id, reference, coin_type HAVING sum(value) >= ${minValueMicroUsd} AND sum(amount) > 0
     ORDER BY address, coin_type LIMIT ${PAGE_COUNT}`,
    { address: text, projectId: text, reference: text, coinType: text },
  );
}

/**
 * Queues one sweep of the group. Returns false if the remaining coins are not worth one. `db` must be a transaction.
 */
async function queueSweep(db: Queryable, options: QueueSweepsOptions, group: CoinGroup): Promise<boolean> {
  const { network, destination, log } = options;
  const { projectId, address, coinType } = group;
  const rows = await readRows(
    db,
    sql`SELECT u.object_id AS "objectId", u.version, u.digest, u.amount::text AS amount, u.value AS "valueMicroUsd"
     FROM (${unswept(network)} AND d.address = ${address} AND c.coin_type = ${coinType}
           ORDER BY value DESC, c.object_id LIMIT ${options.maxCoinCount} FOR UPDATE OF c SKIP LOCKED) u`,
    { objectId: text, version: text, digest: text, amount: text, valueMicroUsd: bigint },
  );
  const coins = planSweep(
    rows.map((row) => ({ ...row, amount: BigInt(row.amount) })),
    options,
  );
  if (coins.length === 0) return false;
  const id = newId();
  const amount = String(coins.reduce((sum, coin) => sum + coin.amount, 0n));
  await execute(
    db,
    sql`INSERT INTO sweep (id, network, address, coin_type, destination, amount, coin_count)
     VALUES (${id}, ${network}, ${address}, ${coinType}, ${destination}, ${amount}::numeric, ${coins.length})`,
  );
  const objectIds = coins.map(({ objectId }) => objectId);
  const versions = coins.map(({ version }) => version);
  await execute(
    db,
    sql`UPDATE deposit_coin c SET sweep_id = ${id}
     FROM unnest(${objectIds}::text[], ${versions}::text[]) AS taken (object_id, version)
     WHERE c.network = ${network} AND c.object_id = taken.object_id AND c.version = taken.version`,
  );
  const operation = { id: newId(), network, kind: "sweep", subjectId: id } as const;
  await enqueueOperation(db, { ...operation, priority: SWEEP_PRIORITY });
  await writeAuditEvent(db, SWEEPER, { projectId, action: "sweep.queue", subject: id });
  log.info(
    { sweep: id, projectId, address, coinType, amount, coins: coins.length, destination },
    "a sweep was queued",
  );
  return true;
}

/** Chooses the most valuable coins of one address and type for a sweep, or none if their total value is too low. */
export function planSweep(
  coins: readonly SweepableCoin[],
  { minValueMicroUsd, maxCoinCount }: SweepBounds,
): SweepableCoin[] {
  const chosen = coins
    .filter(({ amount }) => amount > 0n)
    .sort((a, b) => compareIntegers(b.valueMicroUsd, a.valueMicroUsd) || (a.objectId < b.objectId ? -1 : 1))
    .slice(0, maxCoinCount);
  const valueMicroUsd = chosen.reduce((sum, coin) => sum + coin.valueMicroUsd, 0n);
  return valueMicroUsd >= minValueMicroUsd ? chosen : [];
}

/** A credited coin that no sweep has taken. */
export interface SweepableCoin extends OwnedRef {
  /** In the coin's smallest unit. */
  readonly amount: bigint;
  /** The credit that the project got for it. */
  readonly valueMicroUsd: bigint;
}

/** The bounds of a sweep. */
interface SweepBounds {
  /** The minimum credit for all coins together. A sweep below it is not worth its gas. */
  readonly minValueMicroUsd: bigint;
  /** The maximum number of coins in one transaction. */
  readonly maxCoinCount: number;
}

/**
 * Counts the credited coins at a network's deposit addresses, by whether the sweeper will still take them. Coins of a
 * refused sweep wait for their inspection and count as coins that it will take.
 */
export async function countUnsweptCoins(
  db: Queryable,
  network: string,
  { destination, minValueMicroUsd }: SweepTerms,
): Promise<UnsweptCoins> {
  const isEnough = sql`coalesce(sum(value) FILTER (WHERE place <= ${MAX_COIN_COUNT}), 0) >= ${minValueMicroUsd}`;
  const isTaken = destination === undefined ? sql`false` : isEnough;
  const [counts] = await readRows(
    db,
    sql`
WITH coin AS (
  SELECT address, coin_type, value, row_number() OVER (PARTITION BY address, coin_type ORDER BY value DESC) AS place
  FROM (${unswept(network)} AND c.amount > 0) unswept
), kind AS (
  SELECT count(*) AS count, ${isTaken} AS "isTaken" FROM coin GROUP BY address, coin_type
)
SELECT (coalesce(sum(count) FILTER (WHERE "isTaken"), 0)
         + (SELECT coalesce(sum(coin_count), 0) FROM sweep WHERE network = ${network} AND state = 'refused'))::int
         AS "toSweepCount",
       coalesce(sum(count) FILTER (WHERE NOT "isTaken"), 0)::int AS "leftCount" FROM kind`,
    { toSweepCount: number, leftCount: number },
  );
  if (counts === undefined) throw new Error("a count returns no row");
  return counts;
}

/** Where a network's coins are swept to, and from which value on. */
export interface SweepTerms extends Pick<SweepBounds, "minValueMicroUsd"> {
  /** Undefined: nothing is swept. */
  readonly destination: string | undefined;
}

/** The numbers of unswept coins. */
interface UnsweptCoins {
  readonly toSweepCount: number;
  /** Coins that stay: those of one address and type are worth less than the minimum, or there is no destination. */
  readonly leftCount: number;
}

/** Selects the credited coins that no sweep has taken, each with its share of the credit. */
const unswept = (network: string): Sql => sql`
  SELECT d.address, d.project_id, a.reference, c.coin_type, c.object_id, c.version, c.digest, c.amount,
         trunc(d.value_micro_usd * c.amount / d.amount)::bigint AS value
  FROM deposit_coin c JOIN deposit d ON d.id = c.deposit_id JOIN deposit_address a ON a.address = d.address
  WHERE d.network = ${network} AND d.state = 'credited' AND c.sweep_id IS NULL`;

/** The maximum number of coins in one sweep. The chain allows 512 arguments of a command and 2048 inputs of a transaction. */
export const MAX_COIN_COUNT = 100;
