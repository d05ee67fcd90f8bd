import sql from "sql-template-tag";
import type { Database } from "../../store/database.ts";
import { execute } from "../../store/statements.ts";
import type { NetworkReader } from "../reader.ts";
import { type LaneObjects, moveLane, readLaneObjects } from "./lane-table.ts";
import { correctDropped } from "./transaction-outcome.ts";

/**
 * Takes the lane to what one of its own transactions left, when that one was wrongly taken for dead: a fullnode that
 * lagged behind did not know it. Its operations were given back then; each finds its own mark on the chain. False when
 * there is nothing to catch up with, because another process has moved the lane meanwhile or the fullnode lags again.
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
