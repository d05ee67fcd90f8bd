/** One process and one database serve two networks. The fullnode of one of them is ill, and the other one notices nothing. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { onboardOverSim } from "../sim/onboard-over.ts";
import { type Face, grpcJsFace } from "../support/faces.ts";
import { type FrontState, type FullnodeFront, startFullnodeFront } from "../support/fullnode-front.ts";
import { testDatabase } from "../support/postgres.ts";
import { layoutOfSignMessage, moneyOf, TEST_TRIPLE } from "../support/rows.ts";
import { openTestPool } from "../support/test-pool.ts";
import {
  fundedProject,
  type PosingNetwork,
  posingNetwork,
  startTwoNetworks,
  type TwoNetworkService,
} from "../support/two-networks.ts";
import { base64, signEnd } from "../support/user.ts";

type Name = "testnet" | "mainnet";
const CREDIT = 10_000_000n;
const PRICES = { testnet: 1_000n, mainnet: 50_000n };
const COUNT = 6;
const test = await testDatabase();
afterAll(() => test?.drop());

describe.skipIf(test === undefined)("a network beside an ill one", () => {
  let networks: readonly [PosingNetwork, PosingNetwork];
  let front: FullnodeFront;
  let lyingFront: FullnodeFront;
  let service: TwoNetworkService;
  let projects: Record<Name, { projectId: string; apiKey: string }>;
  let dwalletIds: Record<Name, string>;
  const faces: Face[] = [];

  const start = async (fullnodeUrl: string) => {
    service = await startTwoNetworks(test!.url, networks, {
      SUI_GRPC_URL_TESTNET: fullnodeUrl,
      BILLING_PRICE_SIGN_MICRO_USD: String(PRICES.testnet),
      BILLING_PRICE_SIGN_MICRO_USD_MAINNET: String(PRICES.mainnet),
      PRESIGN_POOL_LOW_WATER: "2",
    });
  };
  const face = (name: Name): Face => {
    const made = grpcJsFace(service.url, projects[name].apiKey);
    faces.push(made);
    return made;
  };
  const reserve = async (over: Face, dwalletId: string, text: string) => {
    const { signatureAlgorithm, hash: hashScheme } = TEST_TRIPLE;
    const message = base64(new TextEncoder().encode(text));
    const reply = await over.call("ReserveSign", { dwalletId, signatureAlgorithm, hashScheme, message });
    return String(reply["signRequestId"]);
  };
  const submit = (over: Face, signRequestId: string) =>
    over.call("SubmitSign", { signRequestId, userSignMessage: base64(layoutOfSignMessage()) });
  const sign = async (name: Name, text: string) => {
    const over = face(name);
    const signRequestId = await reserve(over, dwalletIds[name], text);
    await submit(over, signRequestId);
    return signRequestId;
  };
  const signAll = async (name: Name, what: string) => {
    const ids = await Promise.all(Array.from({ length: COUNT }, (_, at) => sign(name, `${what} ${at}`)));
    const ends = await Promise.all(ids.map((id) => signEnd(face(name), id)));
    return ends.map(({ status }) => status);
  };
  const balanceOf = async (name: Name) => {
    const headers = { authorization: `Bearer ${projects[name].apiKey}` };
    const reply = await fetch(`${service.url}/v1/billing/balance`, { headers });
    return BigInt(((await reply.json()) as { balanceMicroUsd: string }).balanceMicroUsd);
  };
  const illChecks = async () => {
    const { status, checks } = (await (await fetch(`${service.url}/v1/ready`)).json()) as {
      status: string;
      checks: { name: string; status: string }[];
    };
    const names = checks.filter((check) => check.status === "failing").map(({ name }) => name);
    return { status, networks: [...new Set(names.map((name) => name.split(" ")[0]))] };
  };

  beforeAll(async () => {
    networks = [await posingNetwork("testnet"), await posingNetwork("mainnet")];
    const [testnet, mainnet] = networks.map(({ localnet }) => localnet.url);
    front = await startFullnodeFront(testnet!);
    lyingFront = await startFullnodeFront(testnet!, mainnet!);
    await start(front.url);
    projects = {
      testnet: await fundedProject(service.url, "testnet", String(CREDIT)),
      mainnet: await fundedProject(service.url, "mainnet", String(CREDIT)),
    };
    dwalletIds = {
      testnet: await onboardOverSim(face("testnet")),
      mainnet: await onboardOverSim(face("mainnet")),
    };
  });
  afterEach(() => {
    for (const one of faces.splice(0)) one.close();
  });
  afterAll(async () => {
    await service?.stop();
    await Promise.all([front?.close(), lyingFront?.close()]);
    await Promise.all((networks ?? []).map(({ localnet }) => localnet.close()));
  });

  it.each<[FrontState, string]>([
    ["hangs", "never answers"],
    ["refuses", "answers 429"],
    ["breaks", "closes every connection"],
    ["lies", "answers with bytes that mean nothing"],
  ])("signs all that it is asked for while the other's fullnode %s, which then goes on", async (state) => {
    const before = { testnet: await balanceOf("testnet"), mainnet: await balanceOf("mainnet") };
    // The reservation waits until the pool has a presign, which an ill fullnode could not give it.
    const stuck = await reserve(face("testnet"), dwalletIds.testnet, `stuck while it ${state}`);
    front.become(state);
    await submit(face("testnet"), stuck);
    expect(await signAll("mainnet", `beside one that ${state}`)).toEqual(Array(COUNT).fill("completed"));
    expect(await face("testnet").call("GetSign", { signRequestId: stuck })).toMatchObject({
      status: "queued",
    });
    expect(front.callCount()).toBeGreaterThan(0);
    expect(await illChecks()).toEqual({ status: "degraded", networks: ["testnet"] });
    front.become("honest");
    expect(await signEnd(face("testnet"), stuck)).toMatchObject({ status: "completed" });
    expect(before.testnet - (await balanceOf("testnet"))).toBe(PRICES.testnet);
    expect(before.mainnet - (await balanceOf("mainnet"))).toBe(BigInt(COUNT) * PRICES.mainnet);
  });

  it.each([
    ["cannot be reached", () => "http://127.0.0.1:9"],
    ["is of another chain", () => lyingFront.url],
  ])("starts and signs while the other's fullnode %s", async (_, urlOf) => {
    await service.stop();
    lyingFront.become("lies");
    await start(urlOf());
    expect(await signAll("mainnet", "after the start")).toEqual(Array(COUNT).fill("completed"));
    await expect(sign("testnet", "refused")).rejects.toThrow("testnet is not open");
    expect(await illChecks()).toMatchObject({ status: "degraded", networks: ["testnet"] });
    await service.stop();
    await start(front.url);
    expect(await signAll("testnet", "with its own fullnode again")).toEqual(Array(COUNT).fill("completed"));
  });

  it("keeps its money, whatever calls with keys of the other one name", async () => {
    const before = { testnet: await balanceOf("testnet"), mainnet: await balanceOf("mainnet") };
    const [own, stranger] = [face("mainnet"), face("testnet")];
    const open = await Promise.all(
      Array.from({ length: COUNT }, (_, at) => reserve(own, dwalletIds.mainnet, `race ${at}`)),
    );
    const outcomeOf = (call: Promise<unknown>) =>
      call.then(
        () => "done",
        () => "refused",
      );
    const outcomes = await Promise.all(
      open.flatMap((signRequestId, at) => [
        outcomeOf(submit(stranger, signRequestId)),
        outcomeOf(submit(own, signRequestId)),
        outcomeOf(stranger.call("GetSign", { signRequestId })),
        outcomeOf(reserve(stranger, dwalletIds.mainnet, `stolen ${at}`)),
      ]),
    );
    expect(outcomes).toEqual(open.flatMap(() => ["refused", "done", "refused", "refused"]));
    const ends = await Promise.all(open.map((id) => signEnd(own, id)));
    expect(ends.map(({ status }) => status)).toEqual(open.map(() => "completed"));
    const after = { testnet: before.testnet, mainnet: before.mainnet - BigInt(COUNT) * PRICES.mainnet };
    const database = await openTestPool(test!.url);
    try {
      for (const name of ["testnet", "mainnet"] as const) {
        const money = await moneyOf(database, projects[name].projectId);
        expect(money).toEqual({ balance: after[name], held: 0n, differences: [] });
      }
    } finally {
      await database.close();
    }
  });
});
