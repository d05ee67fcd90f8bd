import type { LocalChain } from "../../src/localnet/local-chain.ts";
import { localnetHotWalletSecret } from "../../src/localnet/seed.ts";
import { findTriple } from "../../src/protocol/algorithms.ts";
import { createChainWork, createSharedWork } from "../../src/service/app/work.ts";
import type { DepositSigner } from "../../src/service/billing/sweeps/sweep-signer.ts";
import {
  type CallTimes,
  type ChainNetwork,
  connectNetwork,
} from "../../src/service/chain/fullnodes/network.ts";
import { createNetworkReader } from "../../src/service/chain/reader.ts";
import type { OnboardingDeps } from "../../src/service/onboarding/onboarding-deps.ts";
import { createLocalSignals } from "../../src/service/platform/coordination/local-coordination.ts";
import type { Signals } from "../../src/service/platform/coordination/signals.ts";
import { type Clock, systemClock } from "../../src/service/platform/lifecycle/clock.ts";
import type { Loop } from "../../src/service/platform/lifecycle/start-loops.ts";
import type { Database } from "../../src/service/platform/store/database.ts";
import type { Log } from "../../src/service/platform/telemetry/logger.ts";
import { Secret } from "../../src/service/platform/telemetry/secret.ts";
import { createPresignQueue } from "../../src/service/presigns/presign-queue.ts";
import type { ReserveDeps } from "../../src/service/signing/reserve.ts";
import type { SubmitDeps } from "../../src/service/signing/submit.ts";
import { networkConfig } from "../support/chain/network-config.ts";
import { checkHalfInline, inlineVerifier } from "../support/crypto/inline-verifier.ts";
import { flatPrices } from "../support/database/prices.ts";
import { type Life, mortalDatabase, mortalFetch, mortalSignals } from "./mortal.ts";

/** The price of a signature in the simulation. */
export const PRICE = 10_000n;
/** The price of a dWallet in the simulation. */
export const DKG_PRICE = 2n * PRICE;

/** A service without its server: the code of its calls and its loops. */
export interface Replica {
  readonly network: ChainNetwork;
  readonly deps: OnboardingDeps & ReserveDeps & SubmitDeps & { readonly database: Database };
  stop(): Promise<void>;
}

/** The environment of a replica. */
export interface ReplicaOptions {
  readonly database: Database;
  /** Default localnet. */
  readonly name?: string;
  /** The fullnode's URL. */
  readonly localnet: Pick<LocalChain, "ikaConfig" | "treasury"> & { readonly url: string };
  readonly life: Life;
  readonly log: (level: string, fields: object, message: string) => void;
  /** Default: the system's clock. */
  readonly clock?: Clock;
  /** The fetch function for the fullnode. Default: over sockets. */
  readonly fetch?: typeof fetch;
  /** The intervals of loops. Default: short, so that a few seconds contain many passes. */
  readonly pace?: typeof PACE;
  /** The time limits of calls to the fullnode. Default: short, because it fails often. */
  readonly times?: CallTimes;
  /** The replica's signals, closed with it. Default: signals within the process. */
  readonly signals?: Signals;
  /** Default true: the replica also runs the loops that the networks of a process share. */
  readonly runsSharedWork?: boolean;
  /** Default: none, so that it cannot sweep. */
  readonly depositSigner?: DepositSigner;
}

/** The default intervals, for a replica that shares its lanes with others. */
const PACE = { intervalMs: 20, leaseMs: 150, retryBaseMs: 5, rememberedMs: 100, invalidSignatureMs: 200 };
/** Intervals for a single replica in real time: no lease ends because the machine is busy. */
export const ALONE_PACE: typeof PACE = { ...PACE, leaseMs: 5_000 };
const TIMES = { readMs: 300, buildMs: 300, executeMs: 300 };
const CONFIG = networkConfig({
  submitBatchCount: 5,
  presignBatchCount: 5,
  refundsPerDay: 1_000,
  presignLowWaterCount: 3,
  presignHighWaterCount: 10,
  prices: flatPrices(10_000n),
  presignBuckets: [findTriple("SECP256K1", "ECDSASecp256k1", "SHA256")!],
  sweeps: { destination: undefined, minValueMicroUsd: 0n, intervalMs: 60_000 },
});

/** Starts a replica. Rejects if it dies or cannot reach the fullnode before it runs. */
export async function startReplica({
  name = "localnet",
  database,
  localnet,
  life,
  log,
  clock = systemClock,
  fetch: over = fetch,
  pace = PACE,
  times = TIMES,
  depositSigner = () => undefined,
  signals = createLocalSignals(),
  runsSharedWork = true,
}: ReplicaOptions): Promise<Replica> {
  const own = { database: mortalDatabase(database, life), signals: mortalSignals(signals, life) };
  const network = await connectNetwork({
    name,
    clock,
    fullnodeUrl: new Secret(localnet.url),
    ikaConfig: localnet.ikaConfig,
    treasury: localnet.treasury,
    hotWalletSecret: new Secret(localnetHotWalletSecret()),
    times,
    fetch: mortalFetch(life, over),
  });
  const reader = createNetworkReader(network);
  const presigns = createPresignQueue({ clock, signals: own.signals, pollMs: pace.intervalMs });
  const replicaLog: Log = {
    debug: () => {},
    info: (fields, message) => log("info", fields, message),
    warn: (fields, message) => log("warn", fields, message),
    error: (fields, message) => log("error", fields, message),
  };
  const work = await createChainWork(
    {
      ...own,
      config: CONFIG,
      chain: network,
      reader,
      presigns,
      verifier: inlineVerifier,
      deposits: undefined,
      depositSigner,
      log: replicaLog,
    },
    { reconcileOn: undefined, pace },
  );
  const shared = runsSharedWork
    ? createSharedWork({ ...own, retentionDays: 0, clock, log: replicaLog, pace })
    : [];
  const loops: Loop[] = [...work, ...shared].map(({ loop }) => loop);
  for (const loop of loops) loop.start();
  return {
    network,
    deps: {
      ...own,
      network,
      reader,
      readerFor: () => reader,
      presigns,
      checkHalf: checkHalfInline,
      dkgsPerDay: 1_000,
      usersMaxCount: 1_000,
      prices: flatPrices(PRICE),
      dkgPriceMicroUsd: DKG_PRICE,
      importPriceMicroUsd: DKG_PRICE,
      paysImports: async () => true,
      refundsPerDay: 1_000,
      reservationTtlMs: 40 * pace.intervalMs,
      openMaxCount: 20,
    },
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()));
      await signals.close();
    },
  };
}
