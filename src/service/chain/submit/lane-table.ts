import sql from "sql-template-tag";
import { bigint, boolean, text } from "../../platform/store/columns.ts";
import { type Database, execute, type Queryable, readRows } from "../../platform/store/database.ts";
import type { ObjectChanges } from "../outcome.ts";
import type { OwnedRef } from "../treasury/treasury-calls.ts";

/** The right to drive a lane. Its writes count only until a newer lease exists. */
export interface LaneLease {
  readonly laneId: string;
  readonly fence: bigint;
}

/** The owned objects of a lane after its last transaction. */
export interface LaneObjects {
  readonly operatorCap: OwnedRef;
  readonly gasCoins: readonly OwnedRef[];
}

/** The maximum number of gas coins in one transaction. The chain allows 256. */
const GAS_COINS_AT_MOST = 16;

const OWNED_REF = { objectId: text, version: text, digest: text };

/** Creates the lane of an OperatorCap if it does not exist. */
export async function addLane(db: Queryable, network: string, operatorCap: OwnedRef): Promise<void> {
  const { objectId, version, digest } = operatorCap;
  await execute(
    db,
    sql`INSERT INTO lane (id, network, version, digest) VALUES (${objectId}, ${network}, ${version}, ${digest})
        ON CONFLICT (id) DO NOTHING`,
  );
}

/** Assigns a coin to a lane. Returns false if the coin already has a lane of the network. */
export async function addGasCoin(db: Queryable, laneId: string, coin: OwnedRef): Promise<boolean> {
  const addedCount = await execute(
    db,
    sql`INSERT INTO gas_coin (network, object_id, lane_id, version, digest)
        SELECT network, ${coin.objectId}, id, ${coin.version}, ${coin.digest} FROM lane WHERE id = ${laneId}
        ON CONFLICT (network, object_id) DO NOTHING RETURNING object_id`,
  );
  return addedCount === 1;
}

/**
 * Leases the lane. Returns undefined while another process holds it or reconciles its network, or if another sender has
 * used a lane of this network. Every lease has a fence that is higher than all earlier ones.
 */
export async function leaseLane(
  db: Queryable,
  laneId: string,
  leaseMs: number,
): Promise<LaneLease | undefined> {
  const [row] = await readRows(
    db,
    sql`UPDATE lane SET fence = nextval('lane_fence'), leased_until = now() + ${leaseMs} * interval '1 millisecond'
        WHERE id = ${laneId} AND leased_until <= now() AND NOT EXISTS (
          SELECT 1 FROM lane other WHERE other.network = lane.network AND other.foreign_digest IS NOT NULL
        ) AND NOT EXISTS (
          SELECT 1 FROM process_mark WHERE lane.network = ANY(reconciles) AND expires_at > now()
        ) RETURNING fence`,
    { fence: bigint },
  );
  return row && { laneId, fence: row.fence };
}

/** Extends the lease. Returns false if another process holds the lane. */
export async function renewLease(
  db: Queryable,
  { laneId, fence }: LaneLease,
  leaseMs: number,
): Promise<boolean> {
  const renewedCount = await execute(
    db,
    sql`UPDATE lane SET leased_until = now() + ${leaseMs} * interval '1 millisecond'
        WHERE id = ${laneId} AND fence = ${fence} RETURNING id`,
  );
  return renewedCount === 1;
}

/** Releases the lane. Its claims on operations end with the lease. */
export async function releaseLease(db: Queryable, { laneId, fence }: LaneLease): Promise<void> {
  await execute(
    db,
    sql`UPDATE lane SET leased_until = '-infinity' WHERE id = ${laneId} AND fence = ${fence}`,
  );
}

/** Returns a lane of any network that a process holds; undefined if none is held. */
export async function findLeasedLane(db: Queryable): Promise<string | undefined> {
  const query = sql`SELECT id FROM lane WHERE leased_until > now() ORDER BY id LIMIT 1`;
  const [leased] = await readRows(db, query, { id: text });
  return leased?.id;
}

/** Ends every lease of a network. Use it only on a database that one process alone can open. */
export async function endLeases(db: Queryable, network: string): Promise<void> {
  await execute(db, sql`UPDATE lane SET leased_until = '-infinity' WHERE network = ${network}`);
}

