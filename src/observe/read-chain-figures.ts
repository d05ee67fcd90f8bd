import type { ChainNetwork } from "../chain/network.ts";
import type { NetworkReader } from "../chain/reader.ts";
import { type LaneGasOptions, readLaneGas, totalGas } from "../chain/submit/read-lane-gas.ts";
import type { TreasuryReader } from "../chain/treasury/treasury-reader.ts";
import type { TreasuryState } from "../chain/treasury/treasury-state.ts";
import { affordableSigns } from "./affordable-signs.ts";

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

export interface ChainFiguresOptions extends LaneGasOptions {
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
