/** Two api and two worker processes on one PostgreSQL and one Redis, which are killed in turn under load. */
import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import path from "node:path";
import * as grpc from "@grpc/grpc-js";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SignRequest_Status as Status } from "../../gen/proto/tss/v1/signing_pb.ts";
import { localnetDepositSeed, localnetHotWalletSecret } from "../../src/localnet/seed.ts";
import { SCOPES } from "../../src/service/access/caller.ts";
import { insertApiKey } from "../../src/service/access/keys/api-keys.ts";
import { deriveDepositKey } from "../../src/service/billing/deposits/request-address.ts";
import { createParameterStore } from "../../src/service/onboarding/parameter-store.ts";
import type { Database, Queryable } from "../../src/service/platform/store/database.ts";
import { migrationNames } from "../../src/service/platform/store/migrate.ts";
import { Secret } from "../../src/service/platform/telemetry/secret.ts";
import { checkRest } from "../sim/check-rest.ts";
import { onboardOverSim } from "../sim/onboard-over.ts";
import { type SimLocalnet, startSimLocalnet } from "../sim/sim-localnet.ts";
import { restClient } from "../soak/rest-client.ts";
import { testDatabase } from "../support/database/postgres.ts";
import { testRedis } from "../support/database/redis.ts";
import { type RedisProxy, startRedisProxy } from "../support/database/redis-proxy.ts";
import { layoutOfSignMessage, projectWith, TEST_ORIGIN, TEST_TRIPLE } from "../support/database/rows.ts";
import { openTestPool } from "../support/database/test-pool.ts";
import { atNight, environment } from "../support/environment.ts";
import { pollUntil } from "../support/poll-until.ts";
import type { ProtocolClient } from "../support/service/protocol-clients.ts";
import { type ServiceProcess, serviceFolder, startService } from "../support/service/service.ts";
import { base64, signEnd } from "../support/service/user.ts";
import { type Watched, watchToEnd } from "../support/watch-to-end.ts";

/** A database number of Redis that no other test uses, so that it can be flushed. */
const REDIS_DATABASE = "5";
const SLOTS = ["api", "worker", "api", "worker"] as const;
const SIGNERS_AT_ONCE = environment.isReference ? 4 : 2;
/** A time-out for anything that must make progress. The lease of a killed worker alone lasts ten seconds. */
const PROGRESS_MS = 180_000;

const postgres = await testDatabase();
const redisUrl = await testRedis();
const { folder, remove } = serviceFolder();

