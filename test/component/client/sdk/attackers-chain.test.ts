import { once } from "node:events";
import { createServer } from "node:http";
import { createServer as createHttp2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { createRouterTransport } from "@connectrpc/connect";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import {
  type GetNetworkResponse,
  GetNetworkResponseSchema,
  Onboarding,
} from "../../../../gen/proto/tss/v1/onboarding_pb.ts";
import { CHAIN_PINS, type IkaIds } from "../../../../src/client/sdk/chain/network.ts";
import { createClient } from "../../../../src/client/sdk/client.ts";
import type { CommonOptions } from "../../../../src/client/sdk/client-options.ts";
import type { Localnet } from "../../../../src/localnet/localnet.ts";
import { idsOf, startChain } from "../../../unit/client/sdk/chain-harness.ts";

const seed = new Uint8Array(32).fill(9);
const PUBLIC_URL = CHAIN_PINS.testnet.fullnodeUrls[0]!;
const IDS: IkaIds = CHAIN_PINS.testnet.ika;
/** The methods of a service that were called. */
let called: string[];
let attacker: Localnet;

beforeAll(async () => {
  attacker = await startChain();
});
afterAll(() => attacker.close());
afterEach(() => {
  vi.unstubAllGlobals();
});

const shared = ({ objectId, initialSharedVersion }: IkaIds["ikaSystemObject"]) => ({
  objectId,
  initialSharedVersion,
});
const announce = (ids: IkaIds): MessageInitShape<typeof GetNetworkResponseSchema> => ({
  network: "testnet",
  fullnodeUrl: attacker.url,
  senderAddresses: [`0x${"a".repeat(64)}`],
  networkEncryptionKeyId: attacker.networkEncryptionKeyId,
  ikaConfig: {
    ...ids,
    ikaSystemObject: shared(ids.ikaSystemObject),
    ikaDwalletCoordinator: shared(ids.ikaDwalletCoordinator),
  },
});

/** A client of a service that returns this from GetNetwork. It has all defaults unless a test changes them. */
function connect(
  answer: MessageInitShape<typeof GetNetworkResponseSchema>,
  options: Partial<CommonOptions> = {},
) {
  called = [];
  const reply: GetNetworkResponse = create(GetNetworkResponseSchema, answer);
  const transport = createRouterTransport(({ service }) => {
    service(Onboarding, {
      getNetwork() {
        called.push("getNetwork");
        return reply;
      },
      getDWallet({ dwalletId }) {
        called.push("getDWallet");
        return { dwalletId };
      },
      registerEncryptionKey() {
        called.push("registerEncryptionKey");
        return {};
      },
    });
  });
  return createClient({
    baseUrl: "http://service.invalid",
    apiKey: "tss_test_x",
    network: "testnet",
    transport,
    ...options,
  });
}

/** Redirects requests for the public fullnode to the attacker, as a hijacked name would, and records all URLs. */
function hijack(): string[] {
  const urls: string[] = [];
  const { fetch } = globalThis;
  vi.stubGlobal("fetch", (input: string, init: RequestInit) => {
    urls.push(input);
    return fetch(input.replace(PUBLIC_URL, attacker.url), init);
  });
  return urls;
}

describe("a service that poses as testnet with its own chain", () => {
  test("is refused because of its ids, and its fullnode is never called", async () => {
    const urls = hijack();
    const client = connect(announce(idsOf(attacker)));
    await expect(client.onboard({ seed, curve: "ED25519" })).rejects.toMatchObject({
      reason: "NETWORK_MISMATCH",
    });
    expect(called).toEqual(["getNetwork"]);
    expect(urls).toEqual([]);
  });

  test("does not choose the chain, which the client's own fullnode serves", async () => {
    const urls = hijack();
    const client = connect(announce(IDS));
    await expect(client.onboard({ seed, curve: "ED25519" })).rejects.toMatchObject({
      reason: "NETWORK_MISMATCH",
    });
    expect(urls).toEqual([`${PUBLIC_URL}/sui.rpc.v2.LedgerService/GetServiceInfo`]);
    expect(called).toEqual(["getNetwork"]);
  });

  test.each(["onboard", "resumeOnboard", "recoverShare", "sign"] as const)(
    "gets nothing by %s if the caller's own fullnode serves that chain",
    async (name) => {
      const client = connect(announce(IDS), { fullnodeUrl: attacker.url });
      const dwalletId = `0x${"d".repeat(64)}`;
      const curve = "ED25519";
      const actions = {
        onboard: () => client.onboard({ seed, curve }),
        resumeOnboard: () => client.resumeOnboard({ seed, curve, dwalletId }),
        recoverShare: () => client.recoverShare({ seed, curve, dwalletId }),
        sign: () => {
          const message = Uint8Array.of(1);
          return client.sign({
            seed,
            curve,
            dwalletId,
            message,
            signatureAlgorithm: "EdDSA",
            hashScheme: "SHA512",
          });
        },
      };
      await expect(actions[name]()).rejects.toMatchObject({ reason: "NETWORK_MISMATCH" });
      // Only reads were sent: other calls carry values that follow from the seed.
      expect(["getNetwork", "getDWallet"]).toEqual(expect.arrayContaining(called));
    },
  );

  test.each([
    ["ikaPackage", { ikaPackage: `0x${"1".repeat(64)}` }],
    ["ikaSystemOriginalPackage", { ikaSystemOriginalPackage: `0x${"1".repeat(64)}` }],
    ["ikaDwallet2pcMpcOriginalPackage", { ikaDwallet2pcMpcOriginalPackage: `0x${"1".repeat(64)}` }],
    ["ikaSystemObject", { ikaSystemObject: { ...IDS.ikaSystemObject, objectId: `0x${"1".repeat(64)}` } }],
    ["ikaSystemObject", { ikaSystemObject: { ...IDS.ikaSystemObject, initialSharedVersion: 1n } }],
    [
      "ikaDwalletCoordinator",
      { ikaDwalletCoordinator: { ...IDS.ikaDwalletCoordinator, objectId: `0x${"1".repeat(64)}` } },
    ],
    [
      "ikaDwalletCoordinator",
      { ikaDwalletCoordinator: { ...IDS.ikaDwalletCoordinator, initialSharedVersion: 1n } },
    ],
  ])("is refused if only its %s differs", async (field, change) => {
    const client = connect(announce({ ...IDS, ...change }));
    await expect(client.onboard({ seed, curve: "ED25519" })).rejects.toMatchObject({
      reason: "NETWORK_MISMATCH",
      metadata: { field },
    });
    expect(called).toEqual(["getNetwork"]);
  });

  test.each([
    ["no ids", {}],
    ["ids that are none", { ikaConfig: { ikaPackage: "ika" } }],
  ])("is refused if it names %s", async (_, change) => {
    const client = connect({ network: "testnet", ...change });
    await expect(client.onboard({ seed, curve: "ED25519" })).rejects.toMatchObject({
      reason: "NETWORK_MISMATCH",
    });
  });
});

describe("a localnet", () => {
  const localnet = (options: Partial<CommonOptions>) =>
    connect({ ...announce(idsOf(attacker)), network: "localnet" }, { network: "localnet", ...options });

  test("is refused unless it is the one that the caller pinned", { timeout: 60_000 }, async () => {
    const other = localnet({ chainIdentifier: CHAIN_PINS.testnet.chainIdentifier });
    await expect(other.onboard({ seed, curve: "ED25519" })).rejects.toMatchObject({
      reason: "NETWORK_MISMATCH",
    });
    expect(called).toEqual(["getNetwork"]);
    const pinned = localnet({ chainIdentifier: attacker.chainId });
    await expect(pinned.onboard({ seed, curve: "ED25519" })).rejects.toMatchObject({
      reason: "OUTPUT_MISMATCH",
    });
    expect(called).toEqual(["getNetwork", "registerEncryptionKey"]);
  });

  test("is read at the caller's fullnode, whatever the service names", { timeout: 60_000 }, async () => {
    const urls = hijack();
    const client = localnet({ fullnodeUrl: `${attacker.url}/` });
    await client.onboard({ seed, curve: "ED25519" }).catch(() => undefined);
    expect(urls.length).toBeGreaterThan(0);
    expect(urls.every((url) => url.startsWith(attacker.url))).toBe(true);
  });

  test("is read at the caller's fullnode over native gRPC", { timeout: 60_000 }, async () => {
    const urls = hijack();
    const client = localnet({
      fullnodeUrl: attacker.url.replace("http:", "grpc:"),
      chainIdentifier: attacker.chainId,
    });
    await expect(client.onboard({ seed, curve: "ED25519" })).rejects.toMatchObject({
      reason: "OUTPUT_MISMATCH",
    });
    expect(urls).toEqual([]);
  });

  test("whose service names no fullnode needs one from the caller", async () => {
    const client = connect(
      { ...announce(idsOf(attacker)), network: "localnet", fullnodeUrl: "" },
      { network: "localnet" },
    );
    await expect(client.onboard({ seed, curve: "ED25519" })).rejects.toMatchObject({
      reason: "NETWORK_MISMATCH",
    });
  });
});

describe("options", () => {
  test.each<[string, Partial<CommonOptions>]>([
    [
      "another chain identifier for a public network",
      { chainIdentifier: "69WiPg3DAQiwdxfncX6wYQ2siKwAe6L9BZthQea3JNMX" },
    ],
    ["no fullnode", { fullnodeUrl: [] }],
    ["nine fullnodes", { fullnodeUrl: Array.from({ length: 9 }, (_, index) => `https://${index}.invalid`) }],
    ["a fullnode twice", { fullnodeUrl: ["https://a.invalid", "https://a.invalid"] }],
    [
      "a fullnode twice, spelled in two ways",
      { fullnodeUrl: ["https://a.invalid", "https://A.invalid:443/"] },
    ],
    ["a fullnode twice, in two protocols", { fullnodeUrl: ["https://a.invalid", "grpcs://A.invalid:443"] }],
    ["a URL without a host", { fullnodeUrl: "grpcs:///secret" }],
    ["credentials in a URL of native gRPC", { fullnodeUrl: "grpcs://user:secret@a.invalid" }],
    ["a URL that is none", { fullnodeUrl: "fullnode" }],
    ["another scheme", { fullnodeUrl: "ftp://a.invalid" }],
    ["credentials in a URL", { fullnodeUrl: "https://user:secret@a.invalid" }],
  ])("with %s are refused when the client is created", (_, options) => {
    let error: unknown;
    try {
      connect({}, options);
    } catch (cause) {
      error = cause;
    }
    expect(error).toMatchObject({ reason: "VALIDATION" });
    expect(JSON.stringify(error)).not.toContain("secret");
  });
});

test("native gRPC is refused when the client is created where no Node runs", () => {
  vi.stubGlobal("process", undefined);
  expect(() => connect({}, { fullnodeUrl: "grpcs://a.invalid" })).toThrow("native gRPC needs Node");
});

describe("a fullnode", () => {
  const listen = async (handle: Parameters<typeof createServer>[1]) => {
    const server = createServer(handle as never);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  };

  test("whose reply never ends over native gRPC is cut", { timeout: 60_000 }, async () => {
    let sentBytes = 0;
    const ends: Promise<unknown>[] = [];
    const server = createHttp2Server();
    server.on("stream", (stream) => {
      ends.push(
        once(
          stream.on("error", () => {}),
          "close",
        ),
      );
      stream.respond({ ":status": 200, "content-type": "application/grpc" });
      const chunk = new Uint8Array(64 * 1024);
      stream.write(Uint8Array.of(0, 0x7f, 0xff, 0xff, 0xff));
      const write = (): void => {
        while (!stream.destroyed) {
          sentBytes += chunk.length;
          if (!stream.write(chunk)) return;
        }
      };
      stream.on("drain", write);
      write();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const client = connect({}, { fullnodeUrl: `grpc://127.0.0.1:${port}` });
    await expect(
      client.recoverShare({ seed, curve: "ED25519", dwalletId: `0x${"d".repeat(64)}` }),
    ).rejects.toMatchObject({ reason: "CHAIN_UNAVAILABLE" });
    await Promise.all(ends);
    expect(ends).toHaveLength(2);
    expect(sentBytes).toBeLessThan(2 * 16 * 1024 * 1024);
    server.close();
  });

  test("whose reply never ends is cut, and no error shows its URL", { timeout: 60_000 }, async () => {
    let sentBytes = 0;
    let endedCount = 0;
    let endBoth = (): void => {};
    const bothEnded = new Promise<void>((resolve) => {
      endBoth = resolve;
    });
    const { server, url } = await listen((_, response) => {
      response.writeHead(200, { "content-type": "application/grpc-web+proto" });
      const chunk = new Uint8Array(64 * 1024);
      // The frame's head announces 2 GB.
      response.write(Uint8Array.of(0, 0x7f, 0xff, 0xff, 0xff));
      const write = (): void => {
        while (!response.destroyed) {
          sentBytes += chunk.length;
          if (!response.write(chunk)) return;
        }
      };
      response.on("drain", write).on("close", () => {
        if (++endedCount === 2) endBoth();
      });
      write();
    });
    const client = connect({}, { fullnodeUrl: `${url}/secret-key` });
    const error: unknown = await client
      .recoverShare({ seed, curve: "ED25519", dwalletId: `0x${"d".repeat(64)}` })
      .catch((cause: unknown) => cause);
    expect(error).toMatchObject({ reason: "CHAIN_UNAVAILABLE", metadata: { fullnode: "1" } });
    expect(`${(error as Error).message} ${(error as Error).cause} ${JSON.stringify(error)}`).not.toContain(
      "secret-key",
    );
    await bothEnded;
    expect(sentBytes).toBeLessThan(2 * 16 * 1024 * 1024);
    server.close();
  });
});
