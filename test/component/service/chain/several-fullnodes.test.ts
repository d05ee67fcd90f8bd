/** The service's work on a chain with two fullnodes, of which the first one fails. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { type Clock, systemClock } from "../../../../src/service/platform/lifecycle/clock.ts";
import { requestPresigns } from "../../../../src/service/presigns/request-presigns.ts";
import { type ChainService, startChainService } from "../../../support/chain/chain-service.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { type ObservedDatabase, observeDatabase } from "../../../support/database/observe-database.ts";
import { type Harness, startHarness } from "../../localnet/harness.ts";

const FIRST = "http://first.example/key";
const SECOND = "http://second.example";
const EXECUTE = "/ExecuteTransaction";
/** A lagging fullnode catches up after this many calls. */
const LATE_COUNT = 30;
/** The time of an attempt to read while another fullnode can be asked. */
const ATTEMPT_MS = 4_000;
let harness: Harness;
let database: ObservedDatabase;
let service: ChainService | undefined;

beforeEach(async () => {
  harness = await startHarness();
  database = observeDatabase(await openTestDatabase());
}, DATABASE_TIMEOUT_MS);
afterEach(async () => {
  await service?.stop();
  service = undefined;
  await database.close();
  await harness.close();
});

type Fullnode = (route: string, init?: RequestInit) => Promise<Response>;

const localnet: Fullnode = (route, init) => fetch(harness.net.url + route, init);

/** Starts the chain service with handlers for the two fullnodes. Returns the growing list of calls. */
async function start(first: Fullnode, second = localnet, clock = systemClock): Promise<string[]> {
  const routes: string[] = [];
  service = await startChainService(database, harness.net, {
    fullnodeUrls: [FIRST, SECOND],
    clock,
    fetch(input, init) {
      const url = String(input);
      const [host, base] = url.startsWith(FIRST)
        ? (["first", FIRST] as const)
        : (["second", SECOND] as const);
      const route = url.slice(base.length);
      routes.push(`${host} ${route.split("/").at(-1)}`);
      return host === "first" ? first(route, init) : second(route, init);
    },
  });
  return routes;
}

/**
 * Requests a presign and waits until `readyCount` are ready. Returns the number of transactions that the lanes sent.
 */
async function presignOnce(readyCount = 1): Promise<number> {
  const { networkEncryptionKeyId } = harness.net;
  const bucket = { network: "localnet", curve: 0, signatureAlgorithm: 0, networkEncryptionKeyId };
  await requestPresigns(database, bucket, 1);
  await database.until(
    async (db) => (await db.query("SELECT 1 FROM presign WHERE state = 'ready'")).length === readyCount,
  );
  const sql = "SELECT t.state FROM chain_transaction t JOIN chain_operation o ON o.tx_digest = t.digest";
  const rows = await database.query<{ state: string }>(sql);
  expect(rows.map(({ state }) => state)).toEqual(rows.map(() => "landed"));
  return rows.length;
}

it("the chain service uses the second fullnode while the first one cannot be reached", async () => {
  const routes = await start(() => Promise.reject(new TypeError("fetch failed")));
  expect(await presignOnce()).toBe(1);
  expect(routes).toContain("second ExecuteTransaction");
  expect(service!.network.fullnodes()).toMatchObject([
    { host: "first.example", fault: "fetch failed" },
    { host: "second.example", isServing: true },
  ]);
  expect(service!.alarms).toEqual([]);
});

it("the chain service works over native gRPC, beside a fullnode of gRPC-web that cannot be reached", async () => {
  const native = harness.net.url.replace("http:", "grpc:");
  service = await startChainService(database, harness.net, { fullnodeUrls: ["http://127.0.0.1:1", native] });
  expect(await presignOnce()).toBe(1);
  expect(service.network.fullnodes()).toMatchObject([
    { isServing: false },
    { isServing: true, fault: undefined },
  ]);
  expect(service.alarms).toEqual([]);
});

