import { once } from "node:events";
import { connect } from "node:http2";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { afterEach, describe, expect, it } from "vitest";
import { ErrorInfoSchema } from "../../../gen/proto/google/rpc/error_details_pb.ts";
import { Signing } from "../../../gen/proto/tss/v1/signing_pb.ts";
import { ServiceError } from "../../../src/service/platform/errors/service-error.ts";
import {
  createLatch,
  type FakeServer,
  type Hooks,
  PARAMETERS_SHA256,
  startFakes,
  UUID,
} from "./fake-services.ts";
import { openRaw, rawRequest } from "./raw-socket.ts";

let server: FakeServer;
async function start(hooks: Hooks = {}): Promise<FakeServer> {
  server = await startFakes(hooks);
  return server;
}
afterEach(() => server.close());

const PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const EMPTY_SETTINGS = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);

describe("the first bytes of a connection", () => {
  it("may arrive one by one, for either protocol", async () => {
    await start();
    const h2 = await openRaw(server.port);
    h2.socket.setNoDelay(true);
    for (const byte of PREFACE) h2.socket.write(byte);
    h2.socket.write(EMPTY_SETTINGS);
    // The server's first frame is SETTINGS: type 4 at offset 3.
    expect((await h2.until(/[\s\S]{9}/)).charCodeAt(3)).toBe(4);
    h2.socket.destroy();
    const h1 = await openRaw(server.port);
    h1.socket.setNoDelay(true);
    for (const byte of rawRequest("PRI", "/v1/health")) h1.socket.write(byte);
    expect(await h1.until(/\r\n\r\n/)).toMatch(/^HTTP\/1\.1 (400|405) /);
    h1.socket.destroy();
  });

  it("must arrive in time", async () => {
    await start({ limits: { firstByteTimeoutMs: 50 } });
    const silent = await openRaw(server.port);
    const half = await openRaw(server.port);
    half.socket.write(PREFACE.slice(0, 10));
    expect(await Promise.all([silent.closed(), half.closed()])).toEqual(["", ""]);
  });

  it("that are half a preface end the connection when the sender closes it", async () => {
    await start();
    const half = await openRaw(server.port);
    half.socket.end(PREFACE.slice(0, 10));
    expect(await half.closed()).toBe("");
    expect(await server.drain({ delayMs: 0, timeoutMs: 1000 })).toBe(true);
  });

  it("that are not HTTP get 400 and a closed connection", async () => {
    await start();
    const raw = await openRaw(server.port);
    raw.socket.write("\x16\x03\x01 hello\r\n\r\n");
    expect(await raw.closed()).toMatch(/^HTTP\/1\.1 400 /);
  });
});

