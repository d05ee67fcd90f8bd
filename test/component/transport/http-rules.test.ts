/** Rules of HTTP (RFC 9110 and 9112), gRPC and Connect that clients other than ours depend on. */
import { once } from "node:events";
import { connect, type IncomingHttpHeaders, type OutgoingHttpHeaders } from "node:http2";
import { gzipSync } from "node:zlib";
import { Code, type HandlerContext } from "@connectrpc/connect";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ServiceError } from "../../../src/service/platform/errors/service-error.ts";
import { type FakeServer, startFakes, UUID } from "./fake-services.ts";
import { openRaw, rawRequest } from "./raw-socket.ts";

let server: FakeServer;
let gate: (context: HandlerContext) => void = () => {};
beforeEach(async () => {
  gate = () => {};
  server = await startFakes({ gate: (context) => gate(context), limits: { bodyBytes: 100 } });
});
afterEach(() => server.close());

const GET_SIGN = "/tss.v1.Signing/GetSign";
const BODY = JSON.stringify({ signRequestId: UUID });

function post(path: string, headers: Record<string, string>, body: string = BODY) {
  return fetch(server.url + path, { method: "POST", headers, body });
}

/** Sends a request over HTTP/2 and returns its head and trailers together, and its body. */
async function send(headers: OutgoingHttpHeaders, body: Uint8Array = Buffer.alloc(0)) {
  const session = connect(server.url);
  const request = { ":method": "POST", ...headers };
  const stream = session.request(request, { endStream: request[":method"] === "GET" });
  const all: IncomingHttpHeaders = {};
  const chunks: Buffer[] = [];
  stream.on("response", (head) => Object.assign(all, head));
  stream.on("trailers", (trailers) => Object.assign(all, trailers));
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  if (!stream.writableEnded) stream.end(body);
  await once(stream, "close");
  session.close();
  return { headers: all, body: Buffer.concat(chunks) };
}

describe("a whole URL as the target", () => {
  it.each([
    ["GET", `/v1/sign/${UUID}`, ""],
    ["POST", GET_SIGN, BODY],
    ["GET", "/v1/health?a=b", ""],
  ])("is served like its path: %s %s", async (method, path, body) => {
    const raw = await openRaw(server.port);
    const headers = { "content-type": "application/json", "content-length": String(body.length) };
    raw.socket.write(rawRequest(method, `http://example.test:80${path}`, headers, body));
    expect(await raw.until(/\}$/)).toMatch(/^HTTP\/1\.1 200 /);
    raw.socket.destroy();
  });

  it("replaces the host of the header", async () => {
    let url = "";
    gate = (context) => {
      url = context.url;
    };
    const raw = await openRaw(server.port);
    raw.socket.write(rawRequest("GET", `HTTP://example.test/v1/sign/${UUID}`, { host: "other.test" }));
    await raw.until(/\}$/);
    raw.socket.destroy();
    expect(url).toBe(`http://example.test/v1/sign/${UUID}`);
  });
});

it("a reply of 401 names the way to authenticate, on every protocol of HTTP", async () => {
  gate = () => {
    throw new ServiceError("INVALID_KEY", "the key is not known");
  };
  const query = `connect=v1&encoding=json&message=${encodeURIComponent(BODY)}`;
  const replies = [
    await post("/v1/sign", { "content-type": "application/json" }),
    await post(GET_SIGN, { "content-type": "application/json" }),
    await fetch(`${server.url}${GET_SIGN}?${query}`),
  ];
  const seen = replies.map(({ status, headers }) => [status, headers.get("www-authenticate")]);
  expect(seen).toEqual(Array(3).fill([401, "Bearer"]));
});

