import type { Queryable } from "../store/database.ts";
import type { NetworkReader } from "./reader.ts";
import type { LaneObjects } from "./submit/lane-table.ts";
import { isKnownTransaction } from "./submit/transaction-outcome.ts";

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
export interface LaneDifference {
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