describe("a slow or endless request", () => {
  it("is cut if its headers do not end", async () => {
    await start({ limits: { headersTimeoutMs: 100 } });
    const raw = await openRaw(server.port);
    raw.socket.write("GET /v1/health HTTP/1.1\r\nhost: x\r\n");
    expect(await raw.closed()).toMatch(/^HTTP\/1\.1 408 /);
  });

  it("with more headers than allowed gets 431", async () => {
    await start();
    const raw = await openRaw(server.port);
    raw.socket.write(rawRequest("GET", "/v1/health", { "x-long": "a".repeat(20_000) }));
    expect(await raw.closed()).toMatch(/^HTTP\/1\.1 431 /);
  });

  it("gets DEADLINE if its body does not arrive, over REST and over gRPC", async () => {
    await start({ limits: { bodyTimeoutMs: 50, lingerTimeoutMs: 50 } });
    const raw = await openRaw(server.port);
    raw.socket.write(
      rawRequest("POST", "/v1/sign", { "content-type": "application/json", "content-length": "10" }, "{"),
    );
    expect(await raw.closed()).toMatch(/^HTTP\/1\.1 504 [\s\S]*"DEADLINE"/);
    const session = connect(server.url);
    const stream = session.request({
      ":path": "/tss.v1.Signing/GetSign",
      ":method": "POST",
      "content-type": "application/grpc",
    });
    // A reply without messages has its status in its only header block.
    const [head] = await once(stream.resume(), "response");
    expect(head["grpc-status"]).toBe(String(Code.DeadlineExceeded));
    session.close();
  });

  it("is cut if its caller does not read a long reply, and its handler is aborted", async () => {
    await start({ limits: { writeTimeoutMs: 50 } });
    const raw = await openRaw(server.port);
    const closed = raw.closed();
    raw.socket.pause();
    // Enough that neither side can buffer all replies.
    for (let count = 0; count < 40; count++) {
      raw.socket.write(rawRequest("GET", `/v1/protocol-parameters/${PARAMETERS_SHA256}`));
    }
    const session = connect(server.url, { settings: { initialWindowSize: 0 } });
    const stream = session.request({
      ":path": `/v1/protocol-parameters/${PARAMETERS_SHA256}`,
    });
    const [error] = await once(stream, "error");
    expect(String(error)).toMatch(/NGHTTP2_INTERNAL_ERROR/);
    session.close();
    raw.socket.resume();
    await closed;
    expect(server.calls.filter(({ code }) => code === Code.Canceled).length).toBeGreaterThanOrEqual(2);
  });

  it("that announces too large a body is refused before the body, and its connection stays open", async () => {
    await start({ limits: { bodyBytes: 100 } });
    const raw = await openRaw(server.port);
    const headers = { "content-type": "application/json", "content-length": "101" };
    raw.socket.write(rawRequest("POST", "/v1/sign", headers));
    expect(await raw.until(/BODY_TOO_LARGE/)).toMatch(/^HTTP\/1\.1 413 /);
    raw.socket.write("x".repeat(101) + rawRequest("GET", "/v1/health"));
    expect(await raw.until(/"status":"ok"/)).toMatch(/HTTP\/1\.1 200 /);
    raw.socket.destroy();
  });

  it("that grows too large without announcing it is refused, and cut if it continues", async () => {
    await start({ limits: { bodyBytes: 100, lingerTimeoutMs: 50 } });
    const raw = await openRaw(server.port);
    const headers = { "content-type": "application/json", "transfer-encoding": "chunked" };
    raw.socket.write(rawRequest("POST", "/v1/sign", headers, `65\r\n${"x".repeat(101)}\r\n`));
    expect(await raw.closed()).toMatch(/^HTTP\/1\.1 413 [\s\S]*BODY_TOO_LARGE/);
  });

  it("that is refused over gRPC gets the gate's headers", async () => {
    const { url } = await start({ gate: ({ responseHeader }) => responseHeader.set("ratelimit-limit", "7") });
    const client = createClient(Signing, createGrpcTransport({ baseUrl: url }));
    const tooLarge = { signRequestId: UUID, userSignMessage: new Uint8Array(2_000_000) };
    const error = await client.submitSign(tooLarge).catch((reason: unknown) => ConnectError.from(reason));
    expect(error).toBeInstanceOf(ConnectError);
    const { metadata, ...refusal } = error as ConnectError;
    expect(refusal.code).toBe(Code.ResourceExhausted);
    expect((error as ConnectError).findDetails(ErrorInfoSchema)[0]?.reason).toBe("BODY_TOO_LARGE");
    expect(metadata.get("ratelimit-limit")).toBe("7");
  });

  it("is refused by the gate before its body arrives", async () => {
    await start({
      gate: () => {
        throw new ConnectError("no", Code.PermissionDenied);
      },
    });
    const raw = await openRaw(server.port);
    const headers = { "content-type": "application/json", "content-length": "100" };
    raw.socket.write(rawRequest("POST", "/v1/sign", headers));
    expect(await raw.until(/\r\n\r\n/)).toMatch(/^HTTP\/1\.1 (403|500) /);
    raw.socket.destroy();
  });
});

describe("a caller that sends everything before it reads", () => {
  const BODY = Buffer.alloc(10_000_000, "x");
  const CLOSE = { "content-type": "application/json", connection: "close" };

  /** Sends all of it, and reads only then, like a program with a blocking socket. */
  async function sendFirst(head: string, body: Buffer): Promise<string> {
    const raw = await openRaw(server.port);
    raw.socket.pause();
    raw.socket.write(head);
    const sent = new Promise<void>((resolve, reject) => {
      raw.socket.write(body, (error) => (error ? reject(error) : resolve()));
    });
    await sent;
    raw.socket.resume();
    return raw.closed();
  }

  it.each([
    [
      "the gate's",
      "/v1/sign",
      { "content-length": String(BODY.length) },
      /^HTTP\/1\.1 401 [\s\S]*INVALID_KEY/,
    ],
    ["for too large a body", "/v1/dwallets", { "content-length": String(BODY.length) }, /^HTTP\/1\.1 413 /],
    ["for an unknown route", "/v1/nowhere", { "content-length": String(BODY.length) }, /^HTTP\/1\.1 404 /],
    ["for too long a head", "/v1/sign", { "x-long": "a".repeat(20_000) }, /^HTTP\/1\.1 431 /],
  ])("and wants its connection closed gets a refusal: %s", async (_which, path, headers, refusal) => {
    await start({
      // A busy machine takes its time.
      limits: { lingerTimeoutMs: 60_000 },
      gate: ({ method }) => {
        if (method.name === "ReserveSign") throw new ServiceError("INVALID_KEY", "the key is not known");
      },
    });
    for (let tried = 0; tried < 5; tried++) {
      expect(await sendFirst(rawRequest("POST", path, { ...CLOSE, ...headers }), BODY)).toMatch(refusal);
    }
  });

  it("is cut if it goes on for longer than it may", async () => {
    await start({ limits: { lingerTimeoutMs: 50 } });
    const raw = await openRaw(server.port);
    raw.socket.write(rawRequest("POST", "/v1/nowhere", { ...CLOSE, "content-length": "100" }, "{"));
    expect(await raw.closed()).toMatch(/^HTTP\/1\.1 404 /);
  });
});

