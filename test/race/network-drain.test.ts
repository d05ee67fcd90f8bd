/** A network that accepts no new work next to one that does, in services on one real PostgreSQL. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { printed } from "../component/cli/run-cli.ts";
import { onboardOverSim } from "../sim/onboard-over.ts";
import { pollUntil } from "../support/poll-until.ts";
import { testDatabase } from "../support/postgres.ts";
import { grpcJsClient, type ProtocolClient } from "../support/protocol-clients.ts";
import { layoutOfSignMessage, TEST_TRIPLE } from "../support/rows.ts";
import {
  ADMIN_KEY,
  fundedProject,
  operatorCall,
  type PosingNetwork,
  posingNetwork,
  startTwoNetworks,
  type TwoNetworkService,
} from "../support/two-networks.ts";
import { base64, signEnd } from "../support/user.ts";

type Name = "testnet" | "mainnet";
const test = await testDatabase();
afterAll(() => test?.drop());

describe.skipIf(test === undefined)("a drained network", () => {
  let networks: PosingNetwork[];
  const services: TwoNetworkService[] = [];
  const clients: ProtocolClient[] = [];
  let apiKeys: Record<Name, string>;
  const dwalletIds = new Map<Name, string>();

  const start = async (served = networks): Promise<TwoNetworkService> => {
    const service = await startTwoNetworks(test!.url, served, { PRESIGN_POOL_LOW_WATER: "2" });
    services.push(service);
    return service;
  };
  const client = (name: Name, at = 0): ProtocolClient => {
    const made = grpcJsClient(services[at]!.url, apiKeys[name]);
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

  beforeAll(async () => {
    networks = await Promise.all([posingNetwork("testnet"), posingNetwork("mainnet")]);
    const { url } = await start();
    apiKeys = {
      testnet: (await fundedProject(url, "testnet", "10000000")).apiKey,
      mainnet: (await fundedProject(url, "mainnet", "10000000")).apiKey,
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

  it("is removed from the configuration without effect on the other network", async () => {
    await operate("drain", "testnet");
    for (const service of services.splice(0)) await service.stop();
    const { url } = await start(networks.filter(({ name }) => name === "mainnet"));
    expect(await submit("mainnet", String((await reserve("mainnet"))["signRequestId"]))).toMatchObject({
      status: "completed",
    });
    const refused = await fetch(`${url}/v1/billing/balance`, {
      headers: { authorization: `Bearer ${apiKeys.testnet}` },
    });
    expect(refused.status).toBe(403);
    expect(await refused.json()).toMatchObject({ details: [{ reason: "NETWORK_DISABLED" }] });
  });
});
