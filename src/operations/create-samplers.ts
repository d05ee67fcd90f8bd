import { SUI_TYPE_ARG } from "@mysten/sui/utils";
import type { ChainNetwork } from "../chain/network.ts";
import type { NetworkReader } from "../chain/reader.ts";
import { createTreasuryReader } from "../chain/treasury/treasury-reader.ts";
import type { NetworkConfig } from "../config/networks.ts";
import { createBackgroundLoop } from "../lifecycle/background-loop.ts";
import type { NamedLoop } from "../lifecycle/start-loops.ts";
import { readWarmBuckets } from "../presigns/read-buckets.ts";
import type { Queryable } from "../store/database.ts";
import type { Log } from "../telemetry/log.ts";
import { samplePresigns } from "./sample-presigns.ts";
import { sampleTreasury } from "./sample-treasury.ts";

/** Creates the loops that record levels of the pool and balances of a network. Any number of workers may run them. */
export function createSamplers(options: SamplersOptions): NamedLoop[] {
  const { database, network, reader, config, log } = options;
  const { clock, gasOwnerAddress } = network;
  const treasury = createTreasuryReader(network);
  const newestKeyId = async () => (await reader.networkKey()).id;
  const loopOf = (name: string, intervalMs: number, read: () => Promise<void>): NamedLoop => ({
    name,
    loop: createBackgroundLoop({
      name,
      intervalMs,
      ...{ clock, log },
      async pass() {
        await read();
        return false;
      },
    }),
  });
  return [
    loopOf("presign samples", PRESIGN_INTERVAL_MS, async () => {
      const warm = () => readWarmBuckets(database, network.name, config.presignBuckets, newestKeyId);
      await samplePresigns(database, network.name, warm);
    }),
    loopOf("treasury samples", TREASURY_INTERVAL_MS, async () => {
      await sampleTreasury(database, network.name, async () => {
        const { ika, sui } = await treasury.balances();
        const coins = await reader.gasCoins(gasOwnerAddress);
        const outside = await reader.addressBalance(gasOwnerAddress, SUI_TYPE_ARG);
        return { ika, sui, gas: coins.reduce((sum, { balanceMist }) => sum + balanceMist, outside) };
      });
    }),
  ];
}

export interface SamplersOptions {
  readonly database: Queryable;
  readonly network: ChainNetwork;
  readonly reader: NetworkReader;
  readonly config: Pick<NetworkConfig, "presignBuckets">;
  readonly log: Pick<Log, "error">;
}

/** Much shorter than a minute, so that each minute is sampled near its beginning. */
const PRESIGN_INTERVAL_MS = 10_000;
const TREASURY_INTERVAL_MS = 60_000;
