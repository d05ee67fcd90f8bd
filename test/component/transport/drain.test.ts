import { once } from "node:events";
import { Agent, get, type IncomingMessage } from "node:http";
import { connect } from "node:http2";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterEach, describe, expect, it } from "vitest";
import { ErrorInfoSchema } from "../../../gen/proto/google/rpc/error_details_pb.ts";
import { Signing } from "../../../gen/proto/tss/v1/signing_pb.ts";
import { createLatch, type FakeServer, startFakes, UUID } from "./fake-services.ts";
import { openRaw, rawRequest } from "./raw-socket.ts";

let server: FakeServer;
afterEach(() => server.close());

/** A server whose GetSign waits; `entered(n)` resolves when n calls are in it. */
async function startWaiting() {
  const latch = createLatch();
  let count = 0;
  const waiters = new Map<number, () => void>();
  server = await startFakes({
    getSign: async (request) => {
      waiters.get(++count)?.();
      await latch.wait();
      return { signRequestId: request.signRequestId };
    },
  });
  return {
    open: latch.open,
    entered: (n: number) =>
      count >= n ? Promise.resolve() : new Promise<void>((resolve) => waiters.set(n, resolve)),
  };
}

async function getOver(
  agent: Agent,
  path: string,
): Promise<{ status: number | undefined; connection: string | undefined }> {
  const request = get(`${server.url}${path}`, { agent });
  const [reply] = (await once(request, "response")) as [IncomingMessage];
  reply.resume();
  await once(reply, "end");
  return { status: reply.statusCode, connection: reply.headers.connection };
}

describe("drain", () => {
  it("answers 50 open calls on each protocol, and then ends at once", async () => {
    const { open, entered } = await startWaiting();
    const agent = new Agent({ keepAlive: true });
    const grpc = createClient(Signing, createGrpcTransport({ baseUrl: server.url }));
    const rest = Array.from({ length: 50 }, () => getOver(agent, `/v1/sign/${UUID}`));
    const rpc = Array.from({ length: 50 }, () => grpc.getSign({ signRequestId: UUID }));
    await entered(100);
    const drained = server.drain({ delayMs: 0, timeoutMs: 10_000 });
    open();
    expect(await drained).toBe(true);
    expect(await Promise.all(rest)).toEqual(Array(50).fill({ status: 200, connection: "close" }));
    expect(await Promise.all(rpc)).toHaveLength(50);
    await expect(fetch(`${server.url}/v1/health`)).rejects.toThrow();
    agent.destroy();
  });

  it("still accepts calls during the delay, asks HTTP/1.1 callers to disconnect, and fails health checks", async () => {
    server = await startFakes();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    expect((await getOver(agent, "/v1/network")).connection).toBe("keep-alive");
    const drained = server.drain({ delayMs: 300, timeoutMs: 1000 });
    expect(await getOver(agent, "/v1/network")).toEqual({ status: 200, connection: "close" });
    expect(await getOver(agent, "/v1/health")).toEqual({ status: 503, connection: "close" });
    expect(await drained).toBe(true);
    agent.destroy();
  });

  it("sends HTTP/2 callers two GOAWAYs: a first one that refuses nothing, and a second one with the last served stream", async () => {
    const { open, entered } = await startWaiting();
    const session = connect(server.url);
    const goaways: number[] = [];
    session.on("goaway", (_code, lastStreamId) => goaways.push(lastStreamId));
    const stream = session.request({ ":path": `/v1/sign/${UUID}` });
    const response = once(stream, "response");
    await entered(1);
    const drained = server.drain({ delayMs: 0, timeoutMs: 5000 });
    await once(session, "goaway");
    open();
    const [headers] = await response;
    stream.resume();
    await Promise.all([once(session, "close"), drained]);
    expect(headers[":status"]).toBe(200);
    expect(goaways[0]).toBe(2 ** 31 - 1);
    expect(new Set(goaways.slice(1))).toEqual(new Set([1]));
    expect(await drained).toBe(true);
  });

  it("ends idle connections of both versions at once", async () => {
    server = await startFakes();
    const agent = new Agent({ keepAlive: true });
    await getOver(agent, "/v1/network");
    const session = connect(server.url);
    await once(session, "remoteSettings");
    const closed = once(session, "close");
    // An idle connection that stays open makes the drain time out and return false.
    expect(await server.drain({ delayMs: 0, timeoutMs: 5000 })).toBe(true);
    await closed;
    agent.destroy();
  });

  it("aborts handlers that outlast the time-out, and their callers get DRAINING", async () => {
    const { entered } = await startWaiting();
    const grpc = createClient(Signing, createGrpcTransport({ baseUrl: server.url }));
    const call = grpc.getSign({ signRequestId: UUID }).then(
      () => undefined,
      (reason: unknown) => ConnectError.from(reason),
    );
    const rest = fetch(`${server.url}/v1/sign/${UUID}`);
    await entered(2);
    expect(await server.drain({ delayMs: 0, timeoutMs: 20 })).toBe(false);
    const error = await call;
    expect([error?.code, error?.findDetails(ErrorInfoSchema)[0]?.reason]).toEqual([
      Code.Unavailable,
      "DRAINING",
    ]);
    const reply = await rest;
    expect([reply.status, reply.headers.get("retry-after")]).toEqual([503, "1"]);
  });
});

