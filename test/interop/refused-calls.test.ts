/** Replies to calls that the server refuses before it reads them. */
import { once } from "node:events";
import { connect, type IncomingHttpHeaders } from "node:http2";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runProgram } from "./run-program.ts";
import { OVERSIZE_BYTES, startTestServer, type TestServer } from "./test-server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

const CALL = "/tss.testing.v1.TestService/UnaryCall";
/** Whether the reply is lost depends on the order of arrival. */
const TRIES = 10;

const TEXT = ["content-type: text/plain"];
const JSON_TYPE = ["content-type: application/json"];
const LATE = [...JSON_TYPE, "connect-timeout-ms: soon"];
const SNAPPY = [...JSON_TYPE, "content-encoding: snappy"];
const LARGE = " ".repeat(OVERSIZE_BYTES);

describe("curl over HTTP/2", () => {
  it.each([
    ["a content type that Connect does not have", CALL, TEXT, "{}", 415],
    ["a deadline that is none", CALL, LATE, "{}", 400],
    ["a compression that nobody knows", CALL, SNAPPY, "{}", 501],
    ["what is too large for Connect", CALL, JSON_TYPE, LARGE, 429],
    ["what nobody serves", "/tss.testing.v1.TestService/Nothing", JSON_TYPE, "{}", 404],
    ["a content type that REST does not have", "/v1/testing/unary", TEXT, "{}", 415],
    ["what is too large for REST", "/v1/testing/unary", JSON_TYPE, LARGE, 413],
  ])("gets every refusal %s", async (_what, where, headers, body, status) => {
    const argv = ["--silent", "--http2-prior-knowledge", ...headers.flatMap((line) => ["--header", line])];
    argv.push("--data-binary", "@-", "--write-out", " %{http_code}", server.url + where);
    const seen: string[] = [];
    for (let tried = 0; tried < TRIES; tried++) {
      const { code, out } = await runProgram("curl", argv, body);
      seen.push(`${code}, ${out.toString().slice(-3)}`);
    }
    expect(seen).toEqual(Array(TRIES).fill(`0, ${status}`));
  });
});

describe("a call with an unknown compression", () => {
  it("over gRPC receives the list of supported compressions", async () => {
    const session = connect(server.url);
    const stream = session.request({
      ":method": "POST",
      ":path": CALL,
      "content-type": "application/grpc",
      "grpc-encoding": "snappy",
      te: "trailers",
    });
    // A reply without messages may have its status in its only header block.
    const heard = once(stream, "response") as Promise<[IncomingHttpHeaders]>;
    stream.end(Buffer.of(1, 0, 0, 0, 0));
    stream.resume();
    const [head] = await heard;
    session.close();
    expect(head["grpc-accept-encoding"]).toMatch(/\bgzip\b/);
  });

  it("over Connect receives the list of supported compressions", async () => {
    const reply = await fetch(server.url + CALL, {
      method: "POST",
      headers: { "content-type": "application/json", "content-encoding": "snappy" },
      body: "{}",
    });
    expect(reply.headers.get("accept-encoding")).toMatch(/\bgzip\b/);
  });
});

describe("Python's urllib, which sends all of a body before it reads and asks to close the connection", () => {
  // The program prints the status of each refusal, or the error that it met instead.
  const PROGRAM = `
import sys, urllib.error, urllib.request
for url in sys.argv[1:]:
    request = urllib.request.Request(url, b" " * 10_000_000, {"content-type": "application/json"})
    try:
        urllib.request.urlopen(request)
    except urllib.error.HTTPError as error:
        print(error.code, len(error.read()) > 0)
    except Exception as error:
        print(error)
`;

  it("gets every refusal", async () => {
    const urls = ["/v1/testing/unary", CALL, "/v1/nowhere"].map((where) => server.url + where);
    const { out } = await runProgram("python3", ["-c", PROGRAM, ...urls]);
    expect(out.toString().trim().split("\n")).toEqual(["413 True", "429 True", "404 True"]);
  });
});
