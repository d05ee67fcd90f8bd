import { connect, constants } from "node:http2";
import { Code } from "@connectrpc/connect";
import { afterEach, expect, it } from "vitest";
import { FLAG, frame, headerBlock, PREFACE, settings, TYPE, word } from "../../fuzz/http2-frames.ts";
import { type FakeServer, startFakes } from "./fake-services.ts";
import { openRaw } from "./raw-socket.ts";

let server: FakeServer;
afterEach(() => server.close());

/** Always makes the plain choice. */
const plain = {
  next: () => 0,
  integer: (min: number) => min,
  happens: () => false,
  pick: <T>([first]: readonly T[]) => first!,
};

function headers(more: Record<string, string>): Buffer {
  const fields = { ":method": "POST", ":scheme": "http", ":path": "/v1/sign", ":authority": "test", ...more };
  return frame(TYPE.headers, FLAG.endHeaders, 1, headerBlock(plain, Object.entries(fields)));
}

it.each([
  ["waits for 100 Continue", { expect: "100-continue" }],
  ["is a CONNECT", { ":method": "CONNECT" }],
  ["is gRPC", { ":path": "/tss.v1.Signing/GetSign", "content-type": "application/grpc" }],
])("a request that %s and is reset in the same packet does not harm the server", async (_what, more) => {
  server = await startFakes();
  const raw = await openRaw(server.port);
  const reset = frame(TYPE.reset, 0, 1, word(constants.NGHTTP2_CANCEL));
  const ping = frame(TYPE.ping, 0, 0, Buffer.from("12345678"));
  raw.socket.write(Buffer.concat([PREFACE, settings([]), headers(more), reset, ping]));
  await raw.until(/12345678/);
  raw.socket.destroy();
  expect(await (await fetch(`${server.url}/v1/health`)).json()).toEqual({ status: "ok" });
  expect(server.errors).toEqual([]);
});

it("a connection that breaks the protocol while a request is open is closed", async () => {
  server = await startFakes({ limits: { idleTimeoutMs: 50, bodyTimeoutMs: 50, lingerTimeoutMs: 50 } });
  const raw = await openRaw(server.port);
  raw.socket.write(Buffer.concat([PREFACE, settings([]), headers({ "content-type": "application/json" })]));
  // Longer padding than payload (RFC 9113, 6.1).
  raw.socket.write(frame(TYPE.data, FLAG.padded, 1, Buffer.from([200])));
  await raw.closed();
  expect(await server.drain({ delayMs: 0, timeoutMs: 5_000 })).toBe(true);
});

it("a stream lasts longer than the idle time of connections while its caller answers", async () => {
  server = await startFakes({ limits: { idleTimeoutMs: 20 } });
  const session = connect(server.url);
  const stream = session.request({
    ":path": "/grpc.health.v1.Health/Watch",
    ":method": "POST",
    "content-type": "application/grpc",
  });
  stream.write(Buffer.alloc(5));
  stream.end();
  // Node answers pings automatically and reports them.
  for (let pings = 0; pings < 3; pings++) await new Promise((resolve) => session.once("ping", resolve));
  expect(stream.closed).toBe(false);
  session.destroy();
});

it("a caller that resets its stream with an internal error counts as gone", async () => {
  server = await startFakes();
  const session = connect(server.url);
  const stream = session.request({
    ":path": "/grpc.health.v1.Health/Watch",
    ":method": "POST",
    "content-type": "application/grpc",
  });
  stream.on("error", () => {});
  const answered = new Promise((resolve) => stream.once("data", resolve));
  stream.end(Buffer.alloc(5));
  await answered;
  stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  // The reply follows the reset.
  await new Promise<void>((resolve) => session.ping(() => resolve()));
  session.close();
  expect(await server.drain({ delayMs: 0, timeoutMs: 5_000 })).toBe(true);
  expect(server.calls.map(({ code }) => code)).toEqual([Code.Canceled]);
  expect(server.failures).toEqual([]);
});

it("an error that quotes half a character from a request can be sent over gRPC", async () => {
  server = await startFakes();
  const session = connect(server.url);
  const stream = session.request({
    ":path": "/tss.v1.Signing/ReserveSign",
    ":method": "POST",
    "content-type": "application/grpc+json",
  });
  const json = Buffer.from('{"signatureAlgorithm":"\\ud800"}');
  stream.end(Buffer.concat([Buffer.from([0]), word(json.length), json]));
  const head = await new Promise<NodeJS.Dict<unknown>>((resolve) =>
    stream.resume().once("response", resolve),
  );
  const status =
    head["grpc-status"] ??
    (await new Promise<NodeJS.Dict<unknown>>((resolve) => stream.once("trailers", resolve)))["grpc-status"];
  expect(status).toBe(String(Code.InvalidArgument));
  session.close();
});
