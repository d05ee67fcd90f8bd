import type { Localnet } from "../../../src/localnet/localnet.ts";
import { localnetHotWalletSecret } from "../../../src/localnet/seed.ts";
import { createChainWork, createSharedWork } from "../../../src/service/app/work.ts";
import type { DepositSigner } from "../../../src/service/billing/sweeps/sweep-signer.ts";
import {
  type CallTimes,
  type ChainNetwork,
  connectNetwork,
} from "../../../src/service/chain/fullnodes/network.ts";
import { createNetworkReader, type NetworkReader } from "../../../src/service/chain/reader.ts";
import { createLocalSignals } from "../../../src/service/platform/coordination/local-coordination.ts";
import type { Signals } from "../../../src/service/platform/coordination/signals.ts";
import { type Clock, systemClock } from "../../../src/service/platform/lifecycle/clock.ts";
import type { Database } from "../../../src/service/platform/store/database.ts";
import type { Log } from "../../../src/service/platform/telemetry/logger.ts";
import { Secret } from "../../../src/service/platform/telemetry/secret.ts";
import { createPresignQueue, type PresignQueue } from "../../../src/service/presigns/presign-queue.ts";
import { inlineVerifier } from "../crypto/inline-verifier.ts";
import { flatPrices } from "../database/prices.ts";
import { TEST_TRIPLE } from "../database/rows.ts";
import { networkConfig } from "./network-config.ts";

/** The service's work on the chain, on a localnet in this process. */
export interface ChainService {
  readonly network: ChainNetwork;
  readonly reader: NetworkReader;
  readonly signals: Signals;
  readonly presigns: PresignQueue;
  /** The logged errors. */
  readonly alarms: readonly object[];
  /** Resolves with the first logged error, once there is one. */
  firstAlarm(): Promise<object>;
  stop(): Promise<void>;
}

/** Options of the work. */
export interface ChainServiceOptions {
  /** Default: the localnet's Treasury with all its OperatorCaps. */
  readonly hotWallet?: { readonly secret: Uint8Array; readonly operatorCapIds: readonly string[] };
  readonly afterRestore?: boolean;
  readonly gasStationSecret?: Uint8Array;
  /** The fetch function for the fullnode. */
  readonly fetch?: typeof fetch;
  /** The clock of the work and of the calls' time limits. Default: the machine's. */
  readonly clock?: Clock;
  /** The calls' time limits. Default: those of the service. */
  readonly times?: CallTimes;
  /** Default: the localnet's own. */
  readonly fullnodeUrls?: readonly [string, ...string[]];
  /** Default 0: the pool requests no presigns on its own. */
  readonly presignLowWaterCount?: number;
  /** The seed of deposit addresses and the destination of sweeps. Default: no sweeps. */
  readonly sweeps?: { readonly signerOf: DepositSigner; readonly destination: string };
}

/** Starts the work with short intervals for tests. */
export async function startChainService(
  database: Database,
  localnet: Localnet,
  {
    hotWallet = { secret: localnetHotWalletSecret(), operatorCapIds: localnet.treasury.operatorCapIds },
    afterRestore = false,
    gasStationSecret,
    fetch,
    clock = systemClock,
    times,
    fullnodeUrls: [fullnodeUrl, ...otherFullnodeUrls] = [localnet.url],
    presignLowWaterCount = 0,
    sweeps,
  }: ChainServiceOptions = {},
): Promise<ChainService> {
  const network = await connectNetwork({
    clock,
    name: "localnet",
    fullnodeUrl: new Secret(fullnodeUrl),
    otherFullnodeUrls: otherFullnodeUrls.map((url) => new Secret(url)),
    ikaConfig: localnet.ikaConfig,
    treasury: { ...localnet.treasury, operatorCapIds: hotWallet.operatorCapIds },
    hotWalletSecret: new Secret(hotWallet.secret),
    gasStationSecret: gasStationSecret && new Secret(gasStationSecret),
    ...(fetch && { fetch }),
    ...(times && { times }),
  });
  const reader = createNetworkReader(network);
  const signals = createLocalSignals();
  const presigns = createPresignQueue({ clock: systemClock, signals });
  const alarms: object[] = [];
  let alarm: (fields: object) => void = () => {};
  const first = new Promise<object>((resolve) => {
    alarm = resolve;
  });
  const error = (fields: object) => {
    alarms.push(fields);
    alarm(fields);
  };
  const log: Log = { debug() {}, info() {}, warn() {}, error };
  const config = networkConfig({
    submitBatchCount: 10,
    presignBatchCount: 20,
    refundsPerDay: 10,
    presignLowWaterCount,
    presignHighWaterCount: 1,
    prices: flatPrices(10_000n),
    presignBuckets: presignLowWaterCount > 0 ? [TEST_TRIPLE] : [],
    sweeps: { destination: sweeps?.destination, minValueMicroUsd: 1_000_000n, intervalMs: 20 },
  });
  const work = await createChainWork(
    {
      config,
      database,
      chain: network,
      reader,
      signals,
      presigns,
      verifier: inlineVerifier,
      deposits: undefined,
      depositSigner: sweeps?.signerOf ?? (() => undefined),
      log,
    },
    {
      reconcileOn: afterRestore ? database : undefined,
      pace: { intervalMs: 20, leaseMs: 1_000, retryBaseMs: 5, rememberedMs: 100 },
    },
  );
  const shared = createSharedWork({
    database,
    signals,
    retentionDays: 0,
    clock: systemClock,
    log,
    pace: { intervalMs: 20 },
  });
  const loops = [...work, ...shared].map(({ loop }) => loop);
  for (const loop of loops) loop.start();
  return {
    network,
    reader,
    signals,
    presigns,
    alarms,
    firstAlarm: () => first,
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()));
      await signals.close();
    },
  };
}
