import { writeAuditEvent } from "../../audit/audit-event.ts";
import { enqueueOperation } from "../../chain/operation.ts";
import type { Database, Queryable } from "../../store/database.ts";
import { newId } from "../../store/ids.ts";
import type { Log } from "../../telemetry/log.ts";
import { planSweep, type SweepableCoin, type SweepBounds } from "./plan-sweep.ts";
import { SWEEP_PRIORITY, SWEEPER } from "./sweep-operation.ts";
import { type DepositSigner, type SweptAddress, signerObstacle } from "./sweep-signer.ts";

export interface QueueSweepsOptions extends SweepBounds {
  readonly database: Database;
  readonly network: string;
  /** Address that the coins go to. */
  readonly destination: string;
  readonly signerOf: DepositSigner;
  readonly log: Pick<Log, "info" | "error">;
}

/** Coins of one address and type that are together worth a sweep. */
interface CoinGroup extends SweptAddress {
  readonly coinType: string;
}

/** Sorts before every address. */
const FIRST = "";
const PAGE_COUNT = 100;

/** Coins that were credited and that no sweep has taken, each with its part of the credit. */
const UNSWEPT = `
  SELECT d.address, d.project_id, c.coin_type, c.object_id, c.version, c.digest, c.amount,
         trunc(d.value_micro_usd * c.amount / d.amount)::bigint AS value
  FROM deposit_coin c JOIN deposit d ON d.id = c.deposit_id
  WHERE d.network = $1 AND d.state = 'credited' AND c.sweep_id IS NULL`;

/**
 * Queues a sweep for every address and coin type whose credited coins are worth one. Returns their number. One sweep
 * takes a coin, even if several processes plan at the same time.
 */
export async function queueSweeps(options: QueueSweepsOptions): Promise<number> {
  const { database, network, destination, signerOf, log } = options;
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
        log.error({ network, projectId: group.projectId, reason: obstacle.reason }, obstacle.message);
        continue;
      }
      while (await database.transaction((db) => queueSweep(db, options, group))) queuedCount++;
    }
    const last = groups.at(PAGE_COUNT - 1);
    if (last === undefined) return queuedCount;
    after = last;
  }
}

async function isDepositAddress(db: Queryable, address: string): Promise<boolean> {
  return (await db.query("SELECT 1 FROM deposit_address WHERE address = $1", [address])).length > 0;
}

function readGroups(
  { database, network, minValueMicroUsd }: QueueSweepsOptions,
  after: Pick<CoinGroup, "address" | "coinType">,
): Promise<CoinGroup[]> {
  return database.query<CoinGroup>(
    `SELECT address, project_id AS "projectId", coin_type AS "coinType" FROM (${UNSWEPT}) unswept
     WHERE (address, coin_type) > ($2, $3)
     GROUP BY address, project_id, coin_type HAVING sum(value) >= $4 AND sum(amount) > 0
     ORDER BY address, coin_type LIMIT $5`,
    [network, after.address, after.coinType, minValueMicroUsd, PAGE_COUNT],
  );
}

/**
 * Queues one sweep of the group. Returns false if the remaining coins are not worth one. `db` must be a transaction.
 */
async function queueSweep(db: Queryable, options: QueueSweepsOptions, group: CoinGroup): Promise<boolean> {
  const { network, destination, log } = options;
  const { projectId, address, coinType } = group;
  const rows = await db.query<SweepableCoin & { readonly amount: string }>(
    `SELECT u.object_id AS "objectId", u.version, u.digest, u.amount::text AS amount, u.value AS "valueMicroUsd"
     FROM (${UNSWEPT} AND d.address = $2 AND c.coin_type = $3
           ORDER BY value DESC, c.object_id LIMIT $4 FOR UPDATE OF c SKIP LOCKED) u`,
    [network, address, coinType, options.maxCoinCount],
  );
  const coins = planSweep(
    rows.map((row) => ({ ...row, amount: BigInt(row.amount) })),
    options,
  );
  if (coins.length === 0) return false;
  const id = newId();
  const amount = String(coins.reduce((sum, coin) => sum + coin.amount, 0n));
  await db.query(
    `INSERT INTO sweep (id, network, address, coin_type, destination, amount, coin_count)
     VALUES ($1, $2, $3, $4, $5, $6::numeric, $7)`,
    [id, network, address, coinType, destination, amount, coins.length],
  );
  await db.query(
    `UPDATE deposit_coin c SET sweep_id = $1 FROM unnest($3::text[], $4::text[]) AS taken (object_id, version)
     WHERE c.network = $2 AND c.object_id = taken.object_id AND c.version = taken.version`,
    [id, network, coins.map(({ objectId }) => objectId), coins.map(({ version }) => version)],
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
