/** One process and one database serve two networks. The fullnode of one fails in every way, and the other is unaffected. */
import { randomBytes } from "node:crypto";
import dns from "node:dns/promises";
import { syncBuiltinESMExports } from "node:module";
import { toBase58 } from "@mysten/sui/utils";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { onboardOverSim } from "../sim/onboard-over.ts";
import { type FrontState, type FullnodeFront, startFullnodeFront } from "../support/chain/fullnode-front.ts";
import {
  fundedProject,
  type PosingNetwork,
  posingNetwork,
  startTwoNetworks,
  type TwoNetworkService,
} from "../support/chain/two-networks.ts";
import { migratedDatabase } from "../support/database/postgres.ts";
import { layoutOfSignMessage, moneyOf, TEST_TRIPLE } from "../support/database/rows.ts";
import { openTestPool } from "../support/database/test-pool.ts";
import { atNight } from "../support/environment.ts";
import { grpcJsClient, type ProtocolClient } from "../support/service/protocol-clients.ts";
import { base64, signEnd } from "../support/service/user.ts";

type Name = "testnet" | "mainnet";
const CREDIT = 10_000_000n;
const PRICES = { testnet: 1_000n, mainnet: 50_000n };
const COUNT = 6;
const DEPOSIT_SEED = randomBytes(32).toString("hex");
/** How calls of the ill network may end: those that read its chain, those that know it already, and reservations. */
type Ends = Readonly<Record<"declared" | "described" | "reserved", readonly string[]>>;
const UNREAD: Ends = {
  declared: ["CHAIN_UNAVAILABLE", "CHAIN_READS_EXHAUSTED"],
  described: ["done", "CHAIN_UNAVAILABLE"],
  reserved: ["done", "PRESIGN_POOL_EMPTY"],
};
const READ: Ends = { ...UNREAD, declared: ["DEPOSIT_NOT_FOUND", "CHAIN_READS_EXHAUSTED"] };
const test = await migratedDatabase();
afterAll(() => test?.drop());

