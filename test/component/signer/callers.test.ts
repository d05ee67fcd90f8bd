/**
 * The callers of a signer on its socket and on a port with client certificates. Its service refuses everything, so an
 * allowed signature ends with its reason.
 */
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import {
  appendFileSync,
  chmodSync,
  chownSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer, get, type Server } from "node:http";
import { request as requestTls } from "node:https";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { BadRequestSchema, ErrorInfoSchema } from "../../../gen/proto/google/rpc/error_details_pb.ts";
import { Signer } from "../../../gen/proto/tss/signer/v1/signer_pb.ts";
import { Curve, Hash, SignatureAlgorithm } from "../../../gen/proto/tss/v1/types_pb.ts";
import { Lifecycle } from "../../../src/service/platform/lifecycle/lifecycle.ts";
import { Secret } from "../../../src/service/platform/telemetry/secret.ts";
import { digestOf } from "../../../src/signer/access/access-list.ts";
import { type ListedCallers, openCallers } from "../../../src/signer/access/callers.ts";
import { startSigner } from "../../../src/signer/start-signer.ts";
import { createMemoryKeyStore } from "../../../src/signer/store/memory-key-store.ts";

const FOREIGN_USER = 54_321;
const TOKENS = { a: "token-of-a-0123456789abcdef0123456789", b: "token-of-b-0123456789abcdef0123456789" };
/** The SDK's reason for what the service of this test answers. */
const REFUSED = "FAILED_PRECONDITION";
const certificates = path.join(import.meta.dirname, "../../support/signer/certificates");
const pem = (name: string) => readFileSync(path.join(certificates, `${name}.pem`), "utf8");
const serverPem = (name: string) =>
  readFileSync(path.join(import.meta.dirname, `../../support/service/localhost.${name}.pem`), "utf8");

const logged: Record<string, unknown>[] = [];
const note = (fields: object | string) => void logged.push(typeof fields === "string" ? {} : { ...fields });
const log = { debug: note, info: note, warn: note, error: note };
let folder: string;
let lifecycle: Lifecycle;
let callers: ListedCallers;
let port: number;
let service: Server;
const at = (name: string) => path.join(folder, name);
const written = {
  callers: [
    { name: "a", tokenSha256: digestOf(TOKENS.a), certificate: "payouts.internal", keys: ["a-*"] },
    { name: "b", tokenFile: "token-of-b", keys: ["b-*"], createKeys: true, signaturesPerMinute: 2 },
    { name: "by-certificate", certificate: "onboarding.internal", keys: ["a-1"] },
    { name: "local", socket: true, keys: ["b-1"] },
  ],
};

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "tss-callers-"));
  writeFileSync(at("token-of-b"), TOKENS.b, { mode: 0o600 });
  writeCallers(written);
  callers = openCallers(at("callers.json"), log, { hasCertificates: true });
  const store = createMemoryKeyStore();
  const generator = "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798";
  for (const name of ["a-1", "a-2", "b-1", "b-2"]) {
    const dwallet = {
      dwalletId: `0x${"ab".repeat(32)}`,
      publicKeyHex: generator,
      sessionDigestHex: "ab".repeat(32),
    };
    const seed = new Uint8Array(32).fill(1);
    const progress = { kind: "active", dwallet } as const;
    await store.add({ name, curve: "SECP256K1", seed, createTimeMs: 0, progress });
  }
  service = createServer((request, reply) => {
    request.resume();
    reply.writeHead(400, { "content-type": "application/json" });
    reply.end(JSON.stringify({ code: "failed_precondition", message: "the service refuses" }));
  });
  await once(service.listen(0, "127.0.0.1"), "listening");
  const baseUrl = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  lifecycle = new Lifecycle({ log });
  const tls = {
    certificatePem: serverPem("cert"),
    keyPem: serverPem("key"),
    clientCaPem: pem("clients.cert"),
  };
  const [, address] = await startSigner({
    store,
    service: { baseUrl, apiKey: new Secret("tss_local_0123456789"), network: "localnet" },
    callers,
    isSocketGuarded: true,
    socketPath: at("sock"),
    port: { host: "127.0.0.1", port: 0, tls },
    ethereum: { chainId: 5, url: undefined, maxFeeWei: 1n },
    log,
    lifecycle,
  });
  port = Number(new URL(address!).port);
});
afterAll(async () => {
  await lifecycle.stop();
  service.close();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  writeCallers(written);
  callers.reload();
});

