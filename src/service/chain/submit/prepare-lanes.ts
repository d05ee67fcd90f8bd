import type { Database, Queryable } from "../../platform/store/database.ts";
import type { Log } from "../../platform/telemetry/logger.ts";
import type { ChainNetwork } from "../fullnodes/network.ts";
import type { NetworkReader } from "../reader.ts";
import {
  addLane,
  endLeases,
  forgetForeignUses,
  type LaneObjects,
  markForeignUse,
  readForeignUses,
  readLaneObjects,
  resetLane,
} from "./lane-table.ts";
import { isKnownTransaction } from "./outbox.ts";
import { FOREIGN_USE } from "./settle-transaction.ts";

/**
 * Creates a row for each OperatorCap and compares the rows with the chain. If another sender has used a lane, the
 * service submits nothing until an operator acts. Throws if a cap does not exist.
 */
export async function prepareLanes(options: PrepareLanesOptions): Promise<void> {
  const { database, network, reader, afterRestore, log } = options;
  const { operatorCapIds } = network.treasury;
  const caps = await reader.ownedObjects(operatorCapIds);
  // No other process can have this database open, so the holders of its leases are gone.
  if (database.kind === "pglite") await endLeases(database, network.name);
  for (const id of operatorCapIds) {
    const cap = caps.get(id);
    if (cap === undefined) throw new Error(`there is no OperatorCap ${id} on ${network.name}`);
    await addLane(database, network.name, cap);
    if (afterRestore) continue;
    const { foreignDigest } = await compareObjects(database, reader, await readLaneObjects(database, id));
    if (foreignDigest !== undefined) await markForeignUse(database, { laneId: id, digest: foreignDigest });
  }
  if (afterRestore) return;
  for (const { laneId, digest } of await readForeignUses(database, network.name))
    log.error({ sender: network.senderAddress, lane: laneId, digest }, FOREIGN_USE);
}

interface PrepareLanesOptions {
  readonly database: Database;
  readonly network: Pick<ChainNetwork, "name" | "senderAddress" | "treasury">;
  readonly reader: Pick<NetworkReader, "ownedObjects">;
  /** The operator confirms that nothing else uses the lanes, so they are not compared. See {@link resetLanes}. */
  readonly afterRestore: boolean;
  readonly log: Log;
}

/** Sets the lanes to their state on the chain, even if other senders have used them, and restarts them. */
export async function resetLanes({
  database,
  network,
  reader,
}: Pick<PrepareLanesOptions, "database" | "network" | "reader">): Promise<void> {
  const caps = await reader.ownedObjects(network.treasury.operatorCapIds);
  await database.transaction(async (db) => {
    // This includes lanes that are no longer configured, for example after a change of the hot wallet.
    await forgetForeignUses(db, network.name);
    for (const cap of caps.values()) await resetLane(db, cap);
  });
}

/** Compares a lane's objects with the chain. */
export async function compareObjects(
  db: Queryable,
  reader: Pick<NetworkReader, "ownedObjects">,
  { operatorCap, gasCoins }: LaneObjects,
): Promise<LaneDifference> {
  const expected = [operatorCap, ...gasCoins];
  const found = await reader.ownedObjects(expected.map(({ objectId }) => objectId));
  const unknownCoinIds = gasCoins.flatMap(({ objectId }) => (found.has(objectId) ? [] : [objectId]));
  let ownDigest: string | undefined;
  for (const { objectId, version } of expected) {
    const current = found.get(objectId);
    if (current?.lastChange === undefined || BigInt(current.version) <= BigInt(version)) continue;
    if (!(await isKnownTransaction(db, current.lastChange)))
      return { foreignDigest: current.lastChange, ownDigest: undefined, unknownCoinIds };
    ownDigest = current.lastChange;
  }
  return { foreignDigest: undefined, ownDigest, unknownCoinIds };
}

/** A difference between the chain and a lane. */
interface LaneDifference {
  /**
   * A transaction outside this database that has used one of the objects: the chain has a newer version from an unknown
   * transaction. An older version proves nothing, because fullnodes may lag behind.
   */
  readonly foreignDigest: string | undefined;
  /** A transaction of this database that wrote a newer version of an object than the one in the lane's row. */
  readonly ownDigest: string | undefined;
  /** Coins that this fullnode does not know; it may lag behind. */
  readonly unknownCoinIds: readonly string[];
}
