import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { NO_FAULTS } from "../../src/localnet/faults/fault-settings.ts";
import { type LocalChain, openLocalChain } from "../../src/localnet/local-chain.ts";
import { localnetHotWalletSecret } from "../../src/localnet/seed.ts";
import { createSharedWork } from "../../src/service/app/work.ts";
import { createLocalSignals } from "../../src/service/platform/coordination/local-coordination.ts";
import type { Signals } from "../../src/service/platform/coordination/signals.ts";
import { pause } from "../../src/service/platform/lifecycle/clock.ts";
import { projectWith, TEST_TRIPLE } from "../support/database/rows.ts";
import { silentLog } from "../support/silent-log.ts";
import { checkRest } from "./check-rest.ts";
import { type ClientReport, runClient } from "./client.ts";
import { startCluster } from "./cluster.ts";
import { IN_PROCESS_URL, inProcessFetch } from "./in-process-fetch.ts";
import { createRandom } from "./random.ts";
import { PRICE } from "./replica.ts";
import { createScheduler } from "./scheduler.ts";
import { createSimMpc } from "./sim-mpc.ts";
import type { SimServer } from "./sim-server.ts";
import { BEGIN_MS, isUnderWay, SIM_PACE, SIM_TIMES } from "./simulate.ts";

/** The report of a simulation of two networks. */
export interface BesideReport {
  /** The violated guarantees, as sentences; empty if all hold. */
  readonly faults: readonly string[];
  /** The reports of the healthy network's clients. */
  readonly healthy: readonly ClientReport[];
  /** The final report of the failing network's client. */
  readonly ill: ClientReport;
  /** The failing network's signatures that were complete when the healthy one's clients had their answers. */
  readonly illEndedEarlyCount: number;
}

/**
 * Runs two networks as one process does, with all choices from the seed. Each has its own connections to one database.
 * They share signals and the loops that need no chain. The fullnode of one fails often and in every way, until all
 * clients of the other one have their answers. Then it recovers, its own client gets its answers, and everything is
 * checked.
 */
export async function simulateBeside(seed: number, server: SimServer): Promise<BesideReport> {
  const scheduler = createScheduler({
    random: createRandom(seed ^ 0x5eed),
    stepMaxCount: STEP_MAX_COUNT,
    server: { ...server, setTime: (ms) => server.setTime(BEGIN_MS + ms) },
  });
  const { clock } = scheduler;
  const { database } = server;
  await server.begin(scheduler);
  const chance = Math.random;
  // Jitter also follows from the seed.
  Math.random = createRandom(~seed).next;
  try {
    return await scheduler.drive(run());
  } finally {
    Math.random = chance;
  }

  async function run(): Promise<BesideReport> {
    const random = createRandom(seed);
    const signals = createLocalSignals();
    const healthy = await network("testnet", 0, signals);
    const ill = await network("mainnet", 1, signals);
    const work = { database, signals, retentionDays: 0, clock, log: silentLog, pace: SIM_PACE };
    const shared = createSharedWork(work).map(({ loop }) => loop);
    for (const loop of shared) loop.start();
    ill.chain.faults.set({ ...NO_FAULTS, ...ILL, staleCommits: random.integer(1, 6) });
    const client = async (one: Network, signCount: number) => {
      const projectId = await projectWith(database, 110n * PRICE, one.name);
      return runClient(one.cluster, createRandom(random.integer(0, 2 ** 30)), {
        clock,
        projectId,
        signCount,
        network: one.name,
        leaves: "never",
      });
    };
    const late = client(ill, SIGN_COUNTS.ill);
    late.catch(() => {});
    const reports = await Promise.all([
      client(healthy, SIGN_COUNTS.healthy),
      client(healthy, SIGN_COUNTS.healthy),
    ]);
    const illEndedEarlyCount = await endedCount(ill.name);
    ill.chain.faults.set(NO_FAULTS);
    const lateReport = await late;
    while (await isUnderWay(database)) await pause(clock, LOOK_MS);
    await Promise.all([...shared, healthy.cluster, ill.cluster].map((part) => part.stop()));
    const faults = await checkRest(
      database,
      [healthy, ill].map(({ name, where, chain: { hotWalletAddress } }) => ({
        ...where,
        hotWalletAddress,
        network: name,
      })),
      TEST_TRIPLE,
    );
    await Promise.all([healthy, ill].map(({ chain }) => chain.close()));
    return { faults, healthy: reports, ill: lateReport, illEndedEarlyCount };
  }

  async function network(name: string, index: number, signals: Signals): Promise<Network> {
    const chain = await openLocalChain({
      mpc: createSimMpc(),
      seed: new Uint8Array(32).fill(index + 1),
      hotWalletAddress: Ed25519Keypair.fromSecretKey(localnetHotWalletSecret()).toSuiAddress(),
      faultSeed: new Uint8Array(32).fill(seed & 255),
      operatorCount: 2,
      clock: () => BEGIN_MS + clock.now(),
      pause: (durationMs) => pause(clock, durationMs),
    });
    const where = { url: IN_PROCESS_URL, fetch: inProcessFetch(chain) };
    const cluster = startCluster({
      databases: server.replicaDatabases.slice(index, index + 1),
      lifeSteps: () => Number.POSITIVE_INFINITY,
      random: createRandom(seed + index),
      replica: {
        name,
        clock,
        fetch: where.fetch,
        log: () => {},
        pace: SIM_PACE,
        times: SIM_TIMES,
        signals,
        runsSharedWork: false,
        localnet: { url: where.url, treasury: chain.treasury, ikaConfig: chain.ikaConfig },
      },
    });
    return { name, chain, where, cluster };
  }

  async function endedCount(name: string): Promise<number> {
    const [row] = await database.query<{ count: number }>(
      "SELECT count(*)::int AS count FROM sign_request WHERE network = $1 AND status = 'completed'",
      [name],
    );
    return row?.count ?? 0;
  }
}

/** The signatures that each client asks for. */
export const SIGN_COUNTS = { healthy: 5, ill: 3 } as const;

interface Network {
  readonly name: string;
  readonly chain: LocalChain;
  readonly where: { readonly url: string; readonly fetch: typeof fetch };
  readonly cluster: ReturnType<typeof startCluster>;
}

const STEP_MAX_COUNT = 200_000;
const LOOK_MS = 200;
/** The failing fullnode's behaviour: almost no call succeeds. */
const ILL = { dropReply: 0.5, rateLimit: 0.5, timeout: 0.4, staleRead: 0.5, cutSubscription: 0.5 } as const;
