import type { Database } from "../../store/database.ts";
import type { Log } from "../../telemetry/log.ts";
import { compareObjects } from "../compare-objects.ts";
import type { ChainNetwork } from "../network.ts";
import type { NetworkReader } from "../reader.ts";
import {
  addLane,
  endLeases,
  forgetForeignUses,
  markForeignUse,
  readForeignUses,
  readLaneObjects,
  resetLane,
} from "./lane-table.ts";
import { FOREIGN_USE } from "./settle-transaction.ts";

/**
 * Makes a row for each OperatorCap and compares what the rows know with the chain: where something else has used a
 * lane, nothing is submitted until the operator has looked into it. Throws when a cap does not exist.
 */
export async function prepareLanes(options: PrepareLanesOptions): Promise<void> {
  const { database, network, reader, afterRestore, log } = options;
  const { operatorCapIds } = network.treasury;
  const caps = await reader.ownedObjects(operatorCapIds);
  // Nobody else can have it open: who held a lane is gone.
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

export interface PrepareLanesOptions {
  readonly database: Database;
  readonly network: Pick<ChainNetwork, "name" | "senderAddress" | "treasury">;
  readonly reader: Pick<NetworkReader, "ownedObjects">;
  /** The operator says that nobody else uses the lanes: they are not compared. See {@link resetLanes}. */
  readonly afterRestore: boolean;
  readonly log: Pick<Log, "error">;
}

/** Sets the lanes to their state on the chain, even if other processes have used them, and lets them work again. */
export async function resetLanes({
  database,
  network,
  reader,
}: Pick<PrepareLanesOptions, "database" | "network" | "reader">): Promise<void> {
  const caps = await reader.ownedObjects(network.treasury.operatorCapIds);
  await database.transaction(async (db) => {
    // Also those of lanes that are not configured any more, as when another hot wallet took over.
    await forgetForeignUses(db, network.name);
    for (const cap of caps.values()) await resetLane(db, cap);
  });
}