describe("a drain", () => {
  it("does not wait for an incomplete request head, and lets the other call end", async () => {
    const { open, entered } = await startWaiting();
    const half = await openRaw(server.port);
    half.socket.write("GET /v1/health HTTP/1.1\r\nhost:");
    const whole = await openRaw(server.port);
    whole.socket.write(rawRequest("GET", `/v1/sign/${UUID}`));
    await entered(1);
    const drained = server.drain({ delayMs: 0, timeoutMs: 60_000 });
    expect(await half.closed()).toBe("");
    open();
    expect(await whole.closed()).toMatch(/^HTTP\/1\.1 200 /);
    expect(await drained).toBe(true);
  });

  it.each([
    ["REST", "/v1/sign", "application/json"],
    ["Connect", "/tss.v1.Signing/ReserveSign", "application/json"],
    ["a stream of Connect", "/tss.v1.Signing/WatchSign", "application/connect+json"],
    ["gRPC-web", "/tss.v1.Signing/ReserveSign", "application/grpc-web+proto"],
  ])("does not wait for a body that never comes, over %s", async (_protocol, path, type) => {
    server = await startFakes();
    const headers = { "content-type": type, "content-length": "100" };
    const raw = await openRaw(server.port);
    raw.socket.write(rawRequest("POST", path, headers, "{"));
    const session = connect(server.url);
    const stream = session.request({ ":method": "POST", ":path": path, ...headers });
    stream.write("{");
    const response = once(stream.resume(), "response");
    await once(session, "remoteSettings");
    // The time-out of the body is 30 seconds.
    expect(await server.drain({ delayMs: 0, timeoutMs: 20_000 })).toBe(true);
    const draining = /DRAINING|grpc-status: 14/;
    expect(await raw.closed()).toMatch(draining);
    expect((await response)[0][":status"]).toBe(/connect\+|grpc/.test(type) ? 200 : 503);
  });

  it("does not wait for the body of a gRPC call that never comes, and its caller gets UNAVAILABLE", async () => {
    server = await startFakes();
    const session = connect(server.url);
    const headers = { ":method": "POST", "content-type": "application/grpc" };
    const calls = ["GetSign", "WatchSign"].map((name) => {
      const stream = session.request({ ...headers, ":path": `/tss.v1.Signing/${name}` });
      stream.write(Buffer.from([0]));
      return once(stream.resume(), "response");
    });
    await once(session, "remoteSettings");
    expect(await server.drain({ delayMs: 0, timeoutMs: 20_000 })).toBe(true);
    for (const [head] of await Promise.all(calls)) expect(head["grpc-status"]).toBe(String(Code.Unavailable));
  });

  it("does not wait for a connection that starts HTTP/2 after the port is closed", async () => {
    server = await startFakes();
    const { socket } = await openRaw(server.port);
    const drained = server.drain({ delayMs: 0, timeoutMs: 2000 });
    const session = connect(server.url, { createConnection: () => socket });
    session.on("error", () => {});
    const closed = once(session, "close");
    expect(await drained).toBe(true);
    await closed;
  });
});

describe("close", () => {
  it("closes all connections and leaves nothing open", async () => {
    const { entered } = await startWaiting();
    const call = fetch(`${server.url}/v1/sign/${UUID}`).catch(() => "cut");
    const session = connect(server.url);
    session.on("error", () => {});
    const closed = new Promise((resolve) => session.once("close", resolve));
    await entered(1);
    await server.close();
    await closed;
    expect(await call).toBe("cut");
  });
});