describe.skipIf(!postgres || !redisUrl)("two api and two worker replicas", () => {
  const replicas: (ServiceProcess | undefined)[] = [];
  const openStreams = new Map<string, number>();
  const watched = new Map<string, Watched>();
  let redis: RedisProxy;
  let localnet: SimLocalnet;
  let database: Database;
  let apiKey = "";
  let protocolClient: ProtocolClient;
  const urlsOf = (type: (typeof SLOTS)[number]) =>
    SLOTS.flatMap((slot, index) => (slot === type ? (replicas[index]?.access.baseUrl ?? []) : []));
  const apis = () => urlsOf("api");

  async function start(index: number): Promise<void> {
    replicas[index] = await startService(path.join(folder, String(index)), {
      DATABASE_URL: postgres!.url,
      REDIS_URL: `${redis.url}/${REDIS_DATABASE}`,
      LOCALNET_URL: localnet.url,
      PROCESS_TYPE: SLOTS[index]!,
      PRESIGN_BUCKETS: "SECP256K1/ECDSASecp256k1",
      PRESIGN_POOL_LOW_WATER: "8",
      PROTOCOL_PARAMETERS: "on",
      LOG_LEVEL: "info",
      ...(SLOTS[index] === "worker" && { METRICS_PORT: "0" }),
    });
  }

  beforeAll(async () => {
    [redis, localnet] = await Promise.all([startRedisProxy(redisUrl!), startSimLocalnet()]);
    // Real tables cannot be built from this network's key, so the service spends no time on them.
    for (const index of SLOTS.keys()) {
      const data = path.join(folder, String(index));
      mkdirSync(data);
      const store = createParameterStore(data);
      for (let curve = 0; curve < 4; curve++)
        await store.put(localnet.networkEncryptionKeyId, curve, Uint8Array.of(curve));
    }
    await Promise.all(SLOTS.map((_, index) => start(index)));
    database = await openTestPool(postgres!.url);
    const projectId = await projectWith(database, 1_000_000_000n);
    const key = await insertApiKey(database, TEST_ORIGIN, { projectId, name: "replicas", scopes: SCOPES });
    apiKey = key.plaintext;
    protocolClient = restClient(apis, apiKey);
  });

  afterAll(async () => {
    for (const replica of replicas) await replica?.crash();
    await localnet?.stop();
    await redis?.kill();
    await database?.close();
    await postgres?.drop();
    remove();
  });

  it("start together on an empty database and migrate it once", async () => {
    const rows = await database.query<{ name: string }>(
      "SELECT migration_name AS name FROM _prisma_migrations ORDER BY migration_name, id",
    );
    expect(rows.map(({ name }) => name)).toEqual(await migrationNames());
  });

  it("become ready by the same checks", async () => {
    for (const replica of replicas) {
      const names = ["database", "migrations", "fullnode", "outbox", "lanes", "redis"];
      // On a busy machine a check may be late once.
      const ready = await pollUntil(async () => {
        const reply = await fetch(`${replica!.access.baseUrl}/v1/ready`);
        const body = (await reply.json()) as { status: string };
        return body.status === "ready" && { status: reply.status, body };
      });
      const checks = names.map((name) => ({ name, status: "ok" }));
      expect(ready).toEqual({ status: 200, body: { status: "ready", checks } });
    }
  });

  it("divide the work: only workers drive lanes, and only api replicas build parameters", () => {
    for (const [index, replica] of replicas.entries()) {
      const parts = replica!.log.flatMap((line) => /"part":"([^"]+)".*"started"/.exec(line)?.[1] ?? []);
      const actsOnChain = ["submitter", "settler", "gas keeper", "expiry"].map((part) =>
        parts.includes(part),
      );
      expect(actsOnChain).toEqual(Array(4).fill(SLOTS[index] === "worker"));
      expect(parts.includes("parameters")).toBe(SLOTS[index] === "api");
    }
  });

  it("of the type api have no key, and give callers the workers' wallet and the addresses that workers make", async () => {
    const headers = { "x-api-key": apiKey };
    const answers = await Promise.all(
      apis().map(async (url) => {
        const network = await fetch(`${url}/v1/network`, { headers });
        const deposit = await fetch(`${url}/v1/billing/deposit-address?reference=replicas`, { headers });
        const { senderAddresses } = (await network.json()) as { senderAddresses: string[] };
        const { address } = (await deposit.json()) as { address: string };
        return { senderAddresses, address };
      }),
    );
    const hotWallet = Ed25519Keypair.fromSecretKey(localnetHotWalletSecret()).toSuiAddress();
    const projects = await database.query<{ id: string }>("SELECT id FROM project", []);
    const owner = { projectId: projects[0]!.id, reference: "replicas" };
    const address = deriveDepositKey(new Secret(localnetDepositSeed()), "localnet", owner).toSuiAddress();
    expect(answers).toEqual(Array(2).fill({ senderAddresses: [hotWallet], address }));
  });

  it("of the type worker refuse calls and answer probes", async () => {
    const [index, baseUrl] = [SLOTS.indexOf("worker"), urlsOf("worker")[0]!];
    const rest = await fetch(`${baseUrl}/v1/billing/balance`, { headers: { "x-api-key": apiKey } });
    expect([rest.status, await rest.text()]).toEqual([404, expect.stringContaining("PROCESS_TYPE api")]);
    expect(await grpcCall(baseUrl, "/tss.v1.Billing/GetBalance")).toMatchObject({
      code: grpc.status.UNIMPLEMENTED,
      details: expect.stringContaining("PROCESS_TYPE api"),
    });
    expect(await grpcCall(baseUrl, "/grpc.health.v1.Health/Check")).toEqual(Buffer.from([8, 1]));
    expect((await fetch(`${baseUrl}/v1/health`)).status).toBe(200);
    expect((await fetch(`${baseUrl}/metrics`)).status).toBe(404);
    const line = replicas[index]!.log.find((one) => one.includes("metrics are served"));
    const { url } = JSON.parse(line!) as { url: string };
    expect(await (await fetch(url)).text()).toContain("service_");
    expect((await fetch(url.replace("/metrics", "/v1/health"))).status).toBe(404);
  });

  // By day, one replica of each type is killed.
  it("lose nothing and charge once when any replica is killed or Redis is flushed or lost", async () => {
    const dwallets = await Promise.all([onboardOverSim(protocolClient), onboardOverSim(protocolClient)]);
    let isOver = false;
    const signing = Promise.all(
      Array.from({ length: SIGNERS_AT_ONCE }, async (_, index) => {
        while (!isOver) await signOnce(dwallets[index % dwallets.length]!);
      }),
    );
    const more = (count: number) => {
      const wanted = watched.size + count;
      const isThere = pollUntil(() => watched.size >= wanted, { timeoutMs: PROGRESS_MS });
      return Promise.race([isThere, signing]);
    };
    const killAndStart = async (index: number) => {
      const url = replicas[index]!.access.baseUrl;
      // A kill must also break streams, and transactions whose outcome is not yet recorded.
      const isBusy =
        SLOTS[index] === "api" ? () => (openStreams.get(url) ?? 0) > 0 : () => hasStored(database);
      await pollUntil(isBusy, { timeoutMs: PROGRESS_MS, intervalMs: 1 });
      const victim = replicas[index]!;
      replicas[index] = undefined;
      await victim.crash();
      await more(4);
      await start(index);
      await more(4);
    };
    await more(4);
    await killAndStart(0);
    for (const index of atNight([1], [])) await killAndStart(index);
    await flush(`${redisUrl}/${REDIS_DATABASE}`);
    await more(4);
    for (const index of atNight([2], [])) await killAndStart(index);
    await redis.kill();
    await more(4);
    await killAndStart(3);
    await redis.revive();
    await more(4);
    isOver = true;
    await signing;

    const resumeCount = [...watched.values()].reduce((sum, each) => sum + each.resumeCount, 0);
    expect(resumeCount).toBeGreaterThan(0);
    for (const { states } of watched.values()) {
      const statuses = states.map(({ status }) => status);
      expect(statuses.at(-1)).toBe(Status.completed);
      // Each state is newer than the one before it, also across replicas.
      expect(statuses).toEqual([...new Set(statuses)].sort((a, b) => a - b));
    }
    const rows = await database.query<{ id: string; status: string; charges: number }>(
      `SELECT r.id, r.status, (SELECT count(*)::int FROM ledger_entry e
         WHERE e.key LIKE '%:' || r.id::text AND e.amount_micro_usd < 0) AS charges FROM sign_request r`,
    );
    const charged = new Map(rows.map(({ id, status, charges }) => [id, { status, charges }]));
    for (const id of watched.keys()) expect(charged.get(id)).toEqual({ status: "completed", charges: 1 });
  });

  it("queue the work of calls until a worker starts", async () => {
    for (const index of [1, 3]) {
      expect(await replicas[index]!.stop()).toBe(0);
      replicas[index] = undefined;
    }
    const fence = () => database.query("SELECT last_value AS fence FROM lane_fence");
    const before = await fence();
    const id = await reserveAndSubmit(await onboarded());
    const [row] = await database.query("SELECT status FROM sign_request WHERE id = $1", [id]);
    expect(row).toEqual({ status: "queued" });
    expect(await fence()).toEqual(before);
    await start(1);
    expect(await signEnd(protocolClient, id)).toMatchObject({ status: "completed" });
  });

  it("leave no open or unpaid request and no presign used twice, and stop cleanly", async () => {
    for (const replica of replicas.splice(0)) if (replica) expect(await replica.stop()).toBe(0);
    expect(await checkRest(database, localnet, TEST_TRIPLE)).toEqual([]);
  });

  /** Returns the id of an existing dWallet. */
  async function onboarded(): Promise<string> {
    const [row] = await database.query<{ id: string }>("SELECT object_id AS id FROM dwallet LIMIT 1");
    return row!.id;
  }

  async function signOnce(dwalletId: string): Promise<void> {
    const id = await reserveAndSubmit(dwalletId);
    const onStream = (url: string, isOpen: boolean) =>
      void openStreams.set(url, (openStreams.get(url) ?? 0) + (isOpen ? 1 : -1));
    watched.set(id, await watchToEnd(id, { baseUrls: apis, apiKey, onStream }));
  }

  async function reserveAndSubmit(dwalletId: string): Promise<string> {
    const { signRequestId } = await protocolClient.call("ReserveSign", {
      dwalletId,
      signatureAlgorithm: TEST_TRIPLE.signatureAlgorithm,
      hashScheme: TEST_TRIPLE.hash,
      message: base64(randomBytes(32)),
    });
    const userSignMessage = base64(layoutOfSignMessage());
    await protocolClient.call("SubmitSign", { signRequestId: signRequestId!, userSignMessage });
    return String(signRequestId);
  }
});

/** Whether a transaction is currently on its way to the chain. */
async function hasStored(db: Queryable): Promise<boolean> {
  return (await db.query("SELECT 1 FROM chain_transaction WHERE state = 'stored'", [])).length > 0;
}

/** Makes a unary call with an empty request. Returns the reply's bytes, or the error. */
function grpcCall(baseUrl: string, method: string): Promise<Buffer | grpc.ServiceError> {
  const client = new grpc.Client(new URL(baseUrl).host, grpc.credentials.createInsecure());
  const bytes = (value: Buffer) => value;
  return new Promise<Buffer | grpc.ServiceError>((resolve) => {
    client.makeUnaryRequest(method, bytes, bytes, Buffer.alloc(0), (error, reply) =>
      resolve(error ?? reply!),
    );
  }).finally(() => client.close());
}

/** Empties the database and the script cache. */
async function flush(url: string): Promise<void> {
  const client = new Redis(url);
  await client.flushdb();
  await client.script("FLUSH");
  client.disconnect();
}
