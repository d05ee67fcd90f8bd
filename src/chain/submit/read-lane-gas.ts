import type { Queryable } from "../../store/database.ts";
import type { ChainNetwork } from "../network.ts";
import type { GasCoin, NetworkReader } from "../reader.ts";
import { readGasCoins } from "./lane-table.ts";
import type { LaneGas } from "./plan-gas.ts";

/** Reads the gas owner's coins: those of each lane, and the spare ones. */
export async function readLaneGas({
  database,
  network,
  reader,
  laneIds,
}: LaneGasOptions): Promise<{ readonly lanes: LaneGas[]; readonly spare: GasCoin[] }> {
  const coins = await reader.gasCoins(network.gasOwnerAddress);
  const laneOf = new Map(
    (await readGasCoins(database, network.name)).map(({ objectId, laneId }) => [objectId, laneId]),
  );
  const lanes = laneIds.map((laneId) => ({
    laneId,
    balanceMist: coins.reduce(
      (sum, coin) => (laneOf.get(coin.objectId) === laneId ? sum + coin.balanceMist : sum),
      0n,
    ),
  }));
  return { lanes, spare: coins.filter(({ objectId }) => !laneOf.has(objectId)) };
}

/** Options of {@link readLaneGas}. */
export interface LaneGasOptions {
  readonly database: Queryable;
  readonly network: Pick<ChainNetwork, "name" | "gasOwnerAddress">;
  readonly reader: Pick<NetworkReader, "gasCoins">;
  readonly laneIds: readonly string[];
}