/** Reads the object references for the lane's next transaction. */
export async function readLaneObjects(db: Queryable, laneId: string): Promise<LaneObjects> {
  const found = await readRows<OwnedRef & { isCoin: boolean }>(
    db,
    sql`(SELECT false AS "isCoin", id AS "objectId", version, digest FROM lane WHERE id = ${laneId})
        UNION ALL
        (SELECT true, object_id, version, digest FROM gas_coin
         WHERE lane_id = ${laneId} AND NOT merged ORDER BY object_id LIMIT ${GAS_COINS_AT_MOST})
        ORDER BY 1, 2`,
    { isCoin: boolean, ...OWNED_REF },
  );
  const [operatorCap, ...gasCoins] = found.map(({ objectId, version, digest }) => ({
    objectId,
    version,
    digest,
  }));
  if (operatorCap === undefined || found[0]?.isCoin) throw new Error(`no lane ${laneId}`);
  return { operatorCap, gasCoins };
}

/** Returns true if the object is the lane's OperatorCap or one of its coins. */
export async function isLaneObject({ prisma }: Database, laneId: string, objectId: string): Promise<boolean> {
  return objectId === laneId || (await prisma.gasCoin.count({ where: { laneId, objectId } })) > 0;
}

/** Stores the new versions of the lane's objects after a transaction. */
export async function moveLane(db: Queryable, laneId: string, changes: ObjectChanges): Promise<void> {
  const written = [...changes.written.values()];
  const ids = written.map(({ objectId }) => objectId);
  const versions = written.map(({ version }) => version);
  const digests = written.map(({ digest }) => digest);
  await execute(
    db,
    sql`WITH news AS (
          SELECT * FROM unnest(${ids}::text[], ${versions}::text[], ${digests}::text[]) AS n (id, version, digest)
        ), moved_lane AS (
          UPDATE lane SET version = news.version, digest = news.digest FROM news
          WHERE lane.id = ${laneId} AND lane.id = news.id
        ), moved_coins AS (
          UPDATE gas_coin SET version = news.version, digest = news.digest FROM news
          WHERE lane_id = ${laneId} AND object_id = news.id
        )
        UPDATE gas_coin SET merged = true WHERE lane_id = ${laneId} AND object_id = ANY(${changes.deleted}::text[])`,
  );
}

/** A lane that another sender has used. */
export interface ForeignUse {
  readonly laneId: string;
  readonly digest: string;
}

/** Stops all lanes of the network, because a transaction outside this database has used one of them. */
export async function markForeignUse(db: Queryable, { laneId, digest }: ForeignUse): Promise<void> {
  await execute(db, sql`UPDATE lane SET foreign_digest = ${digest} WHERE id = ${laneId} RETURNING id`);
}

/** Returns the lanes of the network that another sender has used. */
export function readForeignUses(db: Queryable, network: string): Promise<ForeignUse[]> {
  return readRows<ForeignUse>(
    db,
    sql`SELECT id AS "laneId", foreign_digest AS digest FROM lane
        WHERE network = ${network} AND foreign_digest IS NOT NULL ORDER BY id`,
    { laneId: text, digest: text },
  );
}

/** Returns those of these lanes that have a row. */
export async function knownLanes(db: Queryable, laneIds: readonly string[]): Promise<string[]> {
  const query = sql`SELECT id FROM lane WHERE id = ANY(${[...laneIds]}::text[]) ORDER BY id`;
  return (await readRows(db, query, { id: text })).map(({ id }) => id);
}

/** Restarts the lanes of the network that foreign transactions have stopped. */
export async function forgetForeignUses(db: Queryable, network: string): Promise<void> {
  await execute(db, sql`UPDATE lane SET foreign_digest = NULL WHERE network = ${network}`);
}

/** Sets a lane to its state on the chain, whatever transaction led to that state. */
export async function resetLane(db: Queryable, operatorCap: OwnedRef): Promise<void> {
  const { objectId, version, digest } = operatorCap;
  await execute(db, sql`UPDATE lane SET version = ${version}, digest = ${digest} WHERE id = ${objectId}`);
  await execute(db, sql`DELETE FROM gas_coin WHERE lane_id = ${objectId}`);
}

/** Removes coins that the fullnode does not know from a lane. Coins that do exist return later as spare coins. */
export async function dropGasCoins(
  { prisma }: Database,
  laneId: string,
  objectIds: readonly string[],
): Promise<void> {
  await prisma.gasCoin.deleteMany({ where: { laneId, objectId: { in: [...objectIds] }, merged: false } });
}

/** Returns the coins of each lane of a network, including merged ones. */
export function readGasCoins(
  db: Queryable,
  network: string,
): Promise<{ readonly laneId: string; readonly objectId: string }[]> {
  return readRows(
    db,
    sql`SELECT lane_id AS "laneId", object_id AS "objectId" FROM gas_coin
        WHERE network = ${network}`,
    { laneId: text, objectId: text },
  );
}
