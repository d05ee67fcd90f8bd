/**
 * The cost of each call of the contract for the service's event loop: processor time of its main thread per call, over
 * gRPC, on a real PostgreSQL, with GetSign as the baseline. The idle work of the loop is measured while nobody calls,
 * and subtracted. Calls that lead to a transaction include the work on the chain that they cause.
 *
 * `npx tsx bench/rpc-cpu.ts [--calls 200] [--profile FOLDER]`; PostgreSQL as in TEST_DATABASE_URL, else on 127.0.0.1.
 * Linux only. GetProtocolParameters is left out: the stand-in network has no parameters.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { startSimLocalnet } from "../test/sim/sim-localnet.ts";
import { testDatabase } from "../test/support/database/postgres.ts";
import { ROOT } from "../test/support/repository/source-files.ts";
import { type Meter, measureCalls } from "./rpc-calls.ts";
import { profileArguments, startBenchService } from "./support/bench-service.ts";
import { mainThreadMs } from "./support/thread-time.ts";

const { values } = parseArgs({
  options: { calls: { type: "string", default: "200" }, profile: { type: "string" } },
});
const CALLS = Number(values.calls);
const AT_ONCE = 8;
const IDLE_MS = 3000;
const ADMIN_API_KEY = "bench-bench-bench-bench-bench-bench";

execFileSync(process.execPath, ["--import", "tsx", "tools/build.ts"], { cwd: ROOT });
const folder = mkdtempSync(path.join(tmpdir(), "bench-rpc-"));
const stops: (() => unknown)[] = [() => rmSync(folder, { recursive: true })];
try {
  await measure();
} finally {
  for (const stop of stops.reverse()) await stop();
}

async function measure(): Promise<void> {
  const postgres = await testDatabase();
  if (postgres === undefined) throw new Error("this needs a PostgreSQL server");
  stops.push(postgres.drop);
  const localnet = await startSimLocalnet();
  stops.push(localnet.stop);
  const environment = {
    DATABASE_URL: postgres.url,
    DATA_DIR: folder,
    LOCALNET_URL: localnet.url,
    ADMIN_API_KEY,
    PRESIGN_BUCKETS: "SECP256K1/ECDSASecp256k1",
    PRESIGN_POOL_LOW_WATER: String(2 * CALLS),
    PRESIGN_POOL_HIGH_WATER: String(3 * CALLS),
    PRESIGN_BATCH_SIZE: "32",
    MAX_OPEN_RESERVATIONS_PER_PROJECT: "10000",
    MAX_DKGS_PER_PROJECT_PER_DAY: "1000000",
    FULLNODE_CALLER_READS_PER_SECOND: "100000",
    FULLNODE_PROJECT_READS_PER_SECOND: "100000",
    BILLING_DEPOSIT_MASTER_SEED_HEX: "07".repeat(32),
    BILLING_USD_PRICES: "SUI=3.5,IKA=0.02",
    RATE_LIMIT_WRITE_PER_SECOND: "0",
    RATE_LIMIT_CHAIN_PER_SECOND: "0",
    RATE_LIMIT_READ_PER_SECOND: "0",
    RATE_LIMIT_VERIFY_PER_SECOND: "0",
    RATE_LIMIT_STREAM_PER_SECOND: "0",
    RATE_LIMIT_OPEN_PER_SECOND: "0",
    // The stand-in's network key has no parameters to build, which the service would log repeatedly.
    LOG_LEVEL: "silent",
    PORT: "0",
  };
  const service = await startBenchService(environment, profileArguments(values.profile));
  stops.push(service.stop);
  const startedMs = performance.now();
  const idleBefore = mainThreadMs(service.pid);
  await sleep(IDLE_MS);
  const idleMs = (mainThreadMs(service.pid) - idleBefore) / (performance.now() - startedMs);

  const rows: { name: string; ms: number; refused: number }[] = [];
  const cost: Meter = async (name, call, count, over = async () => undefined) => {
    const [before, beganMs] = [mainThreadMs(service.pid), performance.now()];
    const results: Awaited<ReturnType<typeof call>>[] = [];
    const refusals: unknown[] = [];
    let next = 0;
    const caller = async () => {
      for (let index = next++; index < count; index = next++) {
        try {
          results[index] = await call(index);
        } catch (error) {
          refusals.push(error);
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, caller));
    await over();
    const used = mainThreadMs(service.pid) - before - idleMs * (performance.now() - beganMs);
    rows.push({ name, ms: used / count, refused: refusals.length });
    if (refusals.length > 0)
      process.stderr.write(`${name}: ${refusals.length} of ${count}: ${String(refusals[0])}\n`);
    return results;
  };

  await measureCalls(cost, { url: service.url, adminApiKey: ADMIN_API_KEY, callCount: CALLS });

  const baseline = rows[0]!.ms;
  console.log(`idle: ${(idleMs * 100).toFixed(1)} % of one core\n`);
  console.log("| call | ms of the event loop | ratio to GetSign |\n|---|---|---|");
  for (const { name, ms } of rows.sort((left, right) => right.ms - left.ms))
    console.log(`| ${name} | ${ms.toFixed(2)} | ${(ms / baseline).toFixed(1)} |`);
}
