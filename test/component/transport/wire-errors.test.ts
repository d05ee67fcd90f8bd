import { once } from "node:events";
import { connect } from "node:http2";
import { gzipSync } from "node:zlib";
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  RetryInfoSchema,
} from "../../../gen/proto/google/rpc/error_details_pb.ts";
import { Admin } from "../../../gen/proto/tss/v1/admin_pb.ts";
import { Onboarding } from "../../../gen/proto/tss/v1/onboarding_pb.ts";
import { Signing } from "../../../gen/proto/tss/v1/signing_pb.ts";
import { Hash, SignatureAlgorithm } from "../../../gen/proto/tss/v1/types_pb.ts";
import { ServiceError } from "../../../src/service/platform/errors/service-error.ts";
import { DWALLET_ID, type FakeServer, startFakes, UUID } from "./fake-services.ts";

let server: FakeServer;
let gate: () => void = () => {};
beforeEach(async () => {
  gate = () => {};
  server = await startFakes({ gate: () => gate() });
});
afterEach(() => server.close());

const transports: [string, (baseUrl: string) => Transport][] = [
  ["gRPC", (baseUrl) => createGrpcTransport({ baseUrl })],
  ["gRPC-web", (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "1.1" })],
  ["Connect JSON", (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "1.1" })],
  [
    "Connect binary",
    (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "2", useBinaryFormat: true }),
  ],
];

async function failure(call: Promise<unknown>): Promise<ConnectError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ConnectError);
  return error as ConnectError;
}

function infoOf(error: ConnectError) {
  return error.findDetails(ErrorInfoSchema)[0];
}

describe.each(transports)("over %s", (_name, connectTo) => {
  it("an expected failure carries reason, metadata, retry hint and header", async () => {
    const client = createClient(Signing, connectTo(server.url));
    const error = await failure(
      client.reserveSign({
        dwalletId: DWALLET_ID,
        signatureAlgorithm: SignatureAlgorithm.EdDSA,
        hashScheme: Hash.SHA512,
        message: new Uint8Array([1]),
      }),
    );
    expect(error).toMatchObject({ code: Code.Unavailable, rawMessage: "no presign is ready" });
    expect(infoOf(error)).toMatchObject({ reason: "PRESIGN_POOL_EMPTY", domain: "tss" });
    expect(error.findDetails(RetryInfoSchema)[0]?.retryDelay?.seconds).toBe(2n);
    expect(error.metadata.get("retry-after")).toBe("2");
  });

  it("a violated rule of the contract names the field by its proto name", async () => {
    const error = await failure(
      createClient(Signing, connectTo(server.url)).getSign({ signRequestId: "abc" }),
    );
    expect(error.code).toBe(Code.InvalidArgument);
    expect(infoOf(error)?.reason).toBe("VALIDATION");
    expect(error.findDetails(BadRequestSchema)[0]?.fieldViolations).toMatchObject([
      { field: "sign_request_id", description: "must be a valid UUID" },
    ]);
  });

  it("an unexpected failure shows only the request id", async () => {
    const client = createClient(Admin, connectTo(server.url));
    const error = await failure(
      client.refillPresigns(
        { curve: 0, signatureAlgorithm: 0, count: 1 },
        { headers: { "x-request-id": "find-me" } },
      ),
    );
    expect(error).toMatchObject({ code: Code.Internal, rawMessage: "internal error" });
    expect(infoOf(error)).toMatchObject({ reason: "INTERNAL", metadata: { requestId: "find-me" } });
    expect(server.failures).toMatchObject([
      { level: "error", requestId: "find-me", detail: "secret internals" },
    ]);
  });

  it("a failure of a stream before its first message keeps its reason", async () => {
    const stream = createClient(Onboarding, connectTo(server.url)).getProtocolParameters({
      sha256: "0".repeat(64),
    });
    const error = await failure(stream[Symbol.asyncIterator]().next());
    expect([error.code, infoOf(error)?.reason]).toEqual([Code.NotFound, "PARAMETERS_NOT_FOUND"]);
  });

  it("a refusal of the gate keeps its reason, and the handler is not called", async () => {
    gate = () => {
      throw new ServiceError("INVALID_KEY", "the key is not known");
    };
    const error = await failure(
      createClient(Signing, connectTo(server.url)).getSign({ signRequestId: UUID }),
    );
    expect([error.code, infoOf(error)?.reason]).toEqual([Code.Unauthenticated, "INVALID_KEY"]);
    expect(server.seen).toEqual([]);
    expect(server.calls).toMatchObject([{ method: "tss.v1.Signing/GetSign", code: Code.Unauthenticated }]);
  });

  it("a message that is too large is BODY_TOO_LARGE, and the next call works", async () => {
    const client = createClient(Signing, connectTo(server.url));
    const error = await failure(
      client.submitSign({ signRequestId: UUID, userSignMessage: new Uint8Array(300_000) }),
    );
    expect([error.code, infoOf(error)?.reason]).toEqual([Code.ResourceExhausted, "BODY_TOO_LARGE"]);
    expect((await client.getSign({ signRequestId: UUID })).signRequestId).toBe(UUID);
  });
});

