/**
 * Sign operations that land on the chain per second, against a fullnode that takes 400 ms to execute a transaction: one
 * lane without batches, one with, four and eight with. `npx tsx bench/lanes.ts [--signs 1200] [--latency-ms 400]`. This
 * measures only the submitter: an operation is done when its transaction is final and written to the database. The
 * network is a stand-in that does no work. PostgreSQL as in TEST_DATABASE_URL, else 127.0.0.1.
 */

import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { parseArgs } from "node:util";
import type { Localnet } from "../src/localnet/localnet.ts";
import { localnetHotWalletSecret } from "../src/localnet/seed.ts";
import { createChainWork } from "../src/service/app/work.ts";
import { connectNetwork } from "../src/service/chain/fullnodes/network.ts";
import { createNetworkReader } from "../src/service/chain/reader.ts";
import { createLocalSignals } from "../src/service/platform/coordination/local-coordination.ts";
import { ServiceError } from "../src/service/platform/errors/service-error.ts";
import { systemClock } from "../src/service/platform/lifecycle/clock.ts";
import type { Loop, NamedLoop } from "../src/service/platform/lifecycle/start-loops.ts";
import type { Database } from "../src/service/platform/store/database.ts";
import { Secret } from "../src/service/platform/telemetry/secret.ts";
import { startThread } from "../src/service/platform/threads/start-thread.ts";
import { createPresignQueue } from "../src/service/presigns/presign-queue.ts";
import { requestPresigns } from "../src/service/presigns/request-presigns.ts";
import { reserve } from "../src/service/signing/reserve.ts";
import { submit } from "../src/service/signing/submit.ts";
import { onboardUser } from "../test/sim/onboard-user.ts";
import { networkConfig } from "../test/support/chain/network-config.ts";
import { checkHalfInline, inlineVerifier } from "../test/support/crypto/inline-verifier.ts";
import { openRaceDatabase } from "../test/support/database/database.ts";
import { flatPrices } from "../test/support/database/prices.ts";
import {
  keyed,
  layoutOfSignMessage,
  projectWith,
  TEST_ORIGIN,
  TEST_TRIPLE,
} from "../test/support/database/rows.ts";

const { values } = parseArgs({
  options: { signs: { type: "string", default: "1200" }, "latency-ms": { type: "string", default: "400" } },
});
const LATENCY_MS = Number(values["latency-ms"]);
const SIGNS = Number(values.signs);
const PRICE = 10_000n;
const HALF_BYTES = 66;
/** Enough signatures to show the cost of one transaction each. */
const UNBATCHED_SIGNS = 12;

const VARIANTS = [
  { lanes: 1, batch: 1, signs: UNBATCHED_SIGNS },
  { lanes: 1, batch: 50, signs: SIGNS / 4 },
  { lanes: 4, batch: 50, signs: SIGNS },
  { lanes: 8, batch: 50, signs: SIGNS },
];

console.log(`| lanes | operations in a block | operations/s | ratio |\n|---|---|---|---|`);
let baseline: number | undefined;
for (const { lanes, batch, signs } of VARIANTS) {
  const { perSecond, perBlock } = await measure(lanes, batch, signs);
  baseline ??= perSecond;
  const ratio = (perSecond / baseline).toFixed(1);
  console.log(`| ${lanes} | ${perBlock.toFixed(1)} | ${perSecond.toFixed(1)} | ${ratio} |`);
}

async function measure(laneCount: number, batchCount: number, signCount: number) {
  const database = await openRaceDatabase();
  if (database === undefined) throw new Error("this needs a PostgreSQL server");
  const thread = startThread(import.meta.url, "./lanes-localnet", { operatorCount: laneCount });
  const [localnet] = (await once(thread, "message")) as [Pick<Localnet, "url" | "ikaConfig" | "treasury">];
  try {
    return await run(database, localnet, batchCount, signCount);
  } finally {
    const ended = once(thread, "exit");
    thread.postMessage("close");
    await ended;
    await database.close();
  }
}

