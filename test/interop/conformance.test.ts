/** Cases of the Connect conformance suite for servers, on both implementations in the transport. */
import { type ClientHttp2Session, connect, type IncomingHttpHeaders } from "node:http2";
import { gzipSync } from "node:zlib";
import { create, createRegistry, fromBinary, toBinary } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ErrorInfoSchema } from "../../gen/proto/google/rpc/error_details_pb.ts";
import { startTestServer, type TestServer } from "./test-server.ts";
import { messageNamed } from "./testing-messages.ts";

const SERVICE = "/tss.testing.v1.TestService";
const typeRegistry = createRegistry(ErrorInfoSchema);

describe.each([
  ["the own path", true],
  ["the library", false],
])("by %s, a request", (_name, ownPath) => {
  let server: TestServer;
  let session: ClientHttp2Session;
  beforeAll(async () => {
    server = await startTestServer({ ownPath, typeRegistry });
    session = connect(server.url);
  });
  afterAll(async () => {
    session.destroy();
    await server.close();
  });

  interface Reply {
    readonly status: number;
    /** The gRPC status, in the head or in the trailers. */
    readonly code: number;
    readonly headers: IncomingHttpHeaders;
    readonly text: string;
  }

  function send(
    path: string,
    headers: Record<string, string>,
    body: Uint8Array,
    method = "POST",
  ): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const stream = session.request({ ":method": method, ":path": path, ...headers }, { endStream: false });
      const all: IncomingHttpHeaders = {};
      const chunks: Buffer[] = [];
      const note = (found: IncomingHttpHeaders) => Object.assign(all, found);
      stream.on("response", note).on("trailers", note).on("error", reject);
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const text = Buffer.concat(chunks).toString("latin1");
        const code = all["grpc-status"] ?? /grpc-status: (\d+)/.exec(text)?.[1];
        resolve({ status: Number(all[":status"]), code: Number(code), headers: all, text });
      });
      stream.end(body);
    });
  }

  function envelope(bytes: Uint8Array, flags = 0): Buffer {
    const head = Buffer.alloc(5);
    head[0] = flags;
    head.writeUInt32BE(bytes.length, 1);
    return Buffer.concat([head, bytes]);
  }

  const NONE = new Uint8Array();

  describe.each([
    ["gRPC", "application/grpc+proto", "UnaryCall", {}],
    ["gRPC with a codec of JSON", "application/grpc+json", "UnaryCall", {}],
    ["a stream of gRPC", "application/grpc", "StreamingOutputCall", { "grpc-encoding": "identity" }],
    ["gRPC-web", "application/grpc-web+proto", "UnaryCall", { "grpc-encoding": "identity" }],
    [
      "a Connect stream",
      "application/connect+proto",
      "StreamingOutputCall",
      { "connect-content-encoding": "identity" },
    ],
  ])("over %s", (_protocol, type, method, more) => {
    const post = (body: Buffer) => send(`${SERVICE}/${method}`, { "content-type": type, ...more }, body);

    it.each([1, 4, 0x40])(
      "with reserved flags, or compressed without a named compression, is INTERNAL: %i",
      async (flags) => {
        const reply = await post(envelope(type.endsWith("json") ? Buffer.from("{}") : NONE, flags));
        if (type.includes("connect")) expect(JSON.parse(reply.text.slice(5)).error.code).toBe("internal");
        else expect([reply.status, reply.code]).toEqual([200, Code.Internal]);
      },
    );

    it("with no message or two is UNIMPLEMENTED", async () => {
      const one = envelope(type.endsWith("json") ? Buffer.from("{}") : NONE);
      for (const body of [Buffer.alloc(0), Buffer.concat([one, one])]) {
        const reply = await post(body);
        if (type.includes("connect"))
          expect(JSON.parse(reply.text.slice(5)).error.code).toBe("unimplemented");
        else expect(reply.code).toBe(Code.Unimplemented);
      }
    });
  });

  it("with a head that arrives byte by byte is also checked for its flags", async () => {
    const headers = { "content-type": "application/grpc" };
    const stream = session.request({ ":method": "POST", ":path": `${SERVICE}/UnaryCall`, ...headers });
    const response = new Promise<IncomingHttpHeaders>((resolve) => stream.resume().once("response", resolve));
    const trailers = new Promise<IncomingHttpHeaders>((resolve) => stream.once("trailers", resolve));
    for (const byte of envelope(NONE, 1)) stream.write(Buffer.of(byte));
    stream.end();
    const head = await response;
    expect(head["grpc-status"] ?? (await trailers)["grpc-status"]).toBe(String(Code.Internal));
  });

  it("in an unknown codec of gRPC is UNIMPLEMENTED", async () => {
    const reply = await send(
      `${SERVICE}/UnaryCall`,
      { "content-type": "application/grpc+foo" },
      envelope(NONE),
    );
    expect([reply.status, reply.code]).toEqual([200, Code.Unimplemented]);
  });

  it.each([
    ["image/jpeg", "POST", 415],
    ["application/grpc-web+foo", "POST", 415],
    ["application/grpc-web-text+foo", "POST", 415],
    ["application/grpc-web", "DELETE", 405],
    ["application/proto", "DELETE", 405],
  ])("of the type %s by %s is HTTP %i", async (type, method, status) => {
    const reply = await send(`${SERVICE}/UnaryCall`, { "content-type": type }, envelope(NONE), method);
    expect(reply.status).toBe(status);
    expect(reply.headers["grpc-status"]).toBeUndefined();
  });

  it("over gRPC-web to an unknown method is UNIMPLEMENTED", async () => {
    const reply = await send(
      `${SERVICE}/Nothing`,
      { "content-type": "application/grpc-web" },
      envelope(NONE),
    );
    expect([reply.status, reply.code]).toEqual([200, Code.Unimplemented]);
  });

  const LATIN1 = Buffer.from('{"responseStatus":{"message":"\xe9"}}', "latin1");

  it.each([
    ["Connect", `${SERVICE}/UnaryCall`, { "content-type": "application/json" }, LATIN1],
    [
      "Connect, compressed",
      `${SERVICE}/UnaryCall`,
      { "content-type": "application/json", "content-encoding": "gzip" },
      gzipSync(LATIN1),
    ],
    ["REST", "/v1/testing/unary", { "content-type": "application/json" }, LATIN1],
  ])("of JSON that is not UTF-8 is refused over %s", async (_protocol, path, headers, body) => {
    const reply = await send(path, headers, body);
    expect([reply.status, reply.text]).toEqual([400, expect.stringMatching(/invalid_argument|"code":3/)]);
  });

  it("of JSON that is not UTF-8 is refused in a stream", async () => {
    const headers = { "content-type": "application/connect+json" };
    const reply = await send(`${SERVICE}/StreamingOutputCall`, headers, envelope(LATIN1));
    expect(JSON.parse(reply.text.slice(5)).error.code).toBe("invalid_argument");
  });

  describe("with a google.protobuf.Any", () => {
    const echo = { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "WHY", domain: "here" };

    it.each([
      ["Connect", `${SERVICE}/UnaryCall`],
      ["REST", "/v1/testing/unary"],
    ])("is read from JSON and written to it over %s", async (_protocol, path) => {
      const body = Buffer.from(JSON.stringify({ echo }));
      const reply = await send(path, { "content-type": "application/json" }, body);
      expect([reply.status, JSON.parse(reply.text)]).toEqual([
        200,
        expect.objectContaining({ echo: expect.objectContaining(echo) }),
      ]);
    });

    it("of an unknown type is the caller's error in JSON", async () => {
      const body = Buffer.from(JSON.stringify({ echo: { "@type": "type.googleapis.com/none.Such" } }));
      for (const path of [`${SERVICE}/UnaryCall`, "/v1/testing/unary"]) {
        expect((await send(path, { "content-type": "application/json" }, body)).status).toBe(400);
      }
    });

    it("of any type is returned unchanged in binary", async () => {
      const request = create(messageNamed("SimpleRequest"), {
        echo: anyPack(ErrorInfoSchema, create(ErrorInfoSchema, { reason: "WHY" })),
      } as Record<string, unknown>);
      const body = toBinary(messageNamed("SimpleRequest"), request);
      const reply = await send(`${SERVICE}/UnaryCall`, { "content-type": "application/proto" }, body);
      const got = fromBinary(messageNamed("SimpleResponse"), Buffer.from(reply.text, "latin1"));
      expect(got).toMatchObject({ echo: { typeUrl: echo["@type"] } });
    });
  });

  it.each([
    [{ "grpc-timeout": "20S" }, 20_000],
    [{ "grpc-timeout": "20S", "connect-timeout-ms": "10000" }, 10_000],
    [{ "grpc-timeout": "99999999H" }, 600_000],
  ])("over REST has the shorter of its deadlines: %j", async (headers, expectedMs) => {
    const type = { "content-type": "application/json" };
    const reply = await send("/v1/testing/unary", { ...type, ...headers }, Buffer.from("{}"));
    const { deadlineMs } = JSON.parse(reply.text) as { deadlineMs: number };
    expect(Math.ceil(deadlineMs / 5000) * 5000).toBe(expectedMs);
  });

  it("over REST with a malformed grpc-timeout is refused", async () => {
    const headers = { "content-type": "application/json", "grpc-timeout": "soon" };
    const reply = await send("/v1/testing/unary", headers, Buffer.from("{}"));
    expect([reply.status, reply.text]).toEqual([400, expect.stringContaining("grpc-timeout")]);
  });
});