describe("the port", () => {
  it.each([
    ["no certificate", undefined, TOKENS.a],
    ["the certificate of another authority", "stranger", TOKENS.a],
  ])("refuses the handshake with %s", async (_, name, token) => {
    await expect(rest("GET", "/v1/signer/keys", { name, token })).rejects.toThrow();
    const rpc = createClient(Signer, onPort("gRPC", name, token));
    await expect(rpc.listKeys({})).rejects.toThrow();
    const outcome = expect.stringMatching(/^[A-Z_]+$/);
    expect(logged).toContainEqual({ audit: "refused", address: "127.0.0.1", outcome });
  });

  it("counts failed handshakes, and logs at most thirty a minute", async () => {
    const attempt = () =>
      rest("GET", "/v1/signer/keys", { name: undefined, token: TOKENS.a }).catch(() => {});
    for (let count = 0; count < 32; count++) await attempt();
    const { body } = await rest("GET", "/metrics", { name: "named", token: TOKENS.a });
    const [, total = "0"] = /^service_signer_failed_handshakes_total (\d+)$/m.exec(body) ?? [];
    expect(Number(total)).toBeGreaterThanOrEqual(32);
    const lines = logged.filter(({ audit, address }) => audit === "refused" && address !== undefined);
    expect(lines).toHaveLength(30);
  });

  it.each([
    ["named", undefined, 401, "UNKNOWN_CALLER"],
    ["named", "wrong", 401, "INVALID_TOKEN"],
    ["common", TOKENS.a, 401, "UNKNOWN_CALLER"],
    ["named", TOKENS.a, 200, "a-1"],
    ["named", TOKENS.b, 200, "b-1"],
    ["common", undefined, 200, "a-1"],
  ])("answers the certificate %s with the token %s with %d", async (name, token, status, found) => {
    const reply = await rest("GET", "/v1/signer/keys", { name, token });
    expect([reply.status, reply.body]).toEqual([status, expect.stringContaining(found)]);
    const metrics = await rest("GET", "/metrics", { name, token });
    expect(metrics.status).toBe(status);
  });
});

it("a certificate is refused after its end, also on a connection that began earlier", () => {
  const certificate = new X509Certificate(pem("common.cert"));
  const call = { headers: new Headers(), certificate, isOnSocket: false };
  const lateMs = Date.parse(certificate.validTo) + 1;
  expect(openCallers(at("callers.json"), log, { hasCertificates: true }).identify(call).name).toBe(
    "by-certificate",
  );
  const late = openCallers(at("callers.json"), log, { hasCertificates: true, now: () => lateMs });
  const withToken = { ...call, headers: new Headers({ authorization: `Bearer ${TOKENS.b}` }) };
  for (const each of [call, withToken])
    expect(() => late.identify(each)).toThrow(expect.objectContaining({ reason: "UNKNOWN_CALLER" }));
});

describe("the socket", () => {
  it("has the caller of the file, and none without it", async () => {
    const rpc = createClient(Signer, onSocket());
    expect((await rpc.listKeys({})).keys.map(({ name }) => name)).toEqual(["b-1"]);
    const metrics = async () => {
      const reply = await new Promise<number | undefined>((resolve) => {
        get({ socketPath: at("sock"), path: "/metrics" }, (from) => {
          from.resume();
          resolve(from.statusCode);
        });
      });
      return reply;
    };
    expect(await metrics()).toBe(200);
    const headers = { authorization: `Bearer ${TOKENS.b}` };
    expect((await rpc.listKeys({}, { headers })).keys.map(({ name }) => name)).toEqual(["b-1", "b-2"]);
    writeCallers({ callers: written.callers.slice(0, 3) });
    callers.reload();
    expect(await refusalOf(rpc.listKeys({}))).toMatchObject({ reason: "MISSING_TOKEN" });
    expect(await metrics()).toBe(401);
  });
});