it("the chain service uses the second fullnode if the first one never answers, from its first use", async () => {
  const attempts = new Set<() => void>();
  const clock: Clock = {
    ...systemClock,
    after(durationMs, call) {
      if (durationMs !== ATTEMPT_MS) return systemClock.after(durationMs, call);
      attempts.add(call);
      return () => attempts.delete(call);
    },
  };
  const routes = await start(
    () => {
      // Every attempt times out as soon as the first fullnode gets a call.
      for (const end of attempts) end();
      return new Promise(() => {});
    },
    localnet,
    clock,
  );
  expect(await presignOnce()).toBe(1);
  expect(new Set(routes.filter((route) => route.startsWith("first ")))).toEqual(
    new Set(["first GetServiceInfo"]),
  );
  expect(service!.network.fullnodes()).toMatchObject([
    // The limit of an attempt says so, or that of the regular check of each fullnode on a slow machine.
    { host: "first.example", fault: expect.stringMatching(/does not answer in time|no answer within/) },
    { host: "second.example", isServing: true },
  ]);
  // A call to the second fullnode can exceed its limit on a slow machine.
  for (const alarm of service!.alarms)
    expect(alarm).toMatchObject({ cause: { message: expect.stringContaining("no answer within") } });
});

it("a transaction lands once if the first fullnode executes it but never answers", async () => {
  let executedCount = 0;
  const routes = await start(async (route, init) => {
    const response = await fetch(harness.net.url + route, init);
    if (!route.endsWith(EXECUTE)) return response;
    await response.arrayBuffer();
    executedCount += 1;
    throw new TypeError("the connection broke");
  });
  expect(await presignOnce()).toBe(1);
  expect(executedCount).toBeGreaterThan(0);
  expect(routes).toContain("second ExecuteTransaction");
  expect(service!.alarms).toEqual([]);
});

it("a transaction lands once if the first fullnode executes it and fails, and the second one lags behind", async () => {
  let isFirstDown = false;
  let executedCount = 0;
  let lateCount = 0;
  const { faults } = harness.net;
  await start(
    async (route, init) => {
      if (isFirstDown && route.endsWith(EXECUTE) && executedCount++ === 0)
        await (await localnet(route, init)).arrayBuffer();
      if (isFirstDown && executedCount > 0) throw new TypeError("fetch failed");
      return localnet(route, init);
    },
    async (route, init) => {
      lateCount += 1;
      if (lateCount === LATE_COUNT) faults.set({ staleRead: 0 });
      if (lateCount < LATE_COUNT && route.endsWith(EXECUTE)) return new Response(null, { status: 503 });
      return localnet(route, init);
    },
  );
  expect(await presignOnce()).toBe(1);
  isFirstDown = true;
  // The second fullnode shows the chain as it was before the first presign.
  faults.set({ staleRead: 1, staleCommits: 10 });
  expect(await presignOnce(2)).toBe(2);
  expect(lateCount).toBeGreaterThan(LATE_COUNT);
  for (const alarm of service!.alarms)
    expect(alarm).toMatchObject({ cause: { message: expect.stringContaining("no outcome yet") } });
});

it("nothing is sent to a first fullnode that serves another chain", async () => {
  const other = await startHarness({ seed: new Uint8Array(32).fill(5) });
  try {
    const { chainIdentifier } = await harness.client.core.getChainIdentifier();
    const { chainIdentifier: foreign } = await other.client.core.getChainIdentifier();
    expect(foreign).not.toBe(chainIdentifier);
    // The first fullnode fails once, because the first answer decides which chain the service is on.
    let hasFailed = false;
    const routes = await start((route, init) => {
      if (hasFailed) return fetch(other.net.url + route, init);
      hasFailed = true;
      return Promise.reject(new TypeError("fetch failed"));
    });
    expect(await presignOnce()).toBe(1);
    expect(new Set(routes.filter((route) => route.startsWith("first ")))).toEqual(
      new Set(["first GetServiceInfo"]),
    );
  } finally {
    await other.close();
  }
});
