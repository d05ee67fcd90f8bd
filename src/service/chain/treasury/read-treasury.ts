import { SUI_TYPE_ARG } from "@mysten/sui/utils";
import sql from "sql-template-tag";
import { bigint, boolean, type Columns, listOf, nullable, text } from "../../platform/store/columns.ts";
import { type Queryable, readRows } from "../../platform/store/database.ts";
import type { ChainNetwork } from "../fullnodes/network.ts";
import type { GasCoin, NetworkReader } from "../reader.ts";
import type { OperationPrice } from "./read-prices.ts";
import type { TreasuryReader } from "./treasury-reader.ts";
import type { TreasuryState } from "./treasury-state.ts";

/** Reads the funds of a network from the chain and the database. Throws CHAIN_UNAVAILABLE. */
export async function readTreasury(
  db: Queryable,
  { network, reader, treasury }: FundsSource,
): Promise<TreasuryOverview> {
  const { senderAddress, gasOwnerAddress } = network;
  const { packageId, treasuryId } = network.treasury;
  const hasGasStation = gasOwnerAddress !== senderAddress;
  const [state, ceilings, gas, own, outsideGas, outsideOwn, lanes] = await Promise.all([
    treasury.state(),
    treasury.ceilings(),
    reader.gasCoins(gasOwnerAddress),
    hasGasStation ? reader.gasCoins(senderAddress) : undefined,
    reader.addressBalance(gasOwnerAddress, SUI_TYPE_ARG),
    hasGasStation ? reader.addressBalance(senderAddress, SUI_TYPE_ARG) : undefined,
    readRows<LaneRow>(db, lanesOf(network.name), LANE_ROW),
  ]);
  const balanceOf = new Map(gas.map(({ objectId, balanceMist }) => [objectId, balanceMist]));
  const wallet = (address: string, coins: readonly GasCoin[], addressBalanceMist: bigint): WalletBalance => ({
    address,
    addressBalanceMist,
    balanceMist: sum(coins) + addressBalanceMist,
  });
  return {
    packageId,
    treasuryId,
    state,
    ceilings,
    hotWallet: wallet(senderAddress, own ?? gas, outsideOwn ?? outsideGas),
    gasStation: hasGasStation ? wallet(gasOwnerAddress, gas, outsideGas) : undefined,
    lanes: lanes.map(({ coinIds, ...lane }) => ({
      ...lane,
      gasCoins: coinIds.map((objectId) => ({ objectId, balanceMist: balanceOf.get(objectId) })),
    })),
  };
}

/** A network whose funds are read. */
export interface FundsSource {
  readonly network: Pick<ChainNetwork, "name" | "treasury" | "senderAddress" | "gasOwnerAddress">;
  readonly reader: Pick<NetworkReader, "gasCoins" | "addressBalance">;
  readonly treasury: Pick<TreasuryReader, "state" | "ceilings">;
}

/** The funds of the service on a network. */
export interface TreasuryOverview {
  readonly packageId: string;
  readonly treasuryId: string;
  readonly state: TreasuryState;
  readonly ceilings: readonly OperationPrice[];
  readonly hotWallet: WalletBalance;
  /** Undefined if the hot wallet pays for itself. */
  readonly gasStation: WalletBalance | undefined;
  /** All known lanes, the oldest first. */
  readonly lanes: readonly LaneOverview[];
}

/** The SUI of an address. */
export interface WalletBalance {
  readonly address: string;
  /** All of it. */
  readonly balanceMist: bigint;
  /** The part outside of coins (SIP-58). */
  readonly addressBalanceMist: bigint;
}

/** A lane, its lease and its gas. */
export interface LaneOverview {
  /** Object id of the OperatorCap. */
  readonly id: string;
  readonly leased: boolean;
  readonly fence: bigint;
  /** A transaction with an unknown outcome. */
  readonly unresolvedDigest: string | null;
  /** A transaction outside this database that used the lane. */
  readonly foreignDigest: string | null;
  readonly gasCoins: readonly LaneCoin[];
}

/** A coin of a lane. */
export interface LaneCoin {
  readonly objectId: string;
  /** Undefined if the fullnode lacks it. */
  readonly balanceMist: bigint | undefined;
}

interface LaneRow extends Omit<LaneOverview, "gasCoins"> {
  readonly coinIds: readonly string[];
}

const LANE_ROW: Columns<LaneRow> = {
  id: text,
  leased: boolean,
  fence: bigint,
  unresolvedDigest: nullable(text),
  foreignDigest: nullable(text),
  coinIds: listOf(text),
};

const lanesOf = (network: string) => sql`
SELECT l.id, l.leased_until > now() AS leased, l.fence, l.foreign_digest AS "foreignDigest",
  (SELECT t.digest FROM chain_transaction t WHERE t.network = l.network AND t.lane = l.id AND t.state = 'stored')
    AS "unresolvedDigest",
  ARRAY(SELECT c.object_id FROM gas_coin c WHERE c.lane_id = l.id AND NOT c.merged ORDER BY c.object_id) AS "coinIds"
FROM lane l WHERE l.network = ${network} ORDER BY l.created_at, l.id`;

function sum(coins: readonly GasCoin[]): bigint {
  return coins.reduce((total, { balanceMist }) => total + balanceMist, 0n);
}