describe("a stolen token of one caller", () => {
  const stolen = { name: "named", token: TOKENS.b };
  const denied = { code: Code.PermissionDenied, reason: "CALLER_NOT_ALLOWED" };

  it.each(["gRPC", "Connect", "Connect with GET", "gRPC-web"] as const)(
    "uses and sees its own keys alone, over %s",
    async (protocol) => {
      const rpc = createClient(Signer, onPort(protocol, stolen.name, stolen.token));
      expect((await rpc.listKeys({})).keys.map(({ name }) => name)).toEqual(["b-1", "b-2"]);
      expect(await rpc.getKey({ name: "b-1" })).toMatchObject({ name: "b-1" });
      for (const name of ["a-1", "a-unknown"]) {
        const refused = await refusalOf(rpc.getKey({ name }));
        expect(refused).toMatchObject({ ...denied, field: "name" });
        expect(await refusalOf(rpc.sign(requestFor(name)))).toMatchObject({ ...denied, field: "name" });
        const made = rpc.createKey({ name, curve: Curve.SECP256K1 });
        expect(await refusalOf(made)).toMatchObject({ ...denied, field: "name" });
      }
      const { results } = await rpc.signMany({ requests: [requestFor("a-1")] });
      expect(results[0]?.result).toMatchObject({ case: "failure", value: { reason: denied.reason } });
    },
  );

  it("uses and sees its own keys alone, over REST and Ethereum's JSON-RPC", async () => {
    const payload = {
      raw: { message: "eA==", signatureAlgorithm: "ECDSASecp256k1", hashScheme: "KECCAK256" },
    };
    const listed = await rest("GET", "/v1/signer/keys", stolen);
    expect(listed.body).not.toContain("a-1");
    const calls = [
      ["GET", "/v1/signer/keys/a-1", undefined],
      ["POST", "/v1/signer/keys/a-1/sign", payload],
      ["POST", "/v1/signer/keys", { name: "a-9", curve: "SECP256K1" }],
    ] as const;
    for (const [method, target, body] of calls) {
      const reply = await rest(method, target, stolen, body);
      expect([reply.status, reply.body]).toEqual([403, expect.stringContaining(denied.reason)]);
    }
    // All keys of this test have one address, so the signer signs with the caller's own.
    const accounts = { jsonrpc: "2.0", id: 1, method: "eth_accounts", params: [] };
    const reply = await rest("POST", "/v1/signer/ethereum", stolen, accounts);
    expect((JSON.parse(reply.body) as { result: unknown[] }).result).toHaveLength(2);
    const onlyA = { ...written.callers[1], keys: ["nothing"] };
    writeCallers({ callers: [onlyA] });
    callers.reload();
    const none = await rest("POST", "/v1/signer/ethereum", stolen, accounts);
    expect((JSON.parse(none.body) as { result: unknown[] }).result).toEqual([]);
  });

  it("has its own rate, and leaves that of others alone", async () => {
    const rpc = createClient(Signer, onPort("gRPC", stolen.name, stolen.token));
    const ended = async () => (await refusalOf(rpc.sign(requestFor("b-1")))).reason;
    const reasons = [await ended(), await ended(), await ended()];
    expect(reasons).toEqual([REFUSED, REFUSED, "CALLER_RATE_EXCEEDED"]);
    const other = createClient(Signer, onPort("gRPC", "named", TOKENS.a));
    expect((await refusalOf(other.sign(requestFor("a-1")))).reason).toBe(REFUSED);
    // A changed file does not begin the counts again.
    writeCallers({ callers: written.callers.slice(1, 2) });
    callers.reload();
    expect(await ended()).toBe("CALLER_RATE_EXCEEDED");
    const audited = logged.filter(({ audit }) => audit === "sign");
    expect(new Set(audited.map(({ caller }) => caller))).toEqual(new Set(["a", "b"]));
  });
});

