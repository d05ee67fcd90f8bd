/** gRPC over HTTP/2 byte by byte: requests that no client library sends, and parts of a reply that none shows. */
import { once } from "node:events";
import { type ClientHttp2Session, connect, type IncomingHttpHeaders } from "node:http2";
import { gunzipSync, gzipSync } from "node:zlib";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { OVERSIZE_BYTES, payloadOf, startTestServer, type TestServer } from "./test-server.ts";
import { messageNamed, type SimpleRequest, type SimpleResponse } from "./testing-messages.ts";

let server: TestServer;
let session: ClientHttp2Session;
beforeAll(async () => {
  server = await startTestServer();
  session = connect(server.url);
});
afterAll(async () => {
  session.close();
  await server.close();
});

interface Reply {
  readonly head: IncomingHttpHeaders;
  /** The status is in the head if the reply consists only of a head. */
  readonly trailers: IncomingHttpHeaders;
  readonly code: number;
  readonly body: Buffer;
}

interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Record<string, string>;
  /** Each piece is sent in its own frame. */
  readonly frames?: readonly Uint8Array[];
}

async function call({
  method = "POST",
  path = "UnaryCall",
  headers = {},
  frames = [],
}: Sent): Promise<Reply> {
  const stream = session.request({
    ":method": method,
    ":path": `/tss.testing.v1.TestService/${path}`,
    "content-type": "application/grpc",
    te: "trailers",
    ...headers,
  });
  let trailers: IncomingHttpHeaders | undefined;
  stream.on("trailers", (found: IncomingHttpHeaders) => {
    trailers = found;
  });
  const response = once(stream, "response") as Promise<[IncomingHttpHeaders]>;
  for (const frame of frames) stream.write(frame);
  stream.end();
  const [head] = await response;
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  const last = trailers ?? head;
  return {
    head,
    trailers: last,
    code: Number(last["grpc-status"] ?? Number.NaN),
    body: Buffer.concat(chunks),
  };
}

const COMPRESSED = 1;

function envelope(bytes: Uint8Array, flags = 0): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt8(flags, 0);
  prefix.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([prefix, bytes]);
}

function request(fields: SimpleRequest): Uint8Array {
  const schema = messageNamed("SimpleRequest");
  return toBinary(schema, create(schema, fields as Record<string, unknown>));
}

function replySize(bytes: Uint8Array): number | undefined {
  const reply = fromBinary(messageNamed("SimpleResponse"), bytes) as unknown as SimpleResponse;
  return reply.payload?.body.length;
}

describe("a request", () => {
  it("may arrive byte by byte", async () => {
    const bytes = envelope(request({ responseSize: 3 }));
    const { code, body, head } = await call({ frames: Array.from(bytes, (byte) => Uint8Array.of(byte)) });
    expect([code, replySize(body.subarray(5)), head[":status"]]).toEqual([0, 3, 200]);
    expect(head["content-type"]).toMatch(/^application\/grpc(\+proto)?$/);
  });

  it("may be compressed message by message", async () => {
    const headers = { "grpc-encoding": "gzip" };
    const bytes = request({ responseSize: 3, payload: payloadOf(1000) });
    const zipped = await call({ headers, frames: [envelope(gzipSync(bytes), COMPRESSED)] });
    const plain = await call({ headers, frames: [envelope(bytes)] });
    expect([zipped.code, replySize(zipped.body.subarray(5))]).toEqual([0, 3]);
    expect([plain.code, replySize(plain.body.subarray(5))]).toEqual([0, 3]);
  });

  it("with an unknown compression is UNIMPLEMENTED", async () => {
    const headers = { "grpc-encoding": "snappy" };
    const { code } = await call({ headers, frames: [envelope(request({}), COMPRESSED)] });
    expect(code).toBe(Code.Unimplemented);
  });

  it("that is compressed without a named compression is refused", async () => {
    const { code } = await call({ frames: [envelope(request({}), COMPRESSED)] });
    expect(code).toBe(Code.Internal);
  });

  it("that is not compressed as declared is refused", async () => {
    const headers = { "grpc-encoding": "gzip" };
    const { code } = await call({ headers, frames: [envelope(Buffer.from("not gzip"), COMPRESSED)] });
    expect([Code.InvalidArgument, Code.Internal]).toContain(code);
  });

  it("that is too large when decompressed is RESOURCE_EXHAUSTED", async () => {
    const headers = { "grpc-encoding": "gzip" };
    const bomb = gzipSync(Buffer.alloc(OVERSIZE_BYTES));
    const { code } = await call({ headers, frames: [envelope(bomb, COMPRESSED)] });
    expect(code).toBe(Code.ResourceExhausted);
  });

  it("that announces too large a message is RESOURCE_EXHAUSTED before it is sent", async () => {
    const { code } = await call({ frames: [Buffer.of(0, 0x7f, 0xff, 0xff, 0xff)] });
    expect(code).toBe(Code.ResourceExhausted);
  });

  it.each([
    ["bytes that are no message", [envelope(Buffer.of(10, 50, 1))]],
    ["half a prefix", [Buffer.of(0, 0)]],
    ["less than it announced", [envelope(Buffer.alloc(10)).subarray(0, 8)]],
  ])("of %s is the caller's error", async (_what, frames) => {
    expect((await call({ frames })).code).toBe(Code.InvalidArgument);
  });

  it.each([
    ["no message", []],
    ["two messages", [envelope(new Uint8Array()), envelope(new Uint8Array())]],
  ])("of %s instead of one message is refused", async (_what, frames) => {
    const codes = [Code.InvalidArgument, Code.Unimplemented, Code.Internal];
    expect(codes).toContain((await call({ frames })).code);
    expect(codes).toContain((await call({ path: "StreamingOutputCall", frames })).code);
  });

  it.each(["application/x-protobuf", "text/plain"])("of the content type %s is 415", async (type) => {
    const { head } = await call({ headers: { "content-type": type }, frames: [envelope(request({}))] });
    expect(head[":status"]).toBe(415);
  });

  it("in a codec of gRPC other than protobuf is refused", async () => {
    const headers = { "content-type": "application/grpc+thrift" };
    const { head, code } = await call({ headers, frames: [envelope(request({}))] });
    // gRPC does not specify whether the status is HTTP's or its own.
    expect(Number(head[":status"]) === 415 || code > 0).toBe(true);
  });

  it("by GET is refused with the allowed method", async () => {
    const { head, code } = await call({ method: "GET" });
    expect(Number(head[":status"]) === 405 || code === Code.Unimplemented).toBe(true);
    expect(head["allow"]).toBe("POST");
  });
});

