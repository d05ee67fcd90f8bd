/** `curl` over both HTTP versions: Connect and REST calls as scripts make them, and their errors. */
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runProgram } from "./run-program.ts";
import {
  LARGE_REPLY_BYTES,
  OVERSIZE_BYTES,
  payloadOf,
  SPECIAL_MESSAGE,
  startTestServer,
  type TestServer,
} from "./test-server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

interface Reply {
  readonly version: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  json(): unknown;
}

/** The output that curl writes after the body. */
const FORMAT = "\n%{http_version} %{http_code} %{header_json}";

async function curl(options: readonly string[], where: string, body?: string | Uint8Array): Promise<Reply> {
  const data = body === undefined ? [] : ["--data-binary", "@-"];
  const argv = ["--silent", "--show-error", ...options, ...data, "--write-out", FORMAT, server.url + where];
  const { code, out, err } = await runProgram("curl", argv, body);
  if (code !== 0) throw new Error(`curl ended with ${code}: ${err}`);
  const [, text = "", version = "", status, headers = "{}"] =
    /^(.*)\n(\S+) (\d+) (\{.*\})\s*$/su.exec(out.toString()) ?? [];
  return {
    version,
    status: Number(status),
    headers: new Headers(
      Object.entries(JSON.parse(headers) as Record<string, string[]>).map(([name, [value = ""]]) => [
        name,
        value,
      ]),
    ),
    text,
    json: () => JSON.parse(text) as unknown,
  };
}

const header = (line: string) => ["--header", line];
const JSON_TYPE = header("content-type: application/json");
const CALL = "/tss.testing.v1.TestService/UnaryCall";
const base64 = (size: number) => Buffer.from(payloadOf(size).body).toString("base64");

describe.each([
  ["1.1", []],
  ["2", ["--http2-prior-knowledge"]],
])("HTTP/%s", (version, way) => {
  describe("Connect", () => {
    const call = (request: object, ...options: string[]) =>
      curl([...way, ...JSON_TYPE, ...options], CALL, JSON.stringify(request));

    it("answers JSON of any size with JSON", async () => {
      const reply = await call({ responseSize: LARGE_REPLY_BYTES, payload: { body: base64(10_000) } });
      expect([reply.version, reply.status]).toEqual([version, 200]);
      expect(reply.json()).toMatchObject({ payload: { body: base64(LARGE_REPLY_BYTES) } });
      expect(reply.headers.get("content-type")).toBe("application/json");
    });

    it("allows GET for methods without side effects, and only POST for others", async () => {
      const query = "?connect=v1&encoding=json&message=%7B%7D";
      const reply = await curl(way, `/tss.testing.v1.TestService/EmptyCall${query}`);
      expect([reply.status, reply.json()]).toEqual([200, {}]);
      const refused = await curl(way, CALL + query);
      expect([refused.status, refused.headers.get("allow")]).toEqual([405, "POST"]);
    });

    it("compresses replies for a caller that accepts it, and reads compressed requests", async () => {
      const reply = await call({ responseSize: 10_000 }, "--compressed");
      expect(reply.headers.get("content-encoding")).toMatch(/^(gzip|br)$/);
      expect(reply.json()).toMatchObject({ payload: { body: base64(10_000) } });
      const gzip = [...way, ...JSON_TYPE, ...header("content-encoding: gzip")];
      const zipped = gzipSync(JSON.stringify({ expectCompressed: true, payload: { body: base64(1000) } }));
      expect((await curl(gzip, CALL, zipped)).status).toBe(200);
    });

    it("returns the error of a failed call", async () => {
      const responseStatus = { code: 9, message: SPECIAL_MESSAGE, withDetails: true };
      const reply = await call({ responseStatus });
      expect(reply.status).toBe(400);
      expect(reply.json()).toMatchObject({
        code: "failed_precondition",
        message: SPECIAL_MESSAGE,
        details: [{ type: "google.rpc.ErrorInfo" }, { type: "google.rpc.RetryInfo" }],
      });
    });

    it("returns metadata in headers, and trailing metadata with a prefix", async () => {
      const lines = ["x-grpc-test-echo-initial: hello", "x-grpc-test-echo-trailing-bin: q6ur"];
      const { headers } = await call({}, ...lines.flatMap(header));
      expect(headers.get("x-grpc-test-echo-initial")).toBe("hello");
      expect(headers.get("trailer-x-grpc-test-echo-trailing-bin")).toBe("q6ur");
    });

    it("ends a call that hangs at its deadline", async () => {
      const reply = await call({ hang: true }, ...header("connect-timeout-ms: 100"));
      expect([reply.status, reply.json()]).toMatchObject([504, { code: "deadline_exceeded" }]);
    });

    it.each([
      ["JSON that is none", "{"],
      ["a field of another kind", '{"responseSize": "many"}'],
    ])("refuses %s", async (_what, body) => {
      const reply = await curl([...way, ...JSON_TYPE], CALL, body);
      expect([reply.status, reply.json()]).toMatchObject([400, { code: "invalid_argument" }]);
    });

    it("answers UNIMPLEMENTED for an unknown method", async () => {
      const where = "/tss.testing.v1.TestService/UnimplementedCall";
      const reply = await curl([...way, ...JSON_TYPE], where, "{}");
      expect([reply.status, reply.json()]).toMatchObject([501, { code: "unimplemented" }]);
    });

    it("answers health checks", async () => {
      const reply = await curl([...way, ...JSON_TYPE], "/grpc.health.v1.Health/Check", "{}");
      expect(reply.json()).toEqual({ status: "SERVING" });
    });
  });

  describe("REST", () => {
    const post = (where: string, request: object, ...options: string[]) =>
      curl([...way, ...JSON_TYPE, ...options], where, JSON.stringify(request));

    it("returns the message, and takes parameters from path and query", async () => {
      const posted = await post("/v1/testing/unary", { responseSize: 3 });
      expect([posted.version, posted.status, posted.json()]).toMatchObject([
        version,
        200,
        { payload: { body: "AAEC" } },
      ]);
      const got = await curl(way, "/v1/testing/unary/2?payload.body=AAEC");
      expect(got.json()).toMatchObject({ payload: { body: "AAE=" } });
      expect((await curl(way, "/v1/testing/empty")).json()).toEqual({});
    });

    it("streams one line per message", async () => {
      const request = { responseParameters: [{ size: 3 }, { size: 2 }] };
      const lines = await post("/v1/testing/stream", request);
      expect(
        lines.text
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line) as unknown),
      ).toEqual([{ payload: { body: "AAEC" } }, { payload: { body: "AAE=" } }]);
    });

    it("returns the error of a failed call as a google.rpc.Status", async () => {
      const reply = await post("/v1/testing/unary", {
        responseStatus: { code: 5, message: SPECIAL_MESSAGE, withDetails: true },
      });
      expect(reply.status).toBe(404);
      expect(reply.json()).toMatchObject({
        code: 5,
        message: SPECIAL_MESSAGE,
        details: [
          { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "AS_ASKED" },
          { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "7s" },
        ],
      });
    });

    it.each([
      ["JSON that is none", JSON_TYPE, "{", 400],
      ["a field that nobody knows", JSON_TYPE, '{"colour": 1}', 400],
    ])("refuses %s", async (_what, options, body, status) => {
      const reply = await curl([...way, ...options], "/v1/testing/unary", body);
      expect(reply.status).toBe(status);
      expect(reply.json()).toMatchObject({ code: expect.any(Number), message: expect.any(String) });
    });

    it("refuses a wrong method of a route, and an unknown route", async () => {
      const wrongMethod = await curl([...way, "--request", "DELETE"], "/v1/testing/unary");
      expect([wrongMethod.status, wrongMethod.headers.get("allow")]).toEqual([405, "POST, OPTIONS"]);
      expect((await curl(way, "/v1/testing/nothing")).status).toBe(404);
    });
  });
});