describe("the file of callers", () => {
  it("is read again, also for open connections, and a broken one changes nothing", async () => {
    const rpc = createClient(Signer, onPort("gRPC", "named", TOKENS.a));
    const names = async () => (await rpc.listKeys({})).keys.map(({ name }) => name);
    expect(await names()).toEqual(["a-1", "a-2"]);
    writeCallers({ callers: [{ ...written.callers[0], keys: ["a-2"] }] });
    callers.reload();
    expect(await names()).toEqual(["a-2"]);
    appendFileSync(at("callers.json"), "}");
    logged.length = 0;
    callers.reload();
    callers.reload();
    expect(await names()).toEqual(["a-2"]);
    expect(logged.filter(({ fault }) => fault !== undefined)).toMatchObject([
      { fault: expect.stringContaining("it is not JSON") },
    ]);
    writeCallers({ callers: written.callers.slice(1) });
    callers.reload();
    expect(await refusalOf(rpc.listKeys({}))).toMatchObject({ reason: "INVALID_TOKEN" });
  });

  it("is refused if a caller needs a certificate that no port asks for", () => {
    const open = () => openCallers(at("callers.json"), log, { hasCertificates: false });
    expect(open).toThrow("the caller a needs a certificate");
  });

  it("is refused if it belongs to another user than root and the signer's own, whatever its mode", () => {
    const open = () => openCallers(at("callers.json"), log, { hasCertificates: true });
    const own = process.getuid!();
    open();
    // Only root can give a file away. Anybody else plays another user.
    if (own === 0) chownSync(at("callers.json"), FOREIGN_USER, 0);
    const played = vi.spyOn(process as { getuid(): number }, "getuid");
    played.mockReturnValue(own === 0 ? own : FOREIGN_USER);
    onTestFinished(() => {
      played.mockRestore();
      if (own === 0) chownSync(at("callers.json"), own, 0);
    });
    expect(open).toThrow("is another user's");
    chmodSync(at("callers.json"), 0o600);
    expect(open).toThrow("is another user's");
  });

  it("is refused if others may write it, and a token in it is never quoted", () => {
    chmodSync(at("callers.json"), 0o666);
    expect(() => openCallers(at("callers.json"), log, { hasCertificates: true })).toThrow("others may write");
    writeCallers({ callers: [{ name: "a", keys: ["*"], tokenFile: "short" }] });
    writeFileSync(at("short"), "short-token", { mode: 0o600 });
    expect(() => openCallers(at("callers.json"), log, { hasCertificates: true })).toThrow(
      "must have 32 or more",
    );
    chmodSync(at("short"), 0o644);
    expect(() => openCallers(at("callers.json"), log, { hasCertificates: true })).toThrow(
      "others may read the file of a token",
    );
    expect(JSON.stringify(logged)).not.toContain("short-token");
  });
});

function writeCallers(content: object): void {
  rmSync(at("callers.json"), { force: true });
  writeFileSync(at("callers.json"), JSON.stringify(content), { mode: 0o644 });
}

function requestFor(name: string) {
  const value = {
    message: Uint8Array.of(1),
    signatureAlgorithm: SignatureAlgorithm.ECDSASecp256k1,
    hashScheme: Hash.KECCAK256,
  };
  return { name, payload: { case: "raw" as const, value } };
}

function secured(name: string | undefined) {
  const own = name === undefined ? {} : { cert: pem(`${name}.cert`), key: pem(`${name}.key`) };
  return { ca: serverPem("cert"), ...own };
}

type Protocol = "gRPC" | "Connect" | "Connect with GET" | "gRPC-web";

function onPort(protocol: Protocol, name: string | undefined, token: string): Transport {
  const options = {
    baseUrl: `https://localhost:${port}`,
    nodeOptions: secured(name),
    interceptors: [
      (next) => (request) => {
        request.header.set("authorization", `Bearer ${token}`);
        return next(request);
      },
    ],
  } satisfies Partial<Parameters<typeof createGrpcTransport>[0]>;
  if (protocol === "gRPC") return createGrpcTransport(options);
  if (protocol === "gRPC-web") return createGrpcWebTransport({ ...options, httpVersion: "2" });
  return createConnectTransport({ ...options, httpVersion: "1.1", useHttpGet: protocol !== "Connect" });
}

function onSocket(): Transport {
  const nodeOptions = { createConnection: () => connect(at("sock")) };
  return createGrpcTransport({ baseUrl: "http://localhost", nodeOptions });
}

interface Credentials {
  readonly name: string | undefined;
  readonly token: string | undefined;
}

function rest(method: string, target: string, { name, token }: Credentials, body?: object) {
  return new Promise<{ readonly status: number | undefined; readonly body: string }>((resolve, reject) => {
    const headers = {
      "content-type": "application/json",
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    };
    const options = {
      host: "localhost",
      port,
      method,
      path: target,
      headers,
      ...secured(name),
      agent: false,
    };
    const request = requestTls(options, (reply) => {
      void text(reply).then((found) => resolve({ status: reply.statusCode, body: found }));
    });
    request.on("error", reject);
    request.end(body && JSON.stringify(body));
  });
}

async function refusalOf(call: Promise<unknown>) {
  const error = ConnectError.from(
    await call.then(
      () => new Error("not refused"),
      (cause: unknown) => cause,
    ),
  );
  const [violation] = error.findDetails(BadRequestSchema)[0]?.fieldViolations ?? [];
  return { code: error.code, reason: error.findDetails(ErrorInfoSchema)[0]?.reason, field: violation?.field };
}
