import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Health } from "../../../gen/proto/grpc/health/v1/health_pb.ts";
import { ServerReflection } from "../../../gen/proto/grpc/reflection/v1/reflection_pb.ts";
import { Signing } from "../../../gen/proto/tss/v1/signing_pb.ts";
import { createClientAddress } from "../../../src/access/client-address.ts";
import { createOpenCalls } from "../../../src/access/open-calls.ts";
import { keepPrivate } from "../../../src/access/private-replies.ts";
import { createRateLimiter } from "../../../src/access/rate-limiter.ts";
import { createErrorMapping } from "../../../src/errors/error-mapping.ts";
import { healthRoute } from "../../../src/health/health-and-metrics.ts";
import { registerService } from "../../../src/transport/service-registration.ts";
import { startServer, type TransportServer } from "../../../src/transport/start-server.ts";
import { openApiRoute } from "../../../src/web/openapi-route.ts";

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
