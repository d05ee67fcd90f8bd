import type { Sql } from "../store/database.ts";
import type { ForeignUse, LaneObjects } from "./lane-table.ts";
import { isKnownTransaction } from "./outbox.ts";
import type { NetworkReader } from "./reader.ts";

/**
 * A transaction of none of this database that has used one of the lane's objects: the chain has a newer version of it,
 * and nothing here made that. An older version than expected proves nothing, while fullnodes may lag behind.
 */
export async function findForeignUse(
  sql: Sql,
  reader: Pick<NetworkReader, "ownedObjects">,
  laneId: string,
  { operatorCap, gasCoins }: LaneObjects,
): Promise<ForeignUse | undefined> {
  const expected = [operatorCap, ...gasCoins];
  const found = await reader.ownedObjects(expected.map(({ objectId }) => objectId));
  for (const { objectId, version } of expected) {
    const current = found.get(objectId);
    if (current?.lastChange === undefined || BigInt(current.version) <= BigInt(version)) continue;
    if (!(await isKnownTransaction(sql, current.lastChange))) return { laneId, digest: current.lastChange };
  }
  return undefined;
}
