import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Health } from "../../../../gen/proto/grpc/health/v1/health_pb.ts";
import { ServerReflection } from "../../../../gen/proto/grpc/reflection/v1/reflection_pb.ts";
import { Operations } from "../../../../gen/proto/tss/v1/operations_pb.ts";
import { Signing } from "../../../../gen/proto/tss/v1/signing_pb.ts";
import { createAccessGate, keepPrivate } from "../../../../src/service/access/access-gate.ts";
import { createClientAddress } from "../../../../src/service/access/client-address.ts";
import { generateApiKey } from "../../../../src/service/access/keys/api-key.ts";
import { createOpenCalls, guardLike } from "../../../../src/service/access/open-calls.ts";
import { createRateLimiter } from "../../../../src/service/access/rate-limiter.ts";
import { healthRoute, metricsRoute } from "../../../../src/service/operator/health/health-and-metrics.ts";
import { createErrorMapping } from "../../../../src/service/platform/errors/error-mapping.ts";
import { Secret } from "../../../../src/service/platform/telemetry/secret.ts";
import { openApiRoute } from "../../../../src/service/web/web-routes.ts";
import { registerService } from "../../../../src/transport/calls/service-registration.ts";
import { peerAddressKey } from "../../../../src/transport/http/node-http.ts";
import { startServer, type TransportServer } from "../../../../src/transport/start-server.ts";

let server: TransportServer;
let sessions: Http2SessionManager;

beforeEach(async () => {
  const perSecond = { read: 0, write: 0, chain: 0, verify: 0, stream: 0, refusedKey: 0, open: 0.002 };
  const limiter = createRateLimiter({ limits: { perSecond, burstSeconds: 1_000 } });
  const openCalls = createOpenCalls(limiter, createClientAddress(["127.0.0.1"]));
  server = await startServer({
    host: "127.0.0.1",
    port: 0,
    errors: createErrorMapping(() => {}),
    services: [registerService(Signing, { getSign: () => ({}) })],
    routes: [healthRoute(), openApiRoute()],
    gate: keepPrivate,
    openGate: openCalls.limitCall,
    limitRequest: openCalls.limitRequest,
  });
  sessions = new Http2SessionManager(server.url);
});
afterEach(async () => {
  sessions.abort();
  await server.close();
});

const from = (address: string) => ({ headers: { "x-forwarded-for": address } });
const get = (path: string, address: string) => fetch(`${server.url}${path}`, from(address));
const codeOf = async (work: Promise<unknown>) => {
  try {
    await work;
    return undefined;
  } catch (error) {
    return ConnectError.from(error).code;
  }
};

describe("a call that needs no key", () => {
  it("is limited per address across all routes, except health over HTTP", async () => {
    const transport = createGrpcTransport({ baseUrl: server.url, sessionManager: sessions });
    const check = (address: string) => codeOf(createClient(Health, transport).check({}, from(address)));
    const reflect = async (address: string) => {
      async function* ask() {
        yield { messageRequest: { case: "listServices" as const, value: "" } };
      }
      const replies = createClient(ServerReflection, transport).serverReflectionInfo(ask(), from(address));
      return codeOf(replies[Symbol.asyncIterator]().next());
    };
    expect((await get("/openapi.json", "192.0.2.1")).status).toBe(200);
    expect(await check("192.0.2.1")).toBeUndefined();
    const refused = await get("/openapi.json", "192.0.2.1");
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await check("192.0.2.1")).toBe(Code.ResourceExhausted);
    expect(await reflect("192.0.2.1")).toBe(Code.ResourceExhausted);
    expect(await reflect("192.0.2.2")).toBeUndefined();
    for (let count = 0; count < 5; count++) expect((await get("/v1/health", "192.0.2.1")).status).toBe(200);
  });
});

