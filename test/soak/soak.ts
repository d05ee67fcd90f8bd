import { randomBytes } from "node:crypto";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { createInlineEngine } from "../../src/client/crypto/engines/inline-engine.ts";
import { findTriple } from "../../src/protocol/algorithms.ts";
import { checkRest } from "../sim/check-rest.ts";
import { testDatabase } from "../support/database/postgres.ts";
import { openTestPool } from "../support/database/test-pool.ts";
import {
  runTss,
  type ServiceProcess,
  serviceFolder,
  startLocalnetProcess,
  startService,
} from "../support/service/service.ts";
import {
  downloadParameters,
  onboardOver,
  reserveOver,
  signEnd,
  submitOver,
} from "../support/service/user.ts";
import { restClient } from "./rest-client.ts";

/** The report of a soak. */
export interface SoakReport {
  /** The violated guarantees, as sentences; empty if all hold. */
  readonly faults: readonly string[];
  readonly completedCount: number;
  readonly kills: number;
}

/** Options of a soak. */
export interface SoakOptions {
  /** The time during which clients sign, in milliseconds. */
  readonly durationMs: number;
  /**
   * The minimum number of killed replicas. The soak continues until then, because starts are slow on a busy machine.
   * Default 0.
   */
  readonly leastKills?: number;
  readonly print: (line: string) => void;
}

const TRIPLE = findTriple("ED25519", "EdDSA", "SHA512")!;
const REPLICA_COUNT = 2;
const SIGNERS_AT_ONCE = 4;
const CREDIT_USD = "1000";
const PROGRESS_MS = 5_000;

/**
 * Runs two replicas in their own processes on one PostgreSQL and one localnet with real cryptography. Clients sign
 * through both while one of them, chosen at random, is repeatedly killed with SIGKILL. Returns undefined without a
 * PostgreSQL.
 */
export async function soak({
  durationMs,
  leastKills = 0,
  print,
}: SoakOptions): Promise<SoakReport | undefined> {
  const postgres = await testDatabase();
  if (postgres === undefined) return undefined;
  const { folder, remove } = serviceFolder();
  const localnet = await startLocalnetProcess(folder);
  const environment = {
    DATABASE_URL: postgres.url,
    LOCALNET_URL: localnet.url,
    PRESIGN_BUCKETS: "ED25519/EdDSA",
    PRESIGN_POOL_LOW_WATER: "5",
    PROTOCOL_PARAMETERS: "on",
    LOG_LEVEL: "warn",
  };
  const start = () => startService(folder, environment);
  const replicas: (ServiceProcess | undefined)[] = [];
  const running = () => replicas.flatMap((replica) => (replica ? [replica.access.baseUrl] : []));
  try {
    const argv = ["project", "create", "--name", "soak", "--credit-usd", CREDIT_USD, "--json"];
    const { apiKey } = JSON.parse(await text(runTss(argv, { DATA_DIR: folder, ...environment }).stdout!)) as {
      apiKey: string;
    };
    replicas.push(...(await Promise.all(Array.from({ length: REPLICA_COUNT }, start))));
    print(`${REPLICA_COUNT} replicas run`);

    const engine = createInlineEngine();
    const protocolClient = restClient(running, apiKey);
    const steps = { engine, parameters: await downloadParameters(running()[0]!, "ED25519"), triple: TRIPLE };
    const dwallet = await onboardOver(protocolClient, steps, new Uint8Array(randomBytes(32)));
    print("a dWallet is there; signing and killing begins");

    const endMs = performance.now() + durationMs;
    let completedCount = 0;
    let kills = 0;
    const isOver = () => performance.now() >= endMs && kills >= leastKills;
    const signing = Array.from({ length: SIGNERS_AT_ONCE }, async () => {
      while (!isOver()) {
        const message = new Uint8Array(randomBytes(32));
        const reserved = await reserveOver(protocolClient, TRIPLE, dwallet, message);
        await submitOver(protocolClient, steps, dwallet, reserved, message);
        const { status } = await signEnd(protocolClient, reserved["signRequestId"]!);
        if (status === "completed") completedCount++;
      }
    });
    const progress = setInterval(() => print(`${completedCount} signed, ${kills} kills`), PROGRESS_MS);
    const killing = (async () => {
      while (!isOver()) {
        await sleep(1_000 + 2_000 * Math.random());
        const index = Math.floor(Math.random() * REPLICA_COUNT);
        const victim = replicas[index];
        replicas[index] = undefined;
        await victim?.crash();
        kills++;
        replicas[index] = await start();
      }
    })();
    try {
      await Promise.all([...signing, killing]);
    } finally {
      clearInterval(progress);
      await engine.close();
    }
    for (const replica of replicas) await replica?.stop();
    replicas.length = 0;
    const network = (await (await fetch(`${localnet.url}/localnet/network`)).json()) as {
      hotWalletAddress: string;
    };
    const database = await openTestPool(postgres.url);
    const faults = await checkRest(database, { url: localnet.url, ...network }, TRIPLE);
    await database.close();
    return { faults, completedCount, kills };
  } finally {
    for (const replica of replicas) await replica?.crash();
    await localnet.stop();
    await postgres.drop();
    remove();
  }
}
