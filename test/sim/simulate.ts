import { createHash } from "node:crypto";
import type { ChainControls } from "../../src/localnet/faults/chain-controls.ts";
import { NO_FAULTS } from "../../src/localnet/faults/fault-settings.ts";
import { openLocalChain } from "../../src/localnet/local-chain.ts";
import type { Allowance, Budget } from "../../src/service/access/allowances/allowance.ts";
import { SCOPES } from "../../src/service/access/caller.ts";
import { insertApiKey } from "../../src/service/access/keys/api-keys.ts";
import { pause } from "../../src/service/platform/lifecycle/clock.ts";
import type { Database } from "../../src/service/platform/store/database.ts";
import { projectWith, TEST_ORIGIN, TEST_TRIPLE } from "../support/database/rows.ts";
import { checkRest } from "./check-rest.ts";
import { type ClientReport, runClient } from "./client.ts";
import { startCluster } from "./cluster.ts";
import { IN_PROCESS_URL, inProcessFetch } from "./in-process-fetch.ts";
import { oneDeath, severalDeaths } from "./plan.ts";
import { createRandom } from "./random.ts";
import { PRICE } from "./replica.ts";
import { createScheduler } from "./scheduler.ts";
import { createSimMpc } from "./sim-mpc.ts";
import type { SimServer } from "./sim-server.ts";

/** The report of one simulation. */
export interface SimulationReport {
  readonly seed: number;
  /** Undefined if several replicas were killed. */
  readonly killAt: number | undefined;
  /** The violated guarantees, as sentences; empty if all hold. */
  readonly faults: readonly string[];
  readonly deaths: number;
  readonly completedCount: number;
  readonly failedCount: number;
  readonly transactionCount: number;
  /** The number of fired timers. */
  readonly steps: number;
  /** The number of calls and answers in the first replica's first life, at each of which it can be killed. */
  readonly awaitCount: number;
  /** True if it did not end and still holds its connections. */
  readonly isStuck: boolean;
  /** The SHA-256 of every statement and its end in their order, with the simulated time and the session. */
  readonly eventsSha256Hex: string;
  readonly log: readonly string[];
}

/** A simulation with more steps is stuck. Most take a tenth of this. */
const STEP_MAX_COUNT = 200_000;
/** The initial time, in milliseconds since the epoch. */
export const BEGIN_MS = Date.UTC(2030, 0, 1);
const LOOK_MS = 200;
const LOG_LINES = 400;
/** The intervals of a simulated replica's loops. */
export const SIM_PACE = {
  intervalMs: 100,
  leaseMs: 750,
  retryBaseMs: 25,
  rememberedMs: 500,
  invalidSignatureMs: 1_000,
};
/** The time limits of a simulated replica's calls. */
export const SIM_TIMES = { readMs: 1_500, buildMs: 1_500, executeMs: 1_500 };

/**
 * Runs clients, two replicas on one database, and a localnet that fails. All choices follow from the seed. Replicas are
 * killed until every client has its answers. Then the faults end, and when no work is open, everything is checked. With
 * `killAt` there is one client and no fault, and one replica is killed once, at its call or answer with this number.
 */
