/** One process and one database serve two networks, each with its own chain, on a real PostgreSQL. */
import { status } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { NO_FAULTS } from "../../src/localnet/faults/fault-settings.ts";
import { printed, runCli } from "../component/cli/run-cli.ts";
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
import { layoutOfSignMessage, TEST_TRIPLE } from "../support/database/rows.ts";
import {
  connectWebClient,
  curlClient,
  grpcJsClient,
  type ProtocolClient,
} from "../support/service/protocol-clients.ts";
import { base64, signEnd } from "../support/service/user.ts";

const CREDIT = 10_000_000n;
const PRICES = { testnet: 1_000n, mainnet: 50_000n };
const test = await migratedDatabase();
afterAll(() => test?.drop());

describe.skipIf(test === undefined)("a process that serves two networks", () => {
  let networks: Record<"testnet" | "mainnet", PosingNetwork>;
  let service: TwoNetworkService;
  let projects: Record<"testnet" | "mainnet", { projectId: string; apiKey: string }>;
  const protocolClients: ProtocolClient[] = [];

  beforeAll(async () => {
    const [testnet, mainnet] = await Promise.all([posingNetwork("testnet"), posingNetwork("mainnet")]);
    networks = { testnet, mainnet };
    service = await startTwoNetworks(test!.url, [testnet, mainnet], {
      BILLING_PRICE_SIGN_MICRO_USD: String(PRICES.testnet),
      BILLING_PRICE_SIGN_MICRO_USD_MAINNET: String(PRICES.mainnet),
      PRESIGN_POOL_LOW_WATER: "2",
      MAX_WRONG_HALVES_PER_PROJECT_PER_MINUTE_TESTNET: "1",
      RATE_LIMIT_READ_PER_SECOND: "500",
      RATE_LIMIT_READ_PER_SECOND_MAINNET: "1",
      RATE_LIMIT_BURST_SECONDS_MAINNET: "3600",
    });
    projects = {
      testnet: await fundedProject(service.url, "testnet", String(CREDIT)),
      mainnet: await fundedProject(service.url, "mainnet", String(CREDIT)),
    };
  });
  afterAll(async () => {
    for (const protocolClient of protocolClients) protocolClient.close();
    await service?.stop();
    await Promise.all(Object.values(networks ?? {}).map(({ localnet }) => localnet.close()));
  });

  const keep = (protocolClient: ProtocolClient): ProtocolClient => {
    protocolClients.push(protocolClient);
    return protocolClient;
  };
  const protocolClient = (network: "testnet" | "mainnet") =>
    keep(grpcJsClient(service.url, projects[network].apiKey));
  const balanceOf = async (network: "testnet" | "mainnet") => {
    const headers = { authorization: `Bearer ${projects[network].apiKey}` };
    const reply = await fetch(`${service.url}/v1/billing/balance`, { headers });
    return BigInt(((await reply.json()) as { balanceMicroUsd: string }).balanceMicroUsd);
  };
  const submitSign = async (over: ProtocolClient, dwalletId: string, text: string) => {
    const { signatureAlgorithm, hash: hashScheme } = TEST_TRIPLE;
    const message = base64(new TextEncoder().encode(text));
    const request = { dwalletId, signatureAlgorithm, hashScheme, message };
    const { signRequestId } = await over.call("ReserveSign", request);
    const userSignMessage = base64(layoutOfSignMessage());
    await over.call("SubmitSign", { signRequestId: signRequestId!, userSignMessage });
    return signRequestId!;
  };

  it.each([
    ["gRPC", (key: string, network?: string) => grpcJsClient(service.url, key, network)],
    ["Connect", (key: string, network?: string) => connectWebClient(service.url, key, "connect", network)],
    ["gRPC-web", (key: string, network?: string) => connectWebClient(service.url, key, "grpc-web", network)],
    ["REST", (key: string, network?: string) => curlClient(service.url, key, network)],
  ])("answers over %s for the network in the header, or else for the key's network", async (_, open) => {
    const described = async (key: string, network?: string) =>
      (await keep(open(key, network)).call("GetNetwork", {}))["network"];
    const { testnet, mainnet } = projects;
    expect(await described(testnet.apiKey)).toBe("testnet");
    expect(await described(mainnet.apiKey)).toBe("mainnet");
    expect(await described("", "testnet")).toBe("testnet");
    expect(await described("", "mainnet")).toBe("mainnet");
    await expect(described("")).rejects.toThrow(/x-network/);
    await expect(described("", "localnet")).rejects.toThrow(/does not serve/);
  });

  it("refuses a project's call whose header names another network than its key", async () => {
    const call = (network: string) =>
      fetch(`${service.url}/v1/billing/balance`, {
        headers: { authorization: `Bearer ${projects.testnet.apiKey}`, "x-network": network },
      });
    expect((await call("testnet")).status).toBe(200);
    const refused = await call("mainnet");
    expect(refused.status).toBe(401);
    expect(await refused.json()).toMatchObject({ details: [{ reason: "NETWORK_MISMATCH" }] });
  });

  it("lists both networks for an operator, and requires the header if a call is about one", async () => {
    const listed = async (network?: string) => {
      const { reply } = await operatorCall(service.url, "/v1/admin/projects", network ? { network } : {});
      return (reply["projects"] as { network: string }[]).map((project) => project.network).sort();
    };
    expect(await listed()).toEqual(["mainnet", "testnet"]);
    expect(await listed("testnet")).toEqual(["testnet"]);
    const { status, reply } = await operatorCall(service.url, "/v1/admin/projects", { body: { name: "x" } });
    expect(status).toBe(400);
    expect(JSON.stringify(reply)).toContain("x-network");
    const treasuries = await Promise.all(
      ["testnet", "mainnet"].map((network) => operatorCall(service.url, "/v1/admin/treasury", { network })),
    );
    const idOf = ({ treasury }: Record<string, unknown>) => (treasury as { treasuryId: string }).treasuryId;
    expect(treasuries.map(({ reply: found }) => idOf(found))).toEqual([
      networks.testnet.localnet.treasury.treasuryId,
      networks.mainnet.localnet.treasury.treasuryId,
    ]);
  });

  it("lets `tss` name the network, and requires it if the command needs one", async () => {
    const asOperator = { TSS_URL: service.url, ADMIN_API_KEY: ADMIN_KEY };
    const projectsOf = async (...argv: string[]) =>
      (await printed(["project", "list", ...argv, "--json"], asOperator))
        .split("\n")
        .map((line) => (JSON.parse(line) as { network: string }).network)
        .sort();
    expect(await projectsOf()).toEqual(["mainnet", "testnet"]);
    expect(await projectsOf("--network", "testnet")).toEqual(["testnet"]);
    expect(await printed(["treasury", "--network", "mainnet", "--json"], asOperator)).toContain(
      networks.mainnet.localnet.treasury.treasuryId,
    );
    const refused = await runCli(["treasury"], asOperator);
    expect(refused.exitCode).toBe(1);
    expect(refused.err).toContain("x-network");
    const create = ["project", "create", "--name", "direct", "--direct"];
    expect(await runCli(create, service.environment)).toMatchObject({
      exitCode: 2,
      err: expect.stringContaining("--network is missing: the database has several networks"),
    });
  });

  it("verifies as many wrong halves of a project as its own network allows", async () => {
    const endsOn = async (network: "testnet" | "mainnet") => {
      const { apiKey } = await fundedProject(service.url, network, String(CREDIT));
      const over = keep(grpcJsClient(service.url, apiKey));
      const { signatureAlgorithm, hash: hashScheme } = TEST_TRIPLE;
      const request = {
        dwalletId: await onboardOverSim(over),
        signatureAlgorithm,
        hashScheme,
        message: "aGk=",
      };
      const { signRequestId } = await over.call("ReserveSign", request);
      const ends: number[] = [];
      for (let count = 0; count < 4; count++) {
        const half = { signRequestId: signRequestId!, userSignMessage: base64(new Uint8Array(100)) };
        ends.push(
          await over.call("SubmitSign", half).then(
            () => 0,
            ({ code }: { code: number }) => code,
          ),
        );
      }
      return ends;
    };
    const [wrong, tooMany] = [status.INVALID_ARGUMENT, status.RESOURCE_EXHAUSTED];
    expect(await endsOn("testnet")).toEqual([wrong, wrong, tooMany, tooMany]);
    expect(await endsOn("mainnet")).toEqual([wrong, wrong, wrong, wrong]);
  });

  it("limits calls with a project's key by the limits of its network, and other calls by the common limits", async () => {
    const limitOf = async (route: string, headers: Record<string, string>) =>
      (await fetch(service.url + route, { headers })).headers.get("ratelimit-limit");
    const limits = async (network: "testnet" | "mainnet") => [
      await limitOf("/v1/billing/balance", { authorization: `Bearer ${projects[network].apiKey}` }),
      await limitOf("/v1/network", { "x-network": network }),
      await limitOf("/v1/admin/projects", { authorization: `Bearer ${ADMIN_KEY}`, "x-network": network }),
    ];
    expect(await limits("testnet")).toEqual(["5000", "5000", "5000"]);
    expect(await limits("mainnet")).toEqual(["3600", "5000", "5000"]);
  });

  it("signs on both at each network's own price, and completes every signature on one while the other hangs", async () => {
    const [onTestnet, onMainnet] = [protocolClient("testnet"), protocolClient("mainnet")];
    const [testnetId, mainnetId] = await Promise.all([onboardOverSim(onTestnet), onboardOverSim(onMainnet)]);
    const [testnetBefore, mainnetBefore] = [await balanceOf("testnet"), await balanceOf("mainnet")];
    const first = await submitSign(onTestnet, testnetId, "before");
    expect(await signEnd(onTestnet, first)).toMatchObject({ status: "completed" });

    // Every call to the fullnode hangs until its client gives up.
    networks.testnet.localnet.faults.set({ ...NO_FAULTS, timeout: 1 });
    const stuck = await submitSign(onTestnet, testnetId, "stuck");
    const load = Array.from({ length: 40 }, () =>
      keep(protocolClient("testnet"))
        .call("GetNetwork", {})
        .then(
          () => "answered",
          ({ code, details }: { code: number; details: string }) => `${code} ${details}`,
        ),
    );
    const texts = Array.from({ length: 12 }, (_, at) => `message ${at}`);
    const signed = await Promise.all(
      texts.map(async (text) => signEnd(onMainnet, await submitSign(onMainnet, mainnetId, text))),
    );
    expect(signed.map(({ status }) => status)).toEqual(texts.map(() => "completed"));
    expect(await onTestnet.call("GetSign", { signRequestId: stuck })).toMatchObject({ status: "queued" });
    const ready = await fetch(`${service.url}/v1/ready`);
    const { status: readiness, checks } = (await ready.json()) as {
      status: string;
      checks: { name: string; status: string }[];
    };
    expect([ready.status, readiness]).toEqual([200, "degraded"]);
    expect(checks.filter((check) => check.status === "failing").map(({ name }) => name)).toEqual([
      "testnet fullnode",
    ]);

    networks.testnet.localnet.faults.set(NO_FAULTS);
    expect(await signEnd(onTestnet, stuck)).toMatchObject({ status: "completed" });
    const ends = ["answered", "14 the fullnode does not answer"];
    expect((await Promise.all(load)).filter((end) => !ends.includes(end))).toEqual([]);
    expect(testnetBefore - (await balanceOf("testnet"))).toBe(2n * PRICES.testnet);
    expect(mainnetBefore - (await balanceOf("mainnet"))).toBe(12n * PRICES.mainnet);
  });
});
