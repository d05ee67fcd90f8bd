import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type ClientHttp2Session, connect, constants } from "node:http2";
import { connect as connectTcp, type Socket } from "node:net";
import path from "node:path";
import { connect as connectTls } from "node:tls";
import { afterEach, describe, expect, it, vi } from "vitest";
import { FLAG, frame, headerBlock, PREFACE, settings, TYPE, word } from "../../fuzz/http2-frames.ts";
import { type FakeServer, type Hooks, startFakes, UUID } from "./fake-services.ts";
import { rawRequest } from "./raw-socket.ts";

const CERTIFICATE = readFileSync(
  path.join(import.meta.dirname, "../../support/service/localhost.cert.pem"),
  "utf8",
);
const KEY = readFileSync(path.join(import.meta.dirname, "../../support/service/localhost.key.pem"), "utf8");
/** More than both kernels buffer for a connection whose peer does not read. */
const PIPELINED_COUNT = 150;

let server: FakeServer;
async function start(hooks: Hooks = {}): Promise<FakeServer> {
  const message = new Uint8Array(60_000);
  server = await startFakes({
    getSign: ({ signRequestId }) => ({ signRequestId, message }),
    routes: [{ path: "/large", handle: () => ({ status: 200, headers: {}, body: new Uint8Array(60_000) }) }],
    ...hooks,
    limits: { writeTimeoutMs: 400, ...hooks.limits },
  });
  return server;
}
afterEach(() => server.close());

vi.setConfig({ testTimeout: 30_000 });

async function open(isTls: boolean, protocol: "h2" | "http/1.1" = "http/1.1"): Promise<Socket> {
  const where = { port: server.port, host: "127.0.0.1" };
  const options = { ...where, ca: CERTIFICATE, ALPNProtocols: [protocol] };
  const socket = isTls ? connectTls(options) : connectTcp(where);
  socket.on("error", () => {});
  await once(socket, isTls ? "secureConnect" : "connect");
  return socket;
}

describe.each([
  ["in clear text", {}],
  ["over TLS", { tls: { certificatePem: CERTIFICATE, keyPem: KEY } }],
])("HTTP/1.1 %s", (_name, hooks: Hooks) => {
  it.each([
    ["a unary reply over REST", rawRequest("GET", `/v1/sign/${UUID}`)],
    ["a plain reply", rawRequest("GET", "/large")],
    [
      "a unary reply over Connect",
      rawRequest(
        "POST",
        "/tss.v1.Signing/GetSign",
        { "content-type": "application/json", "content-length": "60" },
        JSON.stringify({ signRequestId: UUID }).padEnd(60),
      ),
    ],
  ])("cuts a peer that does not read %s", async (_what, request) => {
    await start(hooks);
    const socket = await open(hooks.tls !== undefined);
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.pause();
    socket.write(request.repeat(PIPELINED_COUNT));
    // The server cuts the peer although it keeps sending.
    const dribble = setInterval(() => socket.write(request), 5);
    await closed;
    clearInterval(dribble);
    expect(await server.drain({ delayMs: 0, timeoutMs: 5000 })).toBe(true);
  });
});

/** The identifier of a setting (RFC 9113, 6.5.2). */
const INITIAL_WINDOW_SIZE = 4;
const MAX_WINDOW = 2 ** 31 - 1;
/** Always makes the plain choice. */
const plain = {
  next: () => 0,
  integer: (min: number) => min,
  happens: () => false,
  pick: <T>([first]: readonly T[]) => first!,
};
const GRPC = { ":method": "POST", ":path": "/tss.v1.Signing/GetSign", "content-type": "application/grpc" };
const GRPC_REQUEST = Buffer.concat([Buffer.from([0, 0, 0, 0, 38, 10, 36]), Buffer.from(UUID)]);

async function openHttp2(isTls: boolean): Promise<ClientHttp2Session> {
  const session = connect(server.url, {
    settings: { initialWindowSize: 0 },
    ...(isTls ? { ca: CERTIFICATE } : {}),
  });
  session.on("error", () => {});
  await once(session, "remoteSettings");
  return session;
}

describe.each([
  ["in clear text", {}],
  ["over TLS", { tls: { certificatePem: CERTIFICATE, keyPem: KEY } }],
])("HTTP/2 %s", (_name, hooks: Hooks) => {
  it.each([
    ["a unary reply over gRPC", GRPC, GRPC_REQUEST],
    ["a unary reply over REST", { ":path": `/v1/sign/${UUID}` }, undefined],
    ["a plain reply", { ":path": "/large" }, undefined],
  ])("cuts only the stream of which the peer does not read %s", async (_what, headers, body) => {
    await start(hooks);
    const session = await openHttp2(hooks.tls !== undefined);
    const stream = session.request(headers, { endStream: body === undefined });
    const closed = new Promise((resolve) => stream.on("error", () => {}).once("close", resolve));
    if (body !== undefined) stream.end(body);
    await closed;
    expect([constants.NGHTTP2_CANCEL, constants.NGHTTP2_INTERNAL_ERROR]).toContain(stream.rstCode);
    // The connection stays open and serves the peer that reads.
    session.setLocalWindowSize(1 << 20);
    session.settings({ initialWindowSize: 1 << 20 });
    const next = session.request({ ":path": "/v1/health" });
    const [head] = await once(next.resume(), "response");
    expect(head[":status"]).toBe(200);
    session.destroy();
  });

  it("cuts the connection of a peer that reads nothing", async () => {
    await start(hooks);
    const socket = await open(hooks.tls !== undefined, "h2");
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.pause();
    const fields = { ":method": "GET", ":scheme": "http", ":path": "/large", ":authority": "test" };
    const requests = Array.from({ length: 200 }, (_, index) =>
      frame(
        TYPE.headers,
        FLAG.endHeaders | FLAG.endStream,
        2 * index + 1,
        headerBlock(plain, Object.entries(fields)),
      ),
    );
    socket.write(Buffer.concat([PREFACE, settings([[INITIAL_WINDOW_SIZE, MAX_WINDOW]])]));
    socket.write(Buffer.concat([frame(TYPE.windowUpdate, 0, 0, word(MAX_WINDOW - 1_000_000)), ...requests]));
    // The peer keeps sending, so that it notices when the connection is cut.
    const dribble = setInterval(() => socket.write(frame(TYPE.windowUpdate, 0, 0, word(1))), 5);
    await closed;
    clearInterval(dribble);
    expect(await server.drain({ delayMs: 0, timeoutMs: 5000 })).toBe(true);
  });
});

it("an address that leaves too much unread is cut before the time-out", async () => {
  await start({ limits: { writeTimeoutMs: 60_000, unreadBytesPerAddress: 1_000_000 } });
  const sessions = await Promise.all([openHttp2(false), openHttp2(false)]);
  const streams = sessions.flatMap((session) =>
    Array.from({ length: 20 }, () => session.request({ ":path": "/large" }).on("error", () => {})),
  );
  const closed: unknown[] = [];
  for (const stream of streams) stream.once("close", () => closed.push(stream));
  // 16 of the 40 replies of 60,000 bytes are within the limit.
  await new Promise<void>((resolve) => {
    for (const stream of streams) stream.once("close", () => closed.length === 24 && resolve());
  });
  for (const session of sessions) session.destroy();
  expect(closed).toHaveLength(24);
});