export async function simulate(seed: number, server: SimServer, killAt?: number): Promise<SimulationReport> {
  const random = createRandom(seed);
  const scheduler = createScheduler({
    random: createRandom(seed ^ 0x5eed),
    stepMaxCount: STEP_MAX_COUNT,
    server: { ...server, setTime: (ms) => server.setTime(BEGIN_MS + ms) },
    onEvent: ({ ms, session, what, text }) => events.update(`${ms} ${session} ${what} ${text}\n`),
  });
  const { clock } = scheduler;
  const { database } = server;
  const events = createHash("sha256");
  const log: string[] = [];
  const write = (level: string, fields: object, message: string) => {
    const ms = Math.round(clock.now());
    if (log.push(`${ms} ${level} ${message} ${JSON.stringify(fields, plain)}`) > LOG_LINES) log.shift();
  };
  await server.begin(scheduler);
  const chance = Math.random;
  // Jitter also follows from the seed.
  Math.random = createRandom(~seed).next;
  try {
    return await scheduler.drive(run());
  } catch (error) {
    return {
      ...NOTHING,
      seed,
      killAt,
      faults: [String(error)],
      steps: scheduler.steps,
      isStuck: true,
      eventsSha256Hex: events.digest("hex"),
      log,
    };
  } finally {
    Math.random = chance;
  }

  async function run(): Promise<SimulationReport> {
    const plan = killAt === undefined ? severalDeaths(seed, random) : oneDeath(killAt);
    const localnet = await openLocalChain({
      mpc: createSimMpc(),
      faults: plan.faults,
      faultSeed: new Uint8Array(32).fill(seed & 255).fill((seed >> 8) & 255, 1, 2),
      operatorCount: plan.operatorCount,
      epochDurationMs: 24 * 3_600_000,
      clock: () => BEGIN_MS + clock.now(),
      pause: (durationMs) => pause(clock, durationMs),
    });
    const where = { url: IN_PROCESS_URL, fetch: inProcessFetch(localnet) };
    const { hotWalletAddress, treasury } = localnet;
    const cluster = startCluster({
      databases: server.replicaDatabases,
      lifeSteps: plan.lifeSteps,
      random,
      replica: {
        clock,
        fetch: where.fetch,
        localnet: {
          url: where.url,
          treasury,
          get ikaConfig() {
            return localnet.ikaConfig;
          },
        },
        log: write,
        pace: SIM_PACE,
        times: SIM_TIMES,
      },
    });
    const disturbances = plan.isDisturbed ? disturb(localnet.controls) : undefined;
    const projects = await Promise.all(plan.signCounts.map(() => projectWith(database, 110n * PRICE)));
    const allowances = await Promise.all(
      projects.map((projectId, index) => allowanceWith(database, projectId, plan.budgets[index])),
    );
    const clients = projects.map((projectId, index) =>
      runClient(cluster, random, {
        clock,
        projectId,
        signCount: plan.signCounts[index]!,
        leaves: plan.leaves[index]!,
        allowance: allowances[index],
      }),
    );
    const settled = await Promise.allSettled(clients);
    const faults = settled.flatMap((result) =>
      result.status === "rejected" ? [`a client failed: ${String(result.reason)}`] : [],
    );
    await disturbances;
    cluster.endKilling();
    localnet.faults.set(NO_FAULTS);
    while (await isUnderWay(database)) await pause(clock, LOOK_MS);
    await cluster.stop();
    faults.push(...(await checkRest(database, { ...where, hotWalletAddress }, TEST_TRIPLE)));
    await localnet.close();
    const reports = settled.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
    const ended = reports.flatMap((report: ClientReport) => report.ended);
    const [sent] = await database.query<{ count: number }>(
      "SELECT count(*)::int AS count FROM chain_transaction",
    );
    return {
      seed,
      killAt,
      faults,
      deaths: cluster.deaths,
      awaitCount: cluster.firstLifeSteps,
      completedCount: ended.filter(({ status }) => status === "completed").length,
      failedCount: ended.filter(({ status }) => status === "failed").length,
      transactionCount: sent?.count ?? 0,
      steps: scheduler.steps,
      isStuck: false,
      eventsSha256Hex: events.digest("hex"),
      log,
    };
  }

  /** Changes the network for everyone at a random moment, as an operator or the network would. */
  async function disturb(controls: ChainControls): Promise<void> {
    await pause(clock, random.integer(250, 2_000));
    if (random.happens(0.3)) await controls.advanceEpoch();
    if (random.happens(0.2)) await controls.advanceEpoch();
    if (random.happens(0.3)) await controls.rotateNetworkKey();
    if (!random.happens(0.2)) return;
    await controls.setTreasury({ ika: 0n, sui: 0n });
    await pause(clock, random.integer(100, 500));
    await controls.setTreasury({ ika: 10n ** 15n, sui: 10n ** 15n });
  }
}

/** Creates a narrow key with the budget, and returns its allowance. */
async function allowanceWith(
  database: Database,
  projectId: string,
  budget: Budget | undefined,
): Promise<Allowance | undefined> {
  if (budget === undefined) return undefined;
  const key = { projectId, name: "narrow", scopes: SCOPES, limits: { budget } };
  const { id } = await insertApiKey(database, TEST_ORIGIN, key);
  return { id, userReferences: undefined, dwalletIds: undefined, algorithms: undefined, budget };
}

const NOTHING = { awaitCount: 0, deaths: 0, completedCount: 0, failedCount: 0, transactionCount: 0 };

/** Returns true while a request, an operation or a transaction has no outcome. */
export async function isUnderWay(database: Database): Promise<boolean> {
  const [row] = await database.query<{ isUnderWay: boolean }>(
    `SELECT EXISTS (SELECT 1 FROM chain_operation WHERE state IN ('queued', 'sent'))
         OR EXISTS (SELECT 1 FROM chain_transaction WHERE state = 'stored')
         OR EXISTS (SELECT 1 FROM sign_request WHERE status NOT IN ('completed', 'failed'))
         OR EXISTS (SELECT 1 FROM treasury_consent WHERE state IN ('settling', 'queued')) AS "isUnderWay"`,
  );
  return row?.isUnderWay !== false;
}

function plain(_name: string, value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  return value instanceof Error
    ? `${value.name}: ${value.message}${value.cause ? ` <- ${String(value.cause)}` : ""}`
    : value;
}