describe("a caller that waits for 100 Continue", () => {
  const WAITING = { "content-type": "application/json", expect: "100-continue" };
  const length = (count: number) => ({ "content-length": String(count) });

  it.each([
    ["over REST", "/v1/sign", "application/json", 413],
    ["over Connect", GET_SIGN, "application/json", 429],
    ["over a stream of Connect", "/tss.v1.Signing/WatchSign", "application/connect+json", 200],
    ["over gRPC-web", GET_SIGN, "application/grpc-web+proto", 200],
  ])("gets the refusal of its key or its length instead, %s", async (_how, path, type, tooLarge) => {
    const refuse = async (status: number, headers: Record<string, string>) => {
      const raw = await openRaw(server.port);
      raw.socket.write(rawRequest("POST", path, { ...WAITING, "content-type": type, ...headers }));
      const text = await raw.until(/\r\n\r\n/);
      expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
      // Nobody knows whether the body follows.
      expect(text).toMatch(/\r\nconnection: close\r\n/i);
      raw.socket.destroy();
    };
    await refuse(tooLarge, length(1_000));
    gate = () => {
      throw new ServiceError("INVALID_KEY", "the key is not known");
    };
    await refuse(tooLarge === 200 ? 200 : 401, length(10));
  });

  it("gets 100 once its key and length are accepted, and its connection stays open", async () => {
    const raw = await openRaw(server.port);
    for (let time = 0; time < 2; time++) {
      raw.socket.write(rawRequest("POST", GET_SIGN, { ...WAITING, ...length(BODY.length) }));
      await raw.until(/HTTP\/1\.1 100 Continue\r\n\r\n$/);
      raw.socket.write(BODY);
      await raw.until(/HTTP\/1\.1 200 [\s\S]*\}$/);
    }
    raw.socket.destroy();
  });

  it("over HTTP/2 gets 100 at the same point", async () => {
    const session = connect(server.url);
    const ask = (path: string, type: string) => {
      const headers = { ...WAITING, "content-type": type, ":method": "POST", ":path": path };
      const stream = session.request(headers, { endStream: false });
      const first = Promise.race([
        once(stream, "continue").then(() => 100),
        once(stream, "response").then(([head]) => head[":status"]),
      ]);
      stream.resume();
      return first;
    };
    expect(await ask("/v1/sign", "application/json")).toBe(100);
    expect(await ask(GET_SIGN, "application/json")).toBe(100);
    expect(await ask(GET_SIGN, "application/grpc")).toBe(100);
    gate = () => {
      throw new ServiceError("INVALID_KEY", "the key is not known");
    };
    expect(await ask("/v1/sign", "application/json")).toBe(401);
    expect(await ask(GET_SIGN, "application/json")).toBe(401);
    expect(await ask(GET_SIGN, "application/grpc")).toBe(200);
    session.destroy();
  });
});

describe("a content coding", () => {
  it("that REST does not know is refused with the list of those that it knows", async () => {
    const reply = await post("/v1/sign", { "content-type": "application/json", "content-encoding": "zstd" });
    expect([reply.status, reply.headers.get("accept-encoding")]).toEqual([415, "gzip, br"]);
  });

  it.each(["gzip", "br"])("of an empty body changes nothing: %s", async (encoding) => {
    const headers = { "content-type": "application/json", "content-encoding": encoding };
    const accept = await post(`/v1/dwallets/0x${"ab".repeat(32)}/accept`, headers, "");
    const read = await fetch(`${server.url}/v1/sign/${UUID}`, { headers });
    const plain = await post(GET_SIGN, { "content-type": "application/json" }, "");
    const encoded = await post(GET_SIGN, headers, "");
    expect([read.status, encoded.status]).toEqual([200, plain.status]);
    expect([await accept.text(), await encoded.text()]).not.toContainEqual(
      expect.stringMatching(/gzip|decompress/),
    );
  });

  it("that a stream of requests does not know is refused with the list of those that it knows", async () => {
    const path = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
    const grpc = await send({ ":path": path, "content-type": "application/grpc", "grpc-encoding": "zstd" });
    expect(grpc.headers).toMatchObject({ "grpc-status": "12", "grpc-accept-encoding": "gzip,br" });
    const web = await send({
      ":path": path,
      "content-type": "application/grpc-web",
      "grpc-encoding": "zstd",
    });
    expect(web.headers["grpc-accept-encoding"]).toBe("gzip,br");
    const connectHeaders = { "content-type": "application/connect+json", "connect-content-encoding": "zstd" };
    const stream = await send({ ":path": path, ...connectHeaders });
    expect(stream.headers["connect-accept-encoding"]).toBe("gzip,br");
  });
});

