import sql from "sql-template-tag";
import type { Database } from "../../store/database.ts";
import { execute } from "../../store/statements.ts";
import type { NetworkReader } from "../reader.ts";
import { type LaneObjects, moveLane, readLaneObjects } from "./lane-table.ts";
import { correctDropped } from "./transaction-outcome.ts";

/**
 * Sets the lane to the result of a transaction of its own that was marked as dropped because a lagging fullnode did not
 * know it. Its operations are back in the queue, and each finds its mark on the chain. Returns false if another process
 * has moved the lane or the fullnode lags again.
 */
export async function catchUp(
  database: Pick<Database, "transaction">,
  reader: Pick<NetworkReader, "transaction">,
  laneId: string,
  expected: LaneObjects,
  digest: string,
): Promise<boolean> {
  const outcome = await reader.transaction(digest);
  if (outcome === undefined) return false;
  return database.transaction(async (db) => {
    await execute(db, sql`SELECT 1 FROM lane WHERE id = ${laneId} FOR UPDATE`);
    if (JSON.stringify(await readLaneObjects(db, laneId)) !== JSON.stringify(expected)) return false;
    if (!(await correctDropped(db, digest, outcome))) return false;
    await moveLane(db, laneId, outcome.changes);
    return true;
  });
}