async function run(
  database: Database,
  localnet: Pick<Localnet, "url" | "ikaConfig" | "treasury">,
  batchCount: number,
  signCount: number,
) {
  const network = await connectNetwork({
    clock: systemClock,
    name: "localnet",
    fullnodeUrl: new Secret(localnet.url),
    ikaConfig: localnet.ikaConfig,
    treasury: localnet.treasury,
    hotWalletSecret: new Secret(localnetHotWalletSecret()),
  });
  const reader = createNetworkReader(network);
  const signals = createLocalSignals();
  const presigns = createPresignQueue({ clock: systemClock, signals });
  const startWork = () =>
    createChainWork(
      {
        database,
        chain: network,
        reader,
        signals,
        presigns,
        verifier: inlineVerifier,
        deposits: undefined,
        depositSigner: () => undefined,
        config: networkConfig({
          submitBatchCount: batchCount,
          presignBatchCount: 32,
          refundsPerDay: 0,
          presignLowWaterCount: 0,
          presignHighWaterCount: 1,
          presignBuckets: [],
          prices: flatPrices(10_000n),
          sweeps: { destination: undefined, minValueMicroUsd: 0n, intervalMs: 60_000 },
        }),
        log: { debug() {}, info() {}, warn: console.error, error: console.error },
      },
      { reconcileOn: undefined },
    );
  const work = await startWork();
  loopIn(work, "submitter").start();
  loopIn(work, "settler").start();
  const projectId = await projectWith(database, BigInt(signCount) * PRICE);
  const caller = { projectId, network: "localnet", origin: TEST_ORIGIN };
  const deps = {
    database,
    network,
    reader,
    readerFor: () => reader,
    signals,
    presigns,
    checkHalf: checkHalfInline,
    dkgsPerDay: 10,
    usersMaxCount: 10,
    prices: flatPrices(PRICE),
    dkgPriceMicroUsd: 0n,
    importPriceMicroUsd: 0n,
    paysImports: async () => true,
    refundsPerDay: 0,
    reservationTtlMs: 600_000,
    openMaxCount: signCount,
  };
  const { dwalletId } = await onboardUser(caller, async (attempt) => {
    for (;;) {
      try {
        return await attempt(deps);
      } catch (error) {
        if (!(error instanceof ServiceError && error.reason === "DEADLINE")) throw error;
      }
    }
  });
  const bucket = {
    network: "localnet",
    curve: TEST_TRIPLE.curveNumber,
    signatureAlgorithm: TEST_TRIPLE.signatureAlgorithmNumber,
    networkEncryptionKeyId: (await reader.networkKey()).id,
  };
  await requestPresigns(database, bucket, signCount);
  await until(database, "SELECT count(*)::int AS n FROM presign WHERE state = 'ready'", signCount);
  await loopIn(work, "submitter").stop();

  for (let sign = 0; sign < signCount; sign++) {
    const input = {
      dwalletId,
      triple: TEST_TRIPLE,
      message: new TextEncoder().encode(`message ${sign}`),
      idempotency: keyed(randomUUID()),
    };
    const time = { timeoutMs: 10_000, signal: new AbortController().signal };
    const { id } = await reserve(deps, caller, input, time);
    await submit(deps, caller, { signRequestId: id, userSignMessage: layoutOfSignMessage() });
  }
  // As short as the half of an EdDSA or Taproot signature. An ECDSA half has 7 kB, so thirteen of them fill a block.
  await database.query("UPDATE sign_request SET user_sign_message = $1", [new Uint8Array(HALF_BYTES)]);
  const faults = JSON.stringify({ executeLatencyMs: LATENCY_MS, paused: true });
  await fetch(`${localnet.url}/localnet/faults`, { method: "POST", body: faults });
  const again = await startWork();
  const startedMs = performance.now();
  loopIn(again, "submitter").start();
  await until(database, "SELECT count(*)::int AS n FROM sign_request WHERE status = 'submitted'", signCount);
  const seconds = (performance.now() - startedMs) / 1000;
  await loopIn(again, "submitter").stop();
  await loopIn(work, "settler").stop();
  const [blocks] = await database.query<{ n: number }>(
    "SELECT count(DISTINCT tx_digest)::int AS n FROM sign_request",
  );
  return { perSecond: signCount / seconds, perBlock: signCount / (blocks?.n ?? 1) };
}

function loopIn(loops: readonly NamedLoop[], wanted: string): Loop {
  const found = loops.find(({ name }) => name === wanted);
  if (found === undefined) throw new Error(`there is no loop ${wanted}`);
  return found.loop;
}

async function until(database: Database, statement: string, count: number): Promise<void> {
  for (;;) {
    const [row] = await database.query<{ n: number }>(statement);
    if ((row?.n ?? 0) >= count) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
