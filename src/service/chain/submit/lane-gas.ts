import { SUI_TYPE_ARG } from "@mysten/sui/utils";
import { compareIntegers } from "../../../protocol/class-groups/integers.ts";
import type { Queryable } from "../../platform/store/database.ts";
import type { ChainNetwork } from "../fullnodes/network.ts";
import type { GasCoin, NetworkReader } from "../reader.ts";
import { readGasCoins } from "./lane-table.ts";

/**
 * Assigns each spare coin, the largest first, to the lane with the least gas. If lanes are still low, the richest lane
 * splits its coins evenly with them, if that gives every lane enough. Lanes pay with coins only, so the richest lane
 * first makes a coin of an address balance.
 */
export function planGas({ lanes, spare, addressBalanceMist }: GasFunds): GasPlan {
  const balances = new Map(lanes.map(({ laneId, balanceMist }) => [laneId, balanceMist]));
  const byBalance = () => [...balances].sort(([, a], [, b]) => compareIntegers(a, b));
  const assign = [...spare]
    .sort((a, b) => (a.balanceMist > b.balanceMist ? -1 : 1))
    .flatMap((coin) => {
      const [poorest] = byBalance();
      if (poorest === undefined) return [];
      balances.set(poorest[0], poorest[1] + coin.balanceMist);
      return [{ laneId: poorest[0], coin }];
    });
  const low = byBalance().filter(([, balance]) => balance < LOW_GAS_MIST);
  const richest = byBalance().at(-1);
  if (richest === undefined) return { assign, redeem: undefined, split: undefined, short: [] };
  const redeem = planRedemption(richest, addressBalanceMist);
  if (low.length === 0 || redeem !== undefined) return { assign, redeem, split: undefined, short: [] };
  const share = richest[1] / BigInt(low.length + 1);
  if (share < 2n * LOW_GAS_MIST)
    return { assign, redeem, split: undefined, short: low.map(([laneId]) => laneId) };
  return { assign, redeem, split: { laneId: richest[0], amountsMist: low.map(() => share) }, short: [] };
}

function planRedemption(
  [laneId, coinsMist]: readonly [string, bigint],
  balanceMist: bigint,
): GasPlan["redeem"] {
  const paysItself = coinsMist < REDEMPTION_GAS_MIST;
  const amountMist = paysItself ? balanceMist - REDEMPTION_GAS_MIST : balanceMist;
  return amountMist < REDEEMED_MIN_MIST ? undefined : { laneId, amountMist, paysItself };
}

/** The gas owner's SUI. */
interface GasFunds {
  readonly lanes: readonly LaneGas[];
  /** Coins that no lane has. */
  readonly spare: readonly GasCoin[];
  /** The SUI outside of coins (SIP-58). */
  readonly addressBalanceMist: bigint;
}

/** The gas of a lane. */
export interface LaneGas {
  readonly laneId: string;
  readonly balanceMist: bigint;
}

/** The plan that keeps gas in every lane. */
export interface GasPlan {
  /** The spare coins and the lanes that get them. */
  readonly assign: readonly { readonly laneId: string; readonly coin: GasCoin }[];
  /** The part of the address balance to make a coin of, and the lane that sends the transaction. */
  readonly redeem:
    | {
        readonly laneId: string;
        readonly amountMist: bigint;
        /** True if the lane has no coins to pay with, so that the address balance pays for the gas. */
        readonly paysItself: boolean;
      }
    | undefined;
  /** The lane whose coins are split, and the amounts. The next plan assigns the new coins. */
  readonly split: { readonly laneId: string; readonly amountsMist: readonly bigint[] } | undefined;
  /** Lanes that stay low because the wallet is short of SUI. */
  readonly short: readonly string[];
}

/** Half a SUI, enough for about ten blocks. A lane with less gets more. */
export const LOW_GAS_MIST = 500_000_000n;
/** More than the gas of a redemption. */
const REDEMPTION_GAS_MIST = 20_000_000n;
/** A smaller balance stays until there is more, so that its redemption costs little of it. */
const REDEEMED_MIN_MIST = 50_000_000n;

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