describe("a reply", () => {
  const wanting = { responseSize: 10_000 };

  it("is compressed for a caller that accepts it", async () => {
    const headers = { "grpc-accept-encoding": "identity,deflate,gzip" };
    const { head, body } = await call({ headers, frames: [envelope(request(wanting))] });
    expect([head["grpc-encoding"], body[0]]).toEqual(["gzip", COMPRESSED]);
    expect(body.readUInt32BE(1)).toBe(body.length - 5);
    expect(replySize(gunzipSync(body.subarray(5)))).toBe(10_000);
  });

  it("is not compressed for a caller that does not mention compression", async () => {
    const { head, body } = await call({ frames: [envelope(request(wanting))] });
    expect([head["grpc-encoding"] ?? "identity", body[0]]).toEqual(["identity", 0]);
    expect(replySize(body.subarray(5))).toBe(10_000);
  });

  it("percent-encodes a message that a header cannot hold", async () => {
    const responseStatus = { code: 2, message: "é %\n" };
    const { head, trailers } = await call({ frames: [envelope(request({ responseStatus }))] });
    const text = String(trailers["grpc-message"]);
    expect([head[":status"], decodeURIComponent(text)]).toEqual([200, "é %\n"]);
    expect(text).toMatch(/^[ -~]+$/);
  });

  it("for an unknown path also has a gRPC status", async () => {
    const { head, code } = await call({ path: "Nothing" });
    expect([head[":status"], code]).toEqual([200, Code.Unimplemented]);
    expect(head["content-type"]).toMatch(/^application\/grpc/);
  });
});

describe("a deadline", () => {
  it.each(["100m", "100000u", "99999999n"])("of %s ends a call that hangs", async (timeout) => {
    const frames = [envelope(request({ hang: true }))];
    const { code } = await call({ headers: { "grpc-timeout": timeout }, frames });
    expect(code).toBe(Code.DeadlineExceeded);
  });

  it.each(["99999999H", "99999999M", "3600S"])("of %s is shortened to the maximum", async (timeout) => {
    const { code, body } = await call({
      headers: { "grpc-timeout": timeout },
      frames: [envelope(request({}))],
    });
    const reply = fromBinary(messageNamed("SimpleResponse"), body.subarray(5)) as unknown as SimpleResponse;
    expect(code).toBe(0);
    expect(reply.deadlineMs).toBeGreaterThan(540_000);
    expect(reply.deadlineMs).toBeLessThanOrEqual(600_000);
  });

  it.each(["soon", "1", "123456789S", "-1S", "1s"])("of %j is refused", async (timeout) => {
    const { code } = await call({ headers: { "grpc-timeout": timeout }, frames: [envelope(request({}))] });
    expect([Code.InvalidArgument, Code.Internal]).toContain(code);
  });

  it("that has passed ends the call", async () => {
    const frames = [envelope(request({ hang: true }))];
    expect((await call({ headers: { "grpc-timeout": "0n" }, frames })).code).toBe(Code.DeadlineExceeded);
  });
});
