import { setTimeout as sleep } from "node:timers/promises";
import { type FaultSettings, NO_FAULTS } from "../../src/localnet/faults/fault-settings.ts";
import { startLocalnet } from "../../src/localnet/localnet.ts";
import type { Database } from "../../src/store/database.ts";
import { projectWith, TEST_TRIPLE } from "../support/rows.ts";
import { checkRest } from "./check-rest.ts";
import { type ClientReport, runClient } from "./client.ts";
import { startCluster } from "./cluster.ts";
import { createRandom, type Random } from "./random.ts";
import { PRICE } from "./replica.ts";
import { createSimMpc } from "./sim-mpc.ts";

/** How one simulation went. */
export interface SimulationReport {
  readonly seed: number;
  /** Sentences about what does not hold; none when all is well. */
  readonly faults: readonly string[];
  readonly deaths: number;
  readonly completedCount: number;
  readonly failedCount: number;
  readonly transactionCount: number;
  readonly log: readonly string[];
}

/** After that nothing is under way any more, or something is stuck. */
const LIMIT_MS = 90_000;
const LOOK_MS = 20;
const LOG_LINES = 400;

/**
 * Clients, two replicas on one database, and a localnet that fails, all choices from the seed. Replicas are killed until
 * every client has its answers; then the faults end, and when nothing is under way any more everything is checked.
 */
export async function simulate(seed: number, database: Database): Promise<SimulationReport> {
  const startedMs = performance.now();
  const random = createRandom(seed);
  const log: string[] = [];
  const write = (level: string, fields: object, message: string) => {
    const ms = Math.round(performance.now() - startedMs);
    if (log.push(`${ms} ${level} ${message} ${JSON.stringify(fields, plain)}`) > LOG_LINES) log.shift();
  };
  const localnet = await startLocalnet({
    mpc: createSimMpc(),
    faults: chooseFaults(random),
    faultSeed: new Uint8Array(32).fill(seed & 255).fill((seed >> 8) & 255, 1, 2),
    operatorCount: random.integer(1, 3),
    epochDurationMs: 24 * 3_600_000,
  });
  const isOver = () => performance.now() - startedMs > LIMIT_MS;
  const cluster = startCluster({ database, localnet, random, replicaCount: 2, log: write });
  let faults: string[] = [];
  let reports: ClientReport[] = [];
  try {
    const disturbances = disturb();
    const projects = await Promise.all([1, 2].map(() => projectWith(database, 110n * PRICE)));
    const clients = projects.map((projectId) =>
      runClient(cluster, random, { projectId, signCount: random.integer(2, 6), isOver }),
    );
    const settled = await Promise.allSettled(clients);
    reports = settled.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
    faults = settled.flatMap((result) =>
      result.status === "rejected" ? [`a client failed: ${String(result.reason)}`] : [],
    );
    await disturbances;
    cluster.endKilling();
    localnet.faults.set(NO_FAULTS);
    while (!isOver() && (await isUnderWay(database))) await sleep(LOOK_MS);
    await cluster.stop();
    faults.push(...(await checkRest(database, localnet, TEST_TRIPLE)));
  } finally {
    cluster.endKilling();
    await cluster.stop();
    await localnet.close();
  }
  const ended = reports.flatMap((report) => report.ended);
  const [sent] = await database.query<{ count: number }>(
    "SELECT count(*)::int AS count FROM chain_transaction",
  );
  return {
    seed,
    faults,
    deaths: cluster.deaths,
    completedCount: ended.filter(({ status }) => status === "completed").length,
    failedCount: ended.filter(({ status }) => status === "failed").length,
    transactionCount: sent?.count ?? 0,
    log,
  };

  /** What an operator or the network does to everyone at once, at some moment. */
  async function disturb(): Promise<void> {
    await sleep(random.integer(50, 400));
    if (random.happens(0.3)) await localnet.controls.advanceEpoch();
    if (random.happens(0.2)) await localnet.controls.advanceEpoch();
    if (random.happens(0.3)) await localnet.controls.rotateNetworkKey();
    if (!random.happens(0.2)) return;
    await localnet.controls.setTreasury({ ika: 0n, sui: 0n });
    await sleep(random.integer(20, 100));
    await localnet.controls.setTreasury({ ika: 10n ** 15n, sui: 10n ** 15n });
  }
}

/** Each fault in about every third simulation, so that they meet in all combinations. */
function chooseFaults(random: Random): Partial<FaultSettings> {
  const sometimes = (max: number): number => (random.happens(0.35) ? random.next() * max : 0);
  return {
    latencyMs: random.happens(0.3) ? random.integer(0, 3) : 0,
    jitterMs: random.happens(0.5) ? random.integer(0, 8) : 0,
    dropReply: sometimes(0.4),
    rateLimit: sometimes(0.02),
    timeout: sometimes(0.01),
    staleRead: sometimes(0.3),
    staleCommits: random.integer(1, 6),
    versionConflict: sometimes(0.2),
    congestion: sometimes(0.2),
    rejectSessions: { presign: sometimes(0.1), sign: sometimes(0.2) },
    completionDelayMs: random.happens(0.3) ? random.integer(0, 50) : 0,
    completionJitterMs: random.happens(0.3) ? random.integer(0, 100) : 0,
    corruptSignature: sometimes(0.2),
  };
}

async function isUnderWay(database: Database): Promise<boolean> {
  const [row] = await database.query<{ isUnderWay: boolean }>(
    `SELECT EXISTS (SELECT 1 FROM chain_operation WHERE state IN ('queued', 'sent'))
         OR EXISTS (SELECT 1 FROM chain_transaction WHERE state = 'stored')
         OR EXISTS (SELECT 1 FROM sign_request WHERE status NOT IN ('completed', 'failed')) AS "isUnderWay"`,
  );
  return row?.isUnderWay !== false;
}

function plain(_name: string, value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  return value instanceof Error
    ? `${value.name}: ${value.message}${value.cause ? ` <- ${String(value.cause)}` : ""}`
    : value;
}
