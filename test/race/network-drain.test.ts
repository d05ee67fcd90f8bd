/** A network that accepts no new work next to one that does, in services on one real PostgreSQL. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Database } from "../../src/service/platform/store/database.ts";
import { printed } from "../component/cli/run-cli.ts";
import { onboardOverSim } from "../sim/onboard-over.ts";
import {
  ADMIN_KEY,
  fundedProject,
  operatorCall,
  type PosingNetwork,
  posingNetwork,
  startTwoNetworks,
  type TwoNetworkService,
} from "../support/chain/two-networks.ts";
import { migratedDatabase } from "../support/database/postgres.ts";
import { layoutOfSignMessage, moneyOf, TEST_TRIPLE } from "../support/database/rows.ts";
import { openTestPool } from "../support/database/test-pool.ts";
import { pollUntil } from "../support/poll-until.ts";
import { grpcJsClient, type ProtocolClient } from "../support/service/protocol-clients.ts";
import { base64, signEnd } from "../support/service/user.ts";

type Name = "testnet" | "mainnet";
const test = await migratedDatabase();
afterAll(() => test?.drop());

describe.skipIf(test === undefined)("a drained network", () => {
  let networks: PosingNetwork[];
  const services: TwoNetworkService[] = [];
  const clients: ProtocolClient[] = [];
  let projects: Record<Name, { projectId: string; apiKey: string }>;
  let left: { signRequestId: string; rowCounts: object };
  const dwalletIds = new Map<Name, string>();

  const start = async (served = networks, more: Record<string, string> = {}): Promise<TwoNetworkService> => {
    const service = await startTwoNetworks(test!.url, served, { PRESIGN_POOL_LOW_WATER: "2", ...more });
    services.push(service);
    return service;
  };
  const client = (name: Name, at = 0): ProtocolClient => {
    const made = grpcJsClient(services[at]!.url, projects[name].apiKey);
    clients.push(made);
    return made;
  };
  const reserve = (name: Name, at = 0) => {
    const { signatureAlgorithm, hash: hashScheme } = TEST_TRIPLE;
    const message = base64(new TextEncoder().encode("a message"));
    const request = { dwalletId: dwalletIds.get(name)!, signatureAlgorithm, hashScheme, message };
    return client(name, at).call("ReserveSign", request);
  };
  const submit = async (name: Name, signRequestId: string) => {
    const over = client(name);
    await over.call("SubmitSign", { signRequestId, userSignMessage: base64(layoutOfSignMessage()) });
    return signEnd(over, signRequestId);
  };
  const operate = async (action: "drain" | "resume" | "status", name: Name) => {
    const service = { TSS_URL: services[0]!.url, ADMIN_API_KEY: ADMIN_KEY };
    const { work } = JSON.parse(await printed(["network", action, "--network", name, "--json"], service)) as {
      work: { idle?: boolean; drainTime?: string; openReservations?: number };
    };
    return work;
  };
  const restart = async (...how: Parameters<typeof start>) => {
    for (const one of clients.splice(0)) one.close();
    for (const service of services.splice(0)) await service.stop();
    return start(...how);
  };
  const auditList = (...more: string[]) =>
    printed(["audit", "list", ...more], { TSS_URL: services[0]!.url, ADMIN_API_KEY: ADMIN_KEY });
  const onDatabase = async <T>(use: (database: Database) => Promise<T>): Promise<T> => {
    const database = await openTestPool(test!.url);
    try {
      return await use(database);
    } finally {
      await database.close();
    }
  };
  const rowCounts = async (database: Database): Promise<object> => {
    const [counts] = await database.query<object>(
      `SELECT (SELECT count(*)::int FROM project WHERE network = 'testnet') AS projects,
              (SELECT count(*)::int FROM dwallet WHERE network = 'testnet') AS dwallets,
              (SELECT count(*)::int FROM presign WHERE network = 'testnet') AS presigns,
              (SELECT count(*)::int FROM sign_request WHERE network = 'testnet') AS signatures`,
    );
    return counts!;
  };

  beforeAll(async () => {
    networks = await Promise.all([posingNetwork("testnet"), posingNetwork("mainnet")]);
    const { url } = await start();
    projects = {
      testnet: await fundedProject(url, "testnet", "10000000"),
      mainnet: await fundedProject(url, "mainnet", "10000000"),
    };
    for (const name of ["testnet", "mainnet"] as const)
      dwalletIds.set(name, await onboardOverSim(client(name)));
  });
  afterAll(async () => {
    for (const one of clients) one.close();
    for (const service of services) await service.stop();
    await Promise.all((networks ?? []).map(({ localnet }) => localnet.close()));
  });

  it("refuses new work on every replica, completes work in progress, and does not affect the other network", async () => {
    const signRequestId = String((await reserve("testnet"))["signRequestId"]);
    expect(await operate("drain", "testnet")).toMatchObject({
      drainTime: expect.any(String),
      openReservations: 1,
    });
    await start();
    for (const at of [0, 1]) {
      await expect(reserve("testnet", at)).rejects.toThrow("testnet takes no new work");
      await expect(onboardOverSim(client("testnet", at))).rejects.toThrow("testnet takes no new work");
    }
    const refill = { curveName: "SECP256K1", signatureAlgorithmName: "ECDSASecp256k1", count: 1 };
    const { reply } = await operatorCall(services[0]!.url, "/v1/admin/presigns/refill", {
      network: "testnet",
      body: refill,
    });
    expect(reply).toMatchObject({ details: [{ reason: "NETWORK_DRAINING" }] });

    expect(await submit("testnet", signRequestId)).toMatchObject({ status: "completed" });
    expect(await submit("mainnet", String((await reserve("mainnet"))["signRequestId"]))).toMatchObject({
      status: "completed",
    });
    expect((await operate("status", "mainnet")).drainTime).toBeUndefined();
  });

  it("ends without work in progress, because it requests no more presigns", async () => {
    await pollUntil(async () => (await operate("status", "testnet")).idle);
    const shown = await printed(["network", "status", "--network", "testnet"], {
      TSS_URL: services[0]!.url,
      ADMIN_API_KEY: ADMIN_KEY,
    });
    expect(shown).toContain("nothing is under way");
    expect(shown).toContain("can be removed from NETWORKS");
  });

  it("keeps the time of its first drain, and accepts new work after it is resumed", async () => {
    const { drainTime } = await operate("status", "testnet");
    expect((await operate("drain", "testnet")).drainTime).toBe(drainTime);
    expect((await operate("resume", "testnet")).drainTime).toBeUndefined();
    expect(await submit("testnet", String((await reserve("testnet"))["signRequestId"]))).toMatchObject({
      status: "completed",
    });
  });

  it("is drained, shown and resumed while no replica can reach it", async () => {
    await restart(networks, { SUI_GRPC_URL_TESTNET: "http://127.0.0.1:9" });
    await expect(reserve("testnet")).rejects.toThrow("testnet is not open");
    expect(await operate("drain", "testnet")).toMatchObject({ drainTime: expect.any(String) });
    expect(await operate("status", "testnet")).toMatchObject({ drainTime: expect.any(String) });
    expect((await operate("resume", "testnet")).drainTime).toBeUndefined();
    await restart();
  });

  it("is removed from the configuration without effect on the other network", async () => {
    const signRequestId = String((await reserve("testnet"))["signRequestId"]);
    await operate("drain", "testnet");
    const { url } = await restart(networks.filter(({ name }) => name === "mainnet"));
    left = { signRequestId, rowCounts: await onDatabase(rowCounts) };
    expect(await submit("mainnet", String((await reserve("mainnet"))["signRequestId"]))).toMatchObject({
      status: "completed",
    });
    const refused = await fetch(`${url}/v1/billing/balance`, {
      headers: { authorization: `Bearer ${projects.testnet.apiKey}` },
    });
    expect(refused.status).toBe(403);
    expect(await refused.json()).toMatchObject({ details: [{ reason: "NETWORK_DISABLED" }] });
  });

  it("ends a reservation that was left on it, and returns its credit", async () => {
    const { signRequestId } = left;
    const { projectId } = projects.testnet;
    await onDatabase(async (database) => {
      expect((await moneyOf(database, projectId)).held).toBeGreaterThan(0n);
      await database.query("UPDATE sign_request SET expires_at = now() - interval '1 second' WHERE id = $1", [
        signRequestId,
      ]);
      await pollUntil(async () => (await moneyOf(database, projectId)).held === 0n);
      expect((await moneyOf(database, projectId)).differences).toEqual([]);
    });
  });

  it("shows its audit events to an operator who names it", async () => {
    expect(await auditList()).not.toContain(projects.testnet.projectId);
    expect(await auditList("--network", "testnet")).toContain(projects.testnet.projectId);
  });

  it("has all its rows when it is added back, and takes new work once it is resumed", async () => {
    await restart();
    expect(await onDatabase(rowCounts)).toEqual(left.rowCounts);
    expect(await client("testnet").call("GetSign", { signRequestId: left.signRequestId })).toMatchObject({
      status: "failed",
    });
    await expect(reserve("testnet")).rejects.toThrow("testnet takes no new work");
    await operate("resume", "testnet");
    expect(await submit("testnet", String((await reserve("testnet"))["signRequestId"]))).toMatchObject({
      status: "completed",
    });
  });
});