describe("a parameter of a content type", () => {
  it.each([
    ["application/json; foo=bar", 200],
    ['application/json;charset="UTF-8";foo=bar', 200],
    ["application/json; foo=bar; charset=utf8", 200],
    ["application/json; charset=latin1", 415],
    ["text/plain; foo=application/json", 415],
  ])("has a meaning only if it is the charset: %s", async (type, status) => {
    const headers = { "content-type": type };
    expect((await post(GET_SIGN, headers)).status).toBe(status);
    const path = `/v1/sign/${UUID}/submit`;
    const rest = await post(path, headers, JSON.stringify({ userSignMessage: "AA==" }));
    expect(rest.status).toBe(status);
  });

  it("is ignored by gRPC and by gRPC-web too", async () => {
    const body = Buffer.concat([Buffer.from([0, 0, 0, 0, 38, 10, 36]), Buffer.from(UUID)]);
    for (const type of ["application/grpc", "application/grpc-web+proto"]) {
      const reply = await send({ ":path": GET_SIGN, "content-type": `${type}; foo=bar` }, body);
      expect(`${String(reply.headers["grpc-status"])}${reply.body.toString("latin1")}`).toMatch(
        /^0|grpc-status: 0/,
      );
    }
  });
});

it.each([
  ["gRPC", { ":path": GET_SIGN, "content-type": "application/grpc", "grpc-timeout": "0n" }],
  [
    "a stream of gRPC",
    { ":path": "/tss.v1.Signing/WatchSign", "content-type": "application/grpc", "grpc-timeout": "0S" },
  ],
  ["gRPC-web", { ":path": GET_SIGN, "content-type": "application/grpc-web", "grpc-timeout": "0n" }],
  ["Connect", { ":path": GET_SIGN, "content-type": "application/proto", "connect-timeout-ms": "0" }],
  ["REST", { ":method": "GET", ":path": `/v1/sign/${UUID}`, "grpc-timeout": "0n" }],
  ["a stream of REST", { ":method": "GET", ":path": `/v1/sign/${UUID}/watch`, "connect-timeout-ms": "0" }],
])("a call without any time is not served, over %s", async (_protocol, headers) => {
  await send(headers as OutgoingHttpHeaders);
  expect(server.calls.map(({ code }) => code)).toEqual([Code.DeadlineExceeded]);
  expect(server.seen).toEqual([]);
});

describe("gRPC-web's base64 form", () => {
  const TEXT = { ":path": GET_SIGN, "content-type": "application/grpc-web-text+proto" };
  const frame = Buffer.concat([Buffer.from([0, 0, 0, 0, 38, 10, 36]), Buffer.from(UUID)]);

  /** Decodes texts that follow each other, each with its own padding. */
  const decoded = (body: Buffer) =>
    Buffer.concat((body.toString().match(/[^=]+={0,2}/g) ?? []).map((part) => Buffer.from(part, "base64")));

  it("is served like the binary form, in one text or several", async () => {
    const binary = await send({ ...TEXT, "content-type": "application/grpc-web+proto" }, frame);
    const whole = Buffer.from(frame.toString("base64"));
    const pieces = [frame.subarray(0, 4), frame.subarray(4, 12), frame.subarray(12)];
    const split = Buffer.from(pieces.map((piece) => piece.toString("base64")).join(""));
    for (const body of [whole, split]) {
      const reply = await send(TEXT, body);
      expect(reply.headers["content-type"]).toBe("application/grpc-web-text+proto");
      expect(decoded(reply.body).toString("hex")).toBe(binary.body.toString("hex"));
    }
  });

  it("streams a reply of several messages", async () => {
    const reply = await send(
      { ...TEXT, ":path": "/tss.v1.Signing/WatchSign" },
      Buffer.from(frame.toString("base64")),
    );
    expect(decoded(reply.body).toString("latin1")).toMatch(/first[\s\S]*last[\s\S]*grpc-status: 0/);
  });

  it.each(["====", "AAA", "A===", "AAAA AAA", "%%%%"])(
    "that is not base64 is the caller's error: %s",
    async (text) => {
      const reply = await send(TEXT, Buffer.from(text));
      expect(decoded(reply.body).toString("latin1")).toMatch(/grpc-status: 3\r\n/);
    },
  );

  it("that is compressed or too large gets the same error as the binary form", async () => {
    const zipped = gzipSync(frame.subarray(5));
    const head = Buffer.from([1, 0, 0, 0, zipped.length]);
    const body = Buffer.from(Buffer.concat([head, zipped]).toString("base64"));
    const reply = await send({ ...TEXT, "grpc-encoding": "gzip" }, body);
    expect(decoded(reply.body).toString("latin1")).toContain("grpc-status: 0");
    const long = Buffer.concat([Buffer.from([0, 0, 0, 1, 44]), Buffer.alloc(300)]);
    const large = await send(TEXT, Buffer.from(long.toString("base64")));
    expect(decoded(large.body).toString("latin1")).toMatch(/grpc-status: 8\r\n/);
  });
});
