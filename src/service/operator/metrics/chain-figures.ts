import type { ChainNetwork } from "../../chain/fullnodes/network.ts";
import type { NetworkReader } from "../../chain/reader.ts";
import { type LaneGasOptions, readLaneGas, totalGas } from "../../chain/submit/lane-gas.ts";
import type { SignPrice, TreasuryReader } from "../../chain/treasury/treasury-reader.ts";
import {
  operatorUse,
  type TreasuryBalances,
  type TreasuryState,
} from "../../chain/treasury/treasury-state.ts";
import type { MetricsMaker } from "../../platform/telemetry/network-metrics.ts";

/** Reads the figures, one call after another. Throws if the fullnode or the database does not answer. */
export async function readChainFigures(options: ChainFiguresOptions): Promise<ChainFigures> {
  const { network, reader, treasury } = options;
  const checkpointMs = await readCheckpointMs(network);
  const state = await treasury.state();
  const affordableSignCount = affordableSigns(state, await treasury.signPrices());
  const gas = await readLaneGas(options);
  return {
    treasury: state,
    epoch: (await reader.epoch()).epoch,
    affordableSignCount,
    gasMist: totalGas(gas),
    laneGasMist: new Map(gas.lanes.map(({ laneId, balanceMist }) => [laneId, balanceMist])),
    newestNetworkEncryptionKeyId: (await reader.networkKey()).id,
    checkpointMs,
  };
}

/** The service's funds on the chain. Amounts are in the smallest units. */
export interface ChainFigures {
  readonly treasury: TreasuryState;
  /** The current Sui epoch. */
  readonly epoch: bigint;
  /** For the most expensive algorithm; infinite if nothing has a price. */
  readonly affordableSignCount: number;
  /** All SUI of the gas owner. */
  readonly gasMist: bigint;
  readonly laneGasMist: ReadonlyMap<string, bigint>;
  readonly newestNetworkEncryptionKeyId: string;
  /** The time of the fullnode's newest checkpoint, in milliseconds since the epoch. */
  readonly checkpointMs: number;
}

interface ChainFiguresOptions extends LaneGasOptions {
  readonly network: ChainNetwork;
  readonly reader: Pick<NetworkReader, "gasCoins" | "addressBalance" | "networkKey" | "epoch">;
  readonly treasury: Pick<TreasuryReader, "state" | "signPrices">;
}

const MS_PER_SECOND = 1_000;
const NANOS_PER_MS = 1e6;

/** Returns the time of the fullnode's newest checkpoint, in milliseconds since the epoch. */
export async function readCheckpointMs({
  client,
  times,
}: Pick<ChainNetwork, "client" | "times">): Promise<number> {
  const { response } = await client.ledgerService.getServiceInfo({}, { timeout: times.readMs });
  const { seconds = 0n, nanos = 0 } = response.timestamp ?? {};
  return Number(seconds) * MS_PER_SECOND + nanos / NANOS_PER_MS;
}

/** Registers the gauges. `laneIds` are the configured lanes. A lane's label is its index among them. */
export function createChainGauges(metrics: MetricsMaker, laneIds: readonly string[]): ChainGauges {
  const ika = metrics.gauge("treasury_balance_ika", "Balance of the Treasury in IKA.");
  const sui = metrics.gauge("treasury_balance_sui", "Balance of the Treasury in SUI.");
  const paused = metrics.gauge("treasury_paused", "1 while the Treasury is paused.");
  const affordable = metrics.gauge(
    "treasury_affordable_signs",
    "Signatures with their presigns that the Treasury can pay for, at the price of the most expensive algorithm.",
  );
  const releases = metrics.gauge(
    "treasury_releases_announced",
    "dWallets whose release by the administrator is announced.",
  );
  const successor = metrics.gauge("treasury_successor_announced", "1 while a successor is announced.");
  const offered = metrics.gauge(
    "treasury_admin_offered",
    "1 while the administration is offered to an address.",
  );
  const epochsLeft = metrics.gauge(
    "operator_epochs_left",
    "Sui epochs after this one in which the lane's OperatorCap may be used.",
    ["lane"],
  );
  const used = metrics.gauge(
    "operator_budget_used_ratio",
    "Share of the most used limit that the lane's OperatorCap has spent in this Sui epoch.",
    ["lane"],
  );
  const gas = metrics.gauge("gas_balance_sui", "All SUI of the address that pays for gas.");
  const laneGas = metrics.gauge("lane_gas_balance_sui", "SUI of the lane for gas.", ["lane"]);
  let checkpointMs: number | undefined;
  metrics.gauge(
    "fullnode_checkpoint_age_seconds",
    "Age of the fullnode's newest known checkpoint.",
    [],
    (gauge) => {
      if (checkpointMs !== undefined) gauge.set(Math.max(0, Date.now() - checkpointMs) / 1000);
    },
  );
  return (figures) => {
    ika.set(Number(figures.treasury.ika) / UNITS_PER_COIN);
    sui.set(Number(figures.treasury.sui) / UNITS_PER_COIN);
    paused.set(Number(figures.treasury.isPaused));
    releases.set(figures.treasury.announcedDWalletIds.length);
    successor.set(Number(figures.treasury.successor !== undefined));
    offered.set(Number(figures.treasury.adminOffer !== undefined));
    for (const operator of figures.treasury.operators) {
      const index = laneIds.indexOf(operator.capId);
      if (index < 0) continue;
      const use = operatorUse(operator, figures.epoch);
      epochsLeft.set({ lane: String(index) }, Number(use.epochsLeft));
      used.set({ lane: String(index) }, use.usedShare);
    }
    affordable.set(figures.affordableSignCount);
    gas.set(Number(figures.gasMist) / UNITS_PER_COIN);
    for (const [laneId, balanceMist] of figures.laneGasMist)
      laneGas.set({ lane: String(laneIds.indexOf(laneId)) }, Number(balanceMist) / UNITS_PER_COIN);
    checkpointMs = figures.checkpointMs;
  };
}

/** IKA and SUI both have nine decimals. */
const UNITS_PER_COIN = 1e9;

/** Sets the gauges to the figures, and removes stale labels. */
type ChainGauges = (figures: ChainFigures) => void;

/**
 * Returns the number of signatures with presigns that the Treasury can pay for, for the most expensive algorithm.
 * Infinite if nothing has a price.
 */
export function affordableSigns(balances: TreasuryBalances, prices: readonly SignPrice[]): number {
  const counts = prices.flatMap(({ ika, sui }) => [times(balances.ika, ika), times(balances.sui, sui)]);
  return Math.min(...counts);
}

function times(balance: bigint, price: bigint): number {
  return price === 0n ? Number.POSITIVE_INFINITY : Number(balance / price);
}