describe("guarded metrics", () => {
  const ADMIN_KEY = "a".repeat(32);
  let metered: TransportServer;
  let renderCount: number;
  let lookupCount: number;

  beforeEach(async () => {
    renderCount = lookupCount = 0;
    const perSecond = { read: 0.003, write: 0, chain: 0, verify: 0, stream: 0, refusedKey: 0.002, open: 0 };
    const find = async () => {
      lookupCount++;
      return undefined;
    };
    const gate = createAccessGate({
      lookup: { find, recall: () => undefined },
      adminLookup: { find },
      limiter: createRateLimiter({ limits: { perSecond, burstSeconds: 1_000 } }),
      adminApiKey: new Secret(ADMIN_KEY),
      networks: ["testnet", "mainnet"],
      beginTrace: ({ values }) => ({ requestId: "", address: values.get(peerAddressKey) }),
    });
    const render = async () => {
      renderCount++;
      return { contentType: "text/plain", body: "service_up 1\n" };
    };
    metered = await startServer({
      host: "127.0.0.1",
      port: 0,
      errors: createErrorMapping(() => {}),
      services: [],
      routes: [{ ...metricsRoute({ render, gauge: () => ({ set() {} }) as never }), isGuarded: true }],
      guardRequest: guardLike(Operations.method.getReadiness, gate),
    });
  });
  afterEach(() => metered.close());

  const scrape = (headers: Record<string, string>) => fetch(`${metered.url}/metrics`, { headers });

  it("are served to an admin key, and a refused caller makes nobody render them", async () => {
    const projectKey = generateApiKey("testnet");
    const refused = [await scrape({}), await scrape({ authorization: `Bearer ${projectKey}` })];
    expect(refused.map(({ status }) => status)).toEqual([401, 401]);
    expect(refused.map(({ headers }) => headers.get("www-authenticate"))).toEqual(["Bearer", "Bearer"]);
    // Later calls with wrong keys are refused by their address.
    const third = await scrape({ "x-api-key": "wrong" });
    expect([third.status, third.headers.has("retry-after")]).toEqual([429, true]);
    expect(renderCount).toBe(0);
    const served = await scrape({ authorization: `Bearer ${ADMIN_KEY}` });
    expect([served.status, await served.text()]).toEqual([200, "service_up 1\n"]);
    expect(served.headers.get("cache-control")).toBe("no-store");
    expect((await scrape({ "x-api-key": ADMIN_KEY })).status).toBe(200);
  });

  it("count as calls of their key, which has no more than its limit", async () => {
    const statuses = [];
    for (let count = 0; count < 4; count++) {
      statuses.push((await scrape({ authorization: `Bearer ${ADMIN_KEY}` })).status);
    }
    expect(statuses).toEqual([200, 200, 200, 429]);
    expect(renderCount).toBe(1);
    expect(lookupCount).toBe(0);
  });

  it("are not served by a server that has no guard", async () => {
    const options = { host: "127.0.0.1", port: 0, errors: createErrorMapping(() => {}), services: [] };
    const routes = [{ ...healthRoute(), isGuarded: true }];
    await expect(startServer({ ...options, routes })).rejects.toThrow("nothing guards /v1/health");
  });
});

describe("a reply to a call", () => {
  const path = "/tss.v1.Signing/GetSign";
  const post = (contentType: string, body: string | Uint8Array<ArrayBuffer>): RequestInit => ({
    method: "POST",
    headers: { "content-type": contentType },
    body,
  });

  it.each<[string, string, RequestInit]>([
    ["REST", "/v1/sign/1", {}],
    ["Connect", path, post("application/json", "{}")],
    ["Connect by GET", `${path}?connect=v1&encoding=json&message=%7B%7D`, {}],
    ["gRPC-web", path, post("application/grpc-web+proto", new Uint8Array(5))],
  ])("over %s is not cached, and its Vary header lists what it depends on", async (_, url, init) => {
    const reply = await fetch(`${server.url}${url}`, init);
    expect(reply.status).toBe(200);
    expect(reply.headers.get("cache-control")).toBe("no-store");
    for (const name of ["authorization", "x-api-key", "x-network"])
      expect(reply.headers.get("vary")).toContain(name);
  });

  it("is not cached, while caches revalidate documents", async () => {
    const reply = await get("/openapi.json", "192.0.2.3");
    expect(reply.headers.get("cache-control")).toBe("no-cache");
  });

  it("is not cached if it is an error that caches store by default", async () => {
    const reply = await fetch(`${server.url}/v1/nothing`);
    expect(reply.status).toBe(404);
    expect(reply.headers.get("cache-control")).toBe("no-store");
  });
});
