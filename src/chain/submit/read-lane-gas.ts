import { SUI_TYPE_ARG } from "@mysten/sui/utils";
import type { Queryable } from "../../store/database.ts";
import type { ChainNetwork } from "../network.ts";
import type { NetworkReader } from "../reader.ts";
import { readGasCoins } from "./lane-table.ts";
import type { GasFunds } from "./plan-gas.ts";

/** Reads the gas owner's coins, those of each lane and the spare ones, and its address balance. */
export async function readLaneGas({ database, network, reader, laneIds }: LaneGasOptions): Promise<GasFunds> {
  const coins = await reader.gasCoins(network.gasOwnerAddress);
  const addressBalanceMist = await reader.addressBalance(network.gasOwnerAddress, SUI_TYPE_ARG);
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
  return { lanes, spare: coins.filter(({ objectId }) => !laneOf.has(objectId)), addressBalanceMist };
}

/** Returns the sum of all of these funds. */
export function totalGas({ lanes, spare, addressBalanceMist }: GasFunds): bigint {
  return [...lanes, ...spare].reduce((sum, { balanceMist }) => sum + balanceMist, addressBalanceMist);
}

/** Options of {@link readLaneGas}. */
export interface LaneGasOptions {
  readonly database: Queryable;
  readonly network: Pick<ChainNetwork, "name" | "gasOwnerAddress">;
  readonly reader: Pick<NetworkReader, "gasCoins" | "addressBalance">;
  readonly laneIds: readonly string[];
}
