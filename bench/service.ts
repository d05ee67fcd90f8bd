/**
 * The whole service under load: signatures completed per second on this machine, the callers' latency at half of that
 * rate, and the cost of one signature. PostgreSQL, the local network, the load and the service share the machine. The
 * network's cryptography is a stand-in that costs next to nothing, because this measures the service: a real network
 * makes presigns and signatures elsewhere.
 *
 * `npx tsx bench/service.ts [--processes 1,2] [--seconds 10] [--callers 64] [--projects 8] [--old-rows 0]
 * [--old-projects 1000] [--profile FILE]`; PostgreSQL as in TEST_DATABASE_URL and Redis as in TEST_REDIS_URL, else on
 * 127.0.0.1. `--old-rows` adds a run on a database with that many old rows. `--profile` writes a processor
 * profile of each service process under full load, into FILE-0.cpuprofile and so on.
 */
import { type ChildProcess, execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import pg from "pg";
import { startSimLocalnet } from "../test/sim/sim-localnet.ts";
import { testDatabase } from "../test/support/database/postgres.ts";
import { testRedis } from "../test/support/database/redis.ts";
import { layoutOfSignMessage } from "../test/support/database/rows.ts";
import { programEnvironment } from "../test/support/environment.ts";
import { ROOT } from "../test/support/repository/source-files.ts";
import type { LoadResult, LoadTask } from "./service-load.ts";
import { type BenchService, startBenchService, TSS } from "./support/bench-service.ts";
import { fillOldRows } from "./support/fill-old-rows.ts";
import { makeSigner } from "./support/make-signer.ts";
import { processorTimeMs } from "./support/processor-time.ts";
import {
  STATEMENT_PROBE,
  type StatementCounts,
  startProfile,
  statementsOf,
} from "./support/statement-probe.ts";
import { mainThreadMs } from "./support/thread-time.ts";

const { values } = parseArgs({
  options: {
    processes: { type: "string", default: "1,2" },
    seconds: { type: "string", default: "10" },
    callers: { type: "string", default: "64" },
    projects: { type: "string", default: "8" },
    "old-rows": { type: "string", default: "0" },
    "old-projects": { type: "string", default: "1000" },
    profile: { type: "string" },
  },
});
const SECONDS = Number(values.seconds);
const WARM_UP_SECONDS = 5;
const ADMIN_API_KEY = "bench-bench-bench-bench-bench-bench";
const STATEMENTS_SHOWN = 40;
const STATEMENT_WIDTH = 150;
const BUCKET = "SECP256K1/ECDSASecp256k1";
/** The pool must cover the signatures that are made during a refill. */
const POOL = { PRESIGN_POOL_LOW_WATER: "500", PRESIGN_POOL_HIGH_WATER: "2000", PRESIGN_BATCH_SIZE: "32" };

execFileSync(process.execPath, ["--import", "tsx", "tools/build.ts"], { cwd: ROOT });

interface Row {
  readonly name: string;
  readonly perSecond: number;
  readonly half: LoadResult;
  /** Processor time of one signature in milliseconds, by process. */
  readonly cpuMs: Readonly<Record<"service" | "serviceLoop" | "postgres" | "localnet" | "load", number>>;
  /** Of one signature, by text. */
  readonly statements: StatementCounts;
  readonly transactions: number;
  readonly failures: LoadResult["failures"];
}

const rows: Row[] = [];
for (const count of values.processes.split(",").map(Number)) rows.push(await measure(count, 0));
if (Number(values["old-rows"]) > 0) rows.push(await measure(1, Number(values["old-rows"])));

console.log(
  "| setup | signatures/s | ratio | p50 ms at half | p99 ms at half | CPU ms a signature: service | its event loop | " +
    "PostgreSQL | network | load | statements | transactions |\n|---|---|---|---|---|---|---|---|---|---|---|---|",
);
for (const { name, perSecond, half, cpuMs, statements, transactions } of rows) {
  const cells = [
    perSecond.toFixed(0),
    (perSecond / rows[0]!.perSecond).toFixed(2),
    half.p50Ms.toFixed(0),
    half.p99Ms.toFixed(0),
    cpuMs.service.toFixed(2),
    cpuMs.serviceLoop.toFixed(2),
    cpuMs.postgres.toFixed(2),
    cpuMs.localnet.toFixed(2),
    cpuMs.load.toFixed(2),
    sum([...statements.values()]).toFixed(1),
    transactions.toFixed(1),
  ];
  console.log(`| ${name} | ${cells.join(" | ")} |`);
}
for (const { name, statements } of rows) {
  console.log(`\n| statements a signature, ${name} | |\n|---|---|`);
  for (const [text, count] of [...statements].sort(([, a], [, b]) => b - a).slice(0, STATEMENTS_SHOWN))
    console.log(
      `| ${text.replaceAll(/\s+/g, " ").trim().slice(0, STATEMENT_WIDTH).replaceAll("|", "\\|")} | ${count.toFixed(2)} |`,
    );
}
for (const { name, failures } of rows) {
  for (const [failure, count] of Object.entries(failures)) console.log(`${name}: ${count} x ${failure}`);
}

async function measure(processCount: number, oldRows: number): Promise<Row> {
  const name = `${processCount} ${processCount === 1 ? "process" : "processes"}${oldRows > 0 ? `, ${oldRows} old rows` : ""}`;
  const say = (what: string) => process.stderr.write(`${name}: ${what}\n`);
  const folder = mkdtempSync(path.join(tmpdir(), "bench-service-"));
  const stops: (() => unknown)[] = [() => rmSync(folder, { recursive: true })];
  try {
    const [postgres, redisUrl] = [await testDatabase(), await testRedis()];
    if (postgres === undefined) throw new Error("this needs a PostgreSQL server");
    stops.push(postgres.drop);
    const localnet = await startSimLocalnet();
    stops.push(localnet.stop);
    const environment = {
      DATABASE_URL: postgres.url,
      ...(processCount > 1 && redisUrl !== undefined ? { REDIS_URL: redisUrl } : {}),
      LOCALNET_URL: localnet.url,
      ADMIN_API_KEY,
      PRESIGN_BUCKETS: BUCKET,
      ...POOL,
      SUBMIT_BATCH_SIZE: "50",
      MAX_OPEN_RESERVATIONS_PER_PROJECT: "10000",
      RATE_LIMIT_WRITE_PER_SECOND: "0",
      RATE_LIMIT_CHAIN_PER_SECOND: "0",
      RATE_LIMIT_READ_PER_SECOND: "0",
      RATE_LIMIT_STREAM_PER_SECOND: "0",
      // The stand-in's network key has no parameters to build, which the service would log repeatedly.
      LOG_LEVEL: "silent",
      RETENTION_DAYS: "0",
      PORT: "0",
    };
    if (oldRows > 0) {
      say("writing old rows");
      execFileSync(process.execPath, [TSS, "migrate"], { env: { ...programEnvironment, ...environment } });
      await fillOldRows(postgres.url, {
        projects: Number(values["old-projects"]),
        rows: oldRows,
        networkEncryptionKeyId: localnet.networkEncryptionKeyId,
      });
    }
    const services: BenchService[] = [];
    for (let index = 0; index < processCount; index++) {
      const own = { ...environment, DATA_DIR: path.join(folder, String(index)) };
      const service = await startBenchService(own, STATEMENT_PROBE);
      services.push(service);
      stops.push(service.stop);
    }
    const urls = services.map(({ url }) => url);
    const signers = await Promise.all(
      Array.from({ length: Number(values.projects) }, (_, index) =>
        makeSigner(urls[0]!, ADMIN_API_KEY, index),
      ),
    );
    const load = fork(path.join(import.meta.dirname, "service-load.ts"), { execArgv: ["--import", "tsx"] });
    stops.push(() => load.disconnect());
    const task = { urls, signers, userSignMessage: [...layoutOfSignMessage()] };
    const client = new pg.Client({ connectionString: postgres.url });
    await client.connect();
    stops.push(() => client.end());
    say("filling the pool");
    while ((await readyPresigns(client)) < Number(POOL.PRESIGN_POOL_LOW_WATER)) await sleep(200);
    say("warming up");
    await run(load, { ...task, pace: { callers: 16 }, seconds: WARM_UP_SECONDS });

    say(`${values.callers} callers`);
    const counters = async () => ({
      service: processorTimeMs(services.map(({ pid }) => pid)),
      serviceLoop: sum(services.map(({ pid }) => mainThreadMs(pid))),
      postgres: processorTimeMs(await backendsOf(client)),
      localnet: processorTimeMs([localnet.pid]),
      transactions: await transactionsOf(client),
      statements: await Promise.all(services.map(({ child }) => statementsOf(child))),
    });
    const profiles = await Promise.all(
      values.profile === undefined
        ? []
        : services.map(({ child }, index) =>
            startProfile(child, path.resolve(`${values.profile}-${index}.cpuprofile`)),
          ),
    );
    const before = await counters();
    const full = await run(load, { ...task, pace: { callers: Number(values.callers) }, seconds: SECONDS });
    const after = await counters();
    for (const end of profiles) await end();
    if (full.completed === 0) throw new Error(`no signature was made: ${JSON.stringify(full.failures)}`);
    const perSecond = full.completed / full.seconds;

    say(`${full.completed} signatures in ${full.seconds.toFixed(1)} s; now half of that rate`);
    const half = await run(load, { ...task, pace: { perSecond: perSecond / 2 }, seconds: SECONDS });
    const each = (used: number) => used / full.completed;
    return {
      name,
      perSecond,
      half,
      cpuMs: {
        service: each(after.service - before.service),
        serviceLoop: each(after.serviceLoop - before.serviceLoop),
        postgres: each(after.postgres - before.postgres),
        localnet: each(after.localnet - before.localnet),
        load: each(full.cpuMs),
      },
      statements: new Map(
        [...total(after.statements)].map(([text, count]) => [
          text,
          each(count - (total(before.statements).get(text) ?? 0)),
        ]),
      ),
      transactions: each(after.transactions - before.transactions),
      failures: { ...full.failures, ...half.failures },
    };
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

/** Returns the counts of all processes. */
function total(counts: readonly StatementCounts[]): StatementCounts {
  const all = new Map<string, number>();
  for (const [text, count] of counts.flatMap((of) => [...of])) all.set(text, (all.get(text) ?? 0) + count);
  return all;
}

async function run(load: ChildProcess, task: LoadTask): Promise<LoadResult> {
  const answer = once(load, "message") as Promise<[LoadResult]>;
  load.send(task);
  return (await answer)[0];
}

/** The server processes that work for this database, if they run on this machine. */
async function backendsOf(client: pg.Client): Promise<number[]> {
  const { rows: found } = await client.query<{ pid: number }>(
    "SELECT pid FROM pg_stat_activity WHERE datname = current_database()",
  );
  return found.map(({ pid }) => pid);
}

async function readyPresigns(client: pg.Client): Promise<number> {
  const { rows: found } = await client.query<{ n: number }>(
    "SELECT count(*)::int AS n FROM presign WHERE state = 'ready'",
  );
  return found[0]!.n;
}

async function transactionsOf(client: pg.Client): Promise<number> {
  const { rows: found } = await client.query<{ n: string }>(
    "SELECT xact_commit + xact_rollback AS n FROM pg_stat_database WHERE datname = current_database()",
  );
  return Number(found[0]!.n);
}