describe.skipIf(test === undefined)("a network next to a failing one", () => {
  let networks: readonly [PosingNetwork, PosingNetwork];
  let front: FullnodeFront;
  let posingFront: FullnodeFront;
  let service: TwoNetworkService;
  let projects: Record<Name, { projectId: string; apiKey: string }>;
  let dwalletIds: Record<Name, string>;
  /** A project of the ill network that makes many calls. */
  let noisy: { projectId: string; apiKey: string };
  let noisyDWalletId: string;
  const clients: ProtocolClient[] = [];

  const start = async (fullnodeUrl: string) => {
    service = await startTwoNetworks(test!.url, networks, {
      SUI_GRPC_URL_TESTNET: fullnodeUrl,
      BILLING_PRICE_SIGN_MICRO_USD: String(PRICES.testnet),
      BILLING_PRICE_SIGN_MICRO_USD_MAINNET: String(PRICES.mainnet),
      PRESIGN_POOL_LOW_WATER: "2",
      MAX_OPEN_RESERVATIONS_PER_PROJECT: "1000",
      // Each failure in turn must find reads left.
      FULLNODE_PROJECT_READS_PER_SECOND: "1000",
      FULLNODE_CALLER_READS_PER_SECOND: "1000",
      BILLING_DEPOSIT_MASTER_SEED_HEX_TESTNET: DEPOSIT_SEED,
      BILLING_USD_PRICES_TESTNET: "SUI=1",
    });
  };
  const keep = (made: ProtocolClient): ProtocolClient => {
    clients.push(made);
    return made;
  };
  const client = (name: Name) => keep(grpcJsClient(service.url, projects[name].apiKey));
  const reserve = async (over: ProtocolClient, dwalletId: string, text: string) => {
    const { signatureAlgorithm, hash: hashScheme } = TEST_TRIPLE;
    const message = base64(new TextEncoder().encode(text));
    const reply = await over.call("ReserveSign", { dwalletId, signatureAlgorithm, hashScheme, message });
    return String(reply["signRequestId"]);
  };
  const submit = (over: ProtocolClient, signRequestId: string) =>
    over.call("SubmitSign", { signRequestId, userSignMessage: base64(layoutOfSignMessage()) });
  const sign = async (name: Name, text: string) => {
    const over = client(name);
    const signRequestId = await reserve(over, dwalletIds[name], text);
    await submit(over, signRequestId);
    return signRequestId;
  };
  const signAll = async (name: Name, what: string) => {
    const ids = await Promise.all(Array.from({ length: COUNT }, (_, at) => sign(name, `${what} ${at}`)));
    const ends = await Promise.all(ids.map((id) => signEnd(client(name), id)));
    return ends.map(({ status }) => status);
  };
  const balanceOf = async (name: Name) => {
    const headers = { authorization: `Bearer ${projects[name].apiKey}` };
    const reply = await fetch(`${service.url}/v1/billing/balance`, { headers });
    return BigInt(((await reply.json()) as { balanceMicroUsd: string }).balanceMicroUsd);
  };
  const outcomeOf = async (route: string, body?: object) => {
    const response = await fetch(`${service.url}${route}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${noisy.apiKey}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const { details } = (await response.json()) as { details?: { reason?: string }[] };
    return response.ok ? "done" : String(details?.find(({ reason }) => reason !== undefined)?.reason);
  };
  /** Makes a hundred calls at once, which all need the ill network. Resolves with how each of them ends. */
  const callIll = async () => {
    const { signatureAlgorithm, hash: hashScheme } = TEST_TRIPLE;
    const reservation = { dwalletId: noisyDWalletId, signatureAlgorithm, hashScheme, message: "bm9pc2U=" };
    const some = (count: number, call: () => Promise<string>) =>
      Promise.all(Array.from({ length: count }, call));
    const [declared, described, reserved] = await Promise.all([
      some(50, () => outcomeOf("/v1/billing/deposits", { txDigest: toBase58(randomBytes(32)) })),
      some(40, () => outcomeOf("/v1/network")),
      some(10, () => outcomeOf("/v1/sign", reservation)),
    ]);
    return { declared: new Set(declared), described: new Set(described), reserved: new Set(reserved) };
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
    front = await startFullnodeFront(testnet!, mainnet!);
    posingFront = await startFullnodeFront(testnet!, mainnet!);
    await start(front.url);
    projects = {
      testnet: await fundedProject(service.url, "testnet", String(CREDIT)),
      mainnet: await fundedProject(service.url, "mainnet", String(CREDIT)),
    };
    noisy = await fundedProject(service.url, "testnet", String(CREDIT));
    noisyDWalletId = await onboardOverSim(keep(grpcJsClient(service.url, noisy.apiKey)));
    dwalletIds = {
      testnet: await onboardOverSim(client("testnet")),
      mainnet: await onboardOverSim(client("mainnet")),
    };
  });
  afterEach(() => {
    for (const one of clients.splice(0)) one.close();
  });
  afterAll(async () => {
    await service?.stop();
    await Promise.all([front?.close(), posingFront?.close()]);
    await Promise.all((networks ?? []).map(({ localnet }) => localnet.close()));
  });

  it.each<[FrontState, string, Ends]>([
    ["hangs", "never answers", UNREAD],
    ...atNight<[FrontState, string, Ends]>(
      [
        ["slow", "answers late", { ...READ, declared: ["DEPOSIT_NOT_FOUND", ...UNREAD.declared] }],
        ["breaks", "closes every connection", UNREAD],
        ["refuses", "answers 429", UNREAD],
        ["disguises", "answers with what another chain holds, and does not name that chain", UNREAD],
        ["lies", "answers with bytes that mean nothing", UNREAD],
      ],
      [],
    ),
    ["poses", "answers with what another chain holds", UNREAD],
  ])(
    "signs all that it is asked for while the other's fullnode %s, which then goes on",
    async (state, _, ends) => {
      const before = { testnet: await balanceOf("testnet"), mainnet: await balanceOf("mainnet") };
      // The reservation waits until the pool has a presign, which a failing fullnode cannot provide.
      const stuck = await reserve(client("testnet"), dwalletIds.testnet, `stuck while it ${state}`);
      front.become(state);
      const passedCount = front.passedCount();
      await submit(client("testnet"), stuck);
      const illEnds = callIll();
      expect(await signAll("mainnet", `beside one that ${state}`)).toEqual(Array(COUNT).fill("completed"));
      expect(await client("testnet").call("GetSign", { signRequestId: stuck })).toMatchObject({
        status: "queued",
      });
      expect(front.callCount()).toBeGreaterThan(0);
      expect(await illChecks()).toEqual({ status: "degraded", networks: ["testnet"] });
      // All of this took place before the fullnode answered any of the calls above with the truth.
      expect(front.passedCount()).toBe(passedCount);
      if (state === "slow") front.release();
      const found = await illEnds;
      for (const kind of ["declared", "described", "reserved"] as const)
        expect([...found[kind]].filter((end) => !ends[kind].includes(end))).toEqual([]);
      if (state !== "slow") expect(found.declared).toContain(ends.declared[0]);
      front.become("honest");
      expect(await signEnd(client("testnet"), stuck)).toMatchObject({ status: "completed" });
      expect(before.testnet - (await balanceOf("testnet"))).toBe(PRICES.testnet);
      expect(before.mainnet - (await balanceOf("mainnet"))).toBe(BigInt(COUNT) * PRICES.mainnet);
    },
  );

  it.each(
    atNight<[string, () => string]>(
      [
        ["cannot be reached", () => "http://127.0.0.1:9"],
        ["is of another chain", () => posingFront.url],
      ],
      [["cannot be reached", () => "http://127.0.0.1:9"]],
    ),
  )("starts and signs while the other's fullnode %s", async (_, urlOf) => {
    await service.stop();
    posingFront.become("poses");
    await start(urlOf());
    expect(await signAll("mainnet", "after the start")).toEqual(Array(COUNT).fill("completed"));
    await expect(sign("testnet", "refused")).rejects.toThrow("testnet is not open");
    expect(await illChecks()).toMatchObject({ status: "degraded", networks: ["testnet"] });
    await service.stop();
    await start(front.url);
    expect(await signAll("testnet", "with its own fullnode again")).toEqual(Array(COUNT).fill("completed"));
  });

  it("starts and signs while no DNS server answers for the other's fullnode, whose name is asked for once", async () => {
    await service.stop();
    const asked: string[] = [];
    const resolver = vi.spyOn(dns, "lookup").mockImplementation((hostname) => {
      asked.push(hostname);
      return new Promise(() => {});
    });
    syncBuiltinESMExports();
    try {
      await start("http://unanswered.test");
      expect(await signAll("mainnet", "beside a name")).toEqual(Array(COUNT).fill("completed"));
      expect(await illChecks()).toMatchObject({ status: "degraded", networks: ["testnet"] });
      expect(asked).toEqual(["unanswered.test"]);
      await service.stop();
    } finally {
      resolver.mockRestore();
      syncBuiltinESMExports();
      await start(front.url);
    }
  });

  it("lets no key of the other network spend its credit", async () => {
    const before = { testnet: await balanceOf("testnet"), mainnet: await balanceOf("mainnet") };
    const [own, stranger] = [client("mainnet"), client("testnet")];
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
