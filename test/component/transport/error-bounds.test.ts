import { connect, type IncomingHttpHeaders } from "node:http2";
import { fromBinary } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ErrorInfoSchema } from "../../../gen/proto/google/rpc/error_details_pb.ts";
import { StatusSchema } from "../../../gen/proto/google/rpc/status_pb.ts";
import { ServiceError } from "../../../src/service/platform/errors/service-error.ts";
import { type FakeServer, startFakes, UUID } from "./fake-services.ts";

/** Most clients drop a reply with larger headers. */
const PEERS_LIMIT_BYTES = 8 * 1024;
/** Each character has four bytes in UTF-8, twelve characters in percent-encoding, and two units in UTF-16. */
const WIDE = "😈".repeat(3000);

const interceptors = [
  () => () => {
    const violations = Array.from({ length: 300 }, (_, index) => ({
      field: `items[${index}].name`,
      description: `\u0001 is not ${WIDE.slice(0, 400)}`,
    }));
    const metadata = Object.fromEntries(
      Array.from({ length: 50 }, (_, index) => [`fact${index}`, WIDE.slice(0, 400)]),
    );
    throw new ServiceError("VALIDATION", `a${WIDE}`, {
      violations,
      metadata: { ...metadata, requestId: "r-1" },
    });
  },
];
let servers: FakeServer[];
beforeAll(async () => {
  servers = [await startFakes({ interceptors }), await startFakes({ interceptors, ownPath: false })];
});
afterAll(() => Promise.all(servers.map((server) => server.close())));

interface Reply {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

function call(
  server: FakeServer,
  path: string,
  headers: Record<string, string>,
  body: Buffer,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const session = connect(server.url);
    const stream = session.request({ ":method": "POST", ":path": path, ...headers });
    const all: IncomingHttpHeaders = {};
    const chunks: Buffer[] = [];
    const note = (found: IncomingHttpHeaders) => Object.assign(all, found);
    stream.on("response", note).on("trailers", note).on("error", reject);
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("end", () => {
      session.close();
      resolve({ headers: all, body: Buffer.concat(chunks) });
    });
    stream.end(body);
  });
}

const EMPTY_FRAME = Buffer.alloc(5);

function sizeOf(headers: IncomingHttpHeaders): number {
  return Object.entries(headers).reduce(
    (sum, [name, value]) => sum + name.length + String(value).length + 32,
    0,
  );
}

describe.each([
  ["the own path", 0],
  ["the library", 1],
])("an error that is too large by %s", (_name, index) => {
  it.each(["Signing/GetSign", "Onboarding/GetProtocolParameters"])(
    "fits into headers over gRPC from %s, with its reason and the request's id",
    async (method) => {
      const headers = { "content-type": "application/grpc", te: "trailers" };
      const reply = await call(servers[index]!, `/tss.v1.${method}`, headers, EMPTY_FRAME);
      expect(reply.headers["grpc-status"]).toBe(String(Code.InvalidArgument));
      expect(sizeOf(reply.headers)).toBeLessThan(PEERS_LIMIT_BYTES);
      expect(decodeURIComponent(String(reply.headers["grpc-message"]))).toMatch(/^a😈+…$/u);
      const bytes = Buffer.from(String(reply.headers["grpc-status-details-bin"]), "base64");
      const { details, message } = fromBinary(StatusSchema, bytes);
      expect(message).toMatch(/^a😈+…$/u);
      expect(details.map(({ typeUrl }) => typeUrl.split(".").at(-1))).toEqual(["ErrorInfo", "BadRequest"]);
      const info = fromBinary(ErrorInfoSchema, details[0]!.value);
      expect(info).toMatchObject({ reason: "VALIDATION", metadata: { requestId: "r-1" } });
    },
  );

  it.each([
    ["Connect", "/tss.v1.Signing/GetSign", "application/json"],
    ["a Connect stream", "/tss.v1.Onboarding/GetProtocolParameters", "application/connect+json"],
    ["gRPC-web", "/tss.v1.Signing/GetSign", "application/grpc-web+proto"],
  ])("fits over %s", async (_protocol, path, type) => {
    const body = type === "application/json" ? Buffer.from("{}") : Buffer.from("\0\0\0\0\x02{}");
    const proto = type.endsWith("proto") ? EMPTY_FRAME : body;
    const reply = await call(servers[index]!, path, { "content-type": type }, proto);
    expect(reply.body.length + sizeOf(reply.headers)).toBeLessThan(PEERS_LIMIT_BYTES);
    expect(reply.body.toString("latin1")).toMatch(/VALIDATION|grpc-status: 3/);
  });

  it("fits over REST", async () => {
    const reply = await fetch(`${servers[index]!.url}/v1/sign/${UUID}`);
    const text = await reply.text();
    expect(Buffer.byteLength(text)).toBeLessThan(PEERS_LIMIT_BYTES);
    expect(JSON.parse(text)).toMatchObject({
      message: expect.stringMatching(/^a😈+…$/u),
      details: [
        { reason: "VALIDATION", metadata: { requestId: "r-1" } },
        { fieldViolations: expect.any(Array) },
      ],
    });
  });

  it.each([
    ["gRPC's encoding", { "content-type": "application/grpc", "grpc-encoding": "x".repeat(12_000) }],
    ["gRPC's time-out", { "content-type": "application/grpc", "grpc-timeout": "x".repeat(12_000) }],
    ["Connect's encoding", { "content-type": "application/json", "content-encoding": "x".repeat(12_000) }],
  ])("is cut if it quotes %s", async (_what, headers) => {
    const reply = await call(servers[index]!, "/tss.v1.Signing/GetSign", headers, EMPTY_FRAME);
    expect(reply.body.length + sizeOf(reply.headers)).toBeLessThan(PEERS_LIMIT_BYTES);
  });
});