describe("a request without a usable host", () => {
  it.each([
    "GET /tss.v1.Signing/GetSign HTTP/1.0\r\n\r\n",
    rawRequest("GET", "/tss.v1.Signing/GetSign", { host: "[" }),
  ])("is answered, and the server still runs: %j", async (text) => {
    await start();
    const raw = await openRaw(server.port);
    raw.socket.write(text);
    expect(await raw.until(/\r\n\r\n/)).toMatch(/^HTTP\/1\.1 400 /);
    raw.socket.destroy();
    expect((await fetch(`${server.url}/v1/health`)).status).toBe(200);
  });
});

describe("a deadline", () => {
  const clients = () =>
    [
      createClient(Signing, createGrpcTransport({ baseUrl: server.url })),
      createClient(Signing, createConnectTransport({ baseUrl: server.url, httpVersion: "1.1" })),
    ] as const;

  it("ends a call whose handler ignores it, with DEADLINE on every protocol", async () => {
    await start({ limits: { defaultDeadlineMs: 30 }, getSign: () => new Promise(() => {}) });
    for (const client of clients()) {
      const error = await client.getSign({ signRequestId: UUID }).then(
        () => undefined,
        (reason: unknown) => ConnectError.from(reason),
      );
      expect(error?.code).toBe(Code.DeadlineExceeded);
      expect(error?.findDetails(ErrorInfoSchema)[0]?.reason).toBe("DEADLINE");
    }
    const reply = await fetch(`${server.url}/v1/sign/${UUID}`);
    expect([reply.status, await reply.text()]).toEqual([504, expect.stringContaining("DEADLINE")]);
    expect(server.calls.map(({ code }) => code)).toEqual(Array(3).fill(Code.DeadlineExceeded));
  });

  it("is the default, the caller's, or the maximum", async () => {
    const given: (number | undefined)[] = [];
    await start({
      getSign: (_request, context) => {
        given.push(context.timeoutMs());
        return {};
      },
    });
    const ask = async (timeoutMs?: number) => {
      const options = timeoutMs === undefined ? {} : { timeoutMs };
      for (const client of clients()) await client.getSign({ signRequestId: UUID }, options);
      await fetch(`${server.url}/v1/sign/${UUID}`, {
        headers: timeoutMs === undefined ? {} : { "connect-timeout-ms": String(timeoutMs) },
      });
      return given.splice(0).map((ms) => Math.ceil((ms ?? 0) / 5000) * 5000);
    };
    expect(await ask()).toEqual([30_000, 30_000, 30_000]);
    expect(await ask(10_000)).toEqual([10_000, 10_000, 10_000]);
    expect(await ask(3_600_000)).toEqual([600_000, 600_000, 600_000]);
  });

  it("that is malformed is the caller's error", async () => {
    await start();
    const reply = await fetch(`${server.url}/v1/sign/${UUID}`, { headers: { "connect-timeout-ms": "soon" } });
    expect([reply.status, await reply.text()]).toEqual([400, expect.stringContaining("connect-timeout-ms")]);
  });
});

describe("a caller that leaves", () => {
  it("aborts its handler, over either version of HTTP", async () => {
    let latch = createLatch();
    let aborted = createLatch();
    await start({
      getSign: async (_request, context) => {
        context.signal.addEventListener("abort", () => void aborted.wait());
        await latch.wait();
        return {};
      },
    });
    const raw = await openRaw(server.port);
    raw.socket.write(rawRequest("GET", `/v1/sign/${UUID}`));
    await latch.entered;
    raw.socket.destroy();
    await aborted.entered;
    latch = createLatch();
    aborted = createLatch();
    const session = connect(server.url);
    const stream = session.request({ ":path": `/v1/sign/${UUID}` });
    stream.on("error", () => {});
    await latch.entered;
    stream.close(8);
    await aborted.entered;
    session.close();
    expect(server.errors).toEqual([]);
  });
});
