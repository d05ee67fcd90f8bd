import sql from "sql-template-tag";
import { writeAuditEvent } from "../../audit/audit-event.ts";
import { enqueueOperation } from "../../chain/operation.ts";
import { bigint, text } from "../../store/columns.ts";
import type { Database, Queryable } from "../../store/database.ts";
import { newId } from "../../store/ids.ts";
import { execute, readRows } from "../../store/statements.ts";
import type { Log } from "../../telemetry/log.ts";
import { planSweep, type SweepBounds } from "./plan-sweep.ts";
import { SWEEP_PRIORITY, SWEEPER } from "./sweep-operation.ts";
import { type DepositSigner, type SweptAddress, signerObstacle } from "./sweep-signer.ts";
import { unswept } from "./unswept-coins.ts";

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
  readonly log: Pick<Log, "info" | "error">;
}

/** Coins of one address and type that together are worth a sweep. */
interface CoinGroup extends SweptAddress {
  readonly coinType: string;
}

/** Sorts before every address. */
const FIRST = "";
const PAGE_COUNT = 100;

async function isDepositAddress({ prisma }: Pick<Database, "prisma">, address: string): Promise<boolean> {
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
