import sql from "sql-template-tag";
import { bigint, boolean, type Columns, listOf, nullable, text } from "../../store/columns.ts";
import type { Queryable } from "../../store/database.ts";
import { readRows } from "../../store/statements.ts";
import type { ChainNetwork } from "../network.ts";
import type { GasCoin, NetworkReader } from "../reader.ts";
import type { OperationPrice } from "./read-prices.ts";
import type { TreasuryReader } from "./treasury-reader.ts";
import type { TreasuryState } from "./treasury-state.ts";

/** Reads the funds of a network from the chain and the database. Throws CHAIN_UNAVAILABLE. */
export async function readTreasury({
  db,
  network,
  reader,
  treasury,
}: ReadTreasuryDeps): Promise<TreasuryOverview> {
  const { senderAddress, gasOwnerAddress } = network;
  const { packageId, treasuryId } = network.treasury;
  const hasGasStation = gasOwnerAddress !== senderAddress;
  const [state, ceilings, gas, own, lanes] = await Promise.all([
    treasury.state(),
    treasury.ceilings(),
    reader.gasCoins(gasOwnerAddress),
    hasGasStation ? reader.gasCoins(senderAddress) : undefined,
    readRows<LaneRow>(db, lanesOf(network.name), LANE_ROW),
  ]);
  const balanceOf = new Map(gas.map(({ objectId, balanceMist }) => [objectId, balanceMist]));
  return {
    ...{ packageId, treasuryId, state, ceilings },
    hotWallet: { address: senderAddress, balanceMist: sum(own ?? gas) },
    gasStation: hasGasStation ? { address: gasOwnerAddress, balanceMist: sum(gas) } : undefined,
    lanes: lanes.map(({ coinIds, ...lane }) => ({
      ...lane,
      gasCoins: coinIds.map((objectId) => ({ objectId, balanceMist: balanceOf.get(objectId) })),
    })),
  };
}

/** Dependencies of {@link readTreasury}. */
export interface ReadTreasuryDeps {
  readonly db: Queryable;
  readonly network: Pick<ChainNetwork, "name" | "treasury" | "senderAddress" | "gasOwnerAddress">;
  readonly reader: Pick<NetworkReader, "gasCoins">;
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
  readonly balanceMist: bigint;
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