describe("HTTP/1.1", () => {
  const text = header("content-type: text/plain");
  const late = [...JSON_TYPE, ...header("connect-timeout-ms: soon")];
  const snappy = [...JSON_TYPE, ...header("content-encoding: snappy")];
  const large = " ".repeat(OVERSIZE_BYTES);

  it.each([
    ["a content type that Connect does not have", CALL, text, "{}", 415],
    ["a deadline that is none", CALL, late, "{}", 400],
    ["a compression that nobody knows", CALL, snappy, "{}", 501],
    ["what is too large for Connect", CALL, JSON_TYPE, large, 429],
    ["what nobody serves", "/tss.testing.v1.TestService/Nothing", JSON_TYPE, "{}", 404],
    ["a content type that REST does not have", "/v1/testing/unary", text, "{}", 415],
    ["what is too large for REST", "/v1/testing/unary", JSON_TYPE, large, 413],
  ])("refuses %s without reading it", async (_what, where, options, body, status) => {
    expect((await curl(options, where, body)).status).toBe(status);
  });

  it("keeps its connection over good and bad calls", async () => {
    const urls = [CALL, CALL, CALL].map((where) => server.url + where);
    const argv = [
      "--silent",
      ...JSON_TYPE,
      "--data",
      "{",
      ...urls,
      "--write-out",
      " %{http_code} %{num_connects}\n",
    ];
    const { out } = await runProgram("curl", argv);
    expect([...out.toString().matchAll(/ (\d+) (\d+)\n/g)].map(([, ...found]) => found)).toEqual([
      ["400", "1"],
      ["400", "0"],
      ["400", "0"],
    ]);
  });

  it("tells curl to continue before a large body, or refuses it", async () => {
    const options = [...JSON_TYPE, ...header("expect: 100-continue")];
    expect((await curl(options, CALL, JSON.stringify({ responseSize: 1 }))).status).toBe(200);
  });
});