describe("a message that does not decode", () => {
  const truncated = Buffer.from([10, 50, 1]);
  const envelope = Buffer.concat([Buffer.from([0, 0, 0, 0, truncated.length]), truncated]);

  it("over Connect is the caller's error", async () => {
    const reply = await fetch(`${server.url}/tss.v1.Signing/GetSign`, {
      method: "POST",
      headers: { "content-type": "application/proto" },
      body: truncated,
    });
    expect(reply.status).toBe(400);
    expect(await reply.json()).toMatchObject({
      code: "invalid_argument",
      details: [{ type: "google.rpc.ErrorInfo", debug: { reason: "VALIDATION" } }],
    });
  });

  it.each(["GetSign", "GetProtocolParameters"])("over gRPC to %s is the caller's error", async (method) => {
    const service = method === "GetSign" ? "Signing" : "Onboarding";
    const trailers = await rawGrpc(`/tss.v1.${service}/${method}`, envelope);
    expect(trailers["grpc-status"]).toBe(String(Code.InvalidArgument));
    expect(Buffer.from(String(trailers["grpc-status-details-bin"]), "base64").toString("latin1")).toContain(
      "VALIDATION",
    );
  });

  it("over gRPC with half an envelope is the caller's error", async () => {
    const trailers = await rawGrpc("/tss.v1.Signing/GetSign", envelope.subarray(0, 6));
    expect(trailers["grpc-status"]).toBe(String(Code.InvalidArgument));
  });

  it("that grows past the limit when decompressed is BODY_TOO_LARGE", async () => {
    const reply = await fetch(`${server.url}/tss.v1.Signing/GetSign`, {
      method: "POST",
      headers: { "content-type": "application/json", "content-encoding": "gzip" },
      body: gzipSync(JSON.stringify({ signRequestId: "a".repeat(1_000_000) })),
    });
    expect(await reply.json()).toMatchObject({
      code: "resource_exhausted",
      details: [{ debug: { reason: "BODY_TOO_LARGE" } }],
    });
  });
});

async function rawGrpc(path: string, body: Buffer): Promise<Record<string, unknown>> {
  const session = connect(server.url);
  const stream = session.request({
    ":path": path,
    ":method": "POST",
    "content-type": "application/grpc",
    te: "trailers",
  });
  // A reply without messages may have its status in its only header block.
  const head = once(stream, "response");
  const trailers = once(stream, "trailers");
  stream.resume();
  stream.end(body);
  const [only] = await head;
  const [status] = "grpc-status" in only ? [only] : await trailers;
  session.close();
  return status;
}

it("a Connect GET whose message is not base64 is the caller's error", async () => {
  const query = "connect=v1&encoding=proto&base64=1&message=%5Co";
  const reply = await fetch(`${server.url}/tss.v1.Signing/GetSign?${query}`);
  expect([reply.status, await reply.json()]).toEqual([
    400,
    expect.objectContaining({ code: "invalid_argument" }),
  ]);
});
