/** Every invalid input gets its error from the catalogue, through REST and gRPC, and the process keeps running. */
import http2 from "node:http2";
import { beforeAll, describe, expect, it } from "vitest";
import { type SharedService, sharedService } from "../support/service/shared-service.ts";

const ID = `0x${"ab".repeat(32)}`;
const UUID = "0190b6a4-7e1c-7c3a-8a55-3f2b1c0d9e8f";
let service: SharedService;

beforeAll(async () => {
  service = await sharedService();
});

interface Refusal {
  readonly name: string;
  readonly path: string;
  readonly body?: unknown;
  readonly rawBody?: string;
  readonly headers?: Record<string, string>;
  readonly key?: string | null;
  readonly status: number;
  readonly reason: string;
  readonly field?: string;
}

const sign = { dwalletId: ID, signatureAlgorithm: "EdDSA", hashScheme: "SHA512", message: "aGk=" };
const REFUSALS: Refusal[] = [
  { name: "no key", path: "/v1/sign", body: sign, key: null, status: 401, reason: "MISSING_KEY" },
  {
    name: "a wrong key",
    path: "/v1/sign",
    body: sign,
    key: "tss_local_nope",
    status: 401,
    reason: "INVALID_KEY",
  },
  {
    name: "another network than the key's",
    path: "/v1/sign",
    body: sign,
    headers: { "x-network": "testnet" },
    status: 401,
    reason: "NETWORK_MISMATCH",
  },
  {
    name: "a project key on an admin call",
    path: "/v1/admin/presigns/health",
    status: 403,
    reason: "ADMIN_ONLY",
  },
  { name: "an unknown dWallet", path: "/v1/sign", body: sign, status: 404, reason: "DWALLET_NOT_FOUND" },
  {
    name: "an unknown dWallet to read",
    path: `/v1/dwallets/${ID}`,
    status: 404,
    reason: "DWALLET_NOT_FOUND",
  },
  {
    name: "an unknown sign request",
    path: `/v1/sign/${UUID}`,
    status: 404,
    reason: "SIGN_REQUEST_NOT_FOUND",
  },
  {
    name: "an invalid triple",
    path: "/v1/sign",
    body: { ...sign, hashScheme: "KECCAK256" },
    status: 400,
    reason: "UNSUPPORTED_ALGORITHM",
  },
  {
    name: "a message of 16,382 bytes",
    path: "/v1/sign",
    body: { ...sign, message: Buffer.alloc(16_382).toString("base64") },
    status: 400,
    reason: "MESSAGE_TOO_LARGE",
  },
  {
    name: "a dWallet id of the wrong form",
    path: "/v1/sign",
    body: { ...sign, dwalletId: "0xAB" },
    status: 400,
    reason: "VALIDATION",
    field: "dwallet_id",
  },
  {
    name: "a sign request id of the wrong form",
    path: "/v1/sign/42",
    status: 400,
    reason: "VALIDATION",
    field: "sign_request_id",
  },
  {
    name: "a chain integer as curve",
    path: "/v1/encryption-keys",
    body: { curve: 2 },
    status: 400,
    reason: "VALIDATION",
    field: "curve",
  },
  {
    name: "an unknown field",
    path: "/v1/sign",
    body: { ...sign, colour: "red" },
    status: 400,
    reason: "VALIDATION",
  },
  { name: "malformed JSON", path: "/v1/sign", rawBody: '{"dwalletId": ', status: 400, reason: "VALIDATION" },
  {
    name: "a body of 300 KiB",
    path: "/v1/sign",
    body: { ...sign, message: "A".repeat(307_200) },
    status: 413,
    reason: "BODY_TOO_LARGE",
  },
  { name: "an unknown route", path: "/v1/nothing", status: 404, reason: "ROUTE_NOT_FOUND" },
  {
    name: "unknown parameters",
    path: `/v1/protocol-parameters/${"0".repeat(64)}`,
    status: 404,
    reason: "PARAMETERS_NOT_FOUND",
  },
];

describe("a refusal over REST", () => {
  it.each(REFUSALS)("answers $name with $reason", async (refusal) => {
    const post = refusal.body !== undefined || refusal.rawBody !== undefined;
    const reply = await fetch(service.access.baseUrl + refusal.path, {
      method: post ? "POST" : "GET",
      headers: {
        ...(refusal.key === null ? {} : { authorization: `Bearer ${refusal.key ?? service.access.apiKey}` }),
        ...(post ? { "content-type": "application/json" } : {}),
        ...refusal.headers,
      },
      ...(post ? { body: refusal.rawBody ?? JSON.stringify(refusal.body) } : {}),
    });
    const status = (await reply.json()) as { message: string; details: Record<string, unknown>[] };
    expect({ http: reply.status, reason: reasonOf(status.details) }).toEqual({
      http: refusal.status,
      reason: refusal.reason,
    });
    expect(reply.headers.get("x-request-id")).toBeTruthy();
    if (refusal.field) expect(JSON.stringify(status.details)).toContain(`"field":"${refusal.field}"`);
    expect(JSON.stringify(status)).not.toContain(service.access.apiKey);
  });
});

describe("a refusal over gRPC", () => {
  it("answers truncated protobuf with INVALID_ARGUMENT", async () => {
    const trailers = await grpcCall("/tss.v1.Signing/ReserveSign", Buffer.from([0x0a, 0x42, 0x30]));
    expect(trailers["grpc-status"]).toBe("3");
  });

  it("answers an unknown method with UNIMPLEMENTED", async () => {
    const trailers = await grpcCall("/tss.v1.Signing/Forge", Buffer.alloc(0));
    expect(trailers["grpc-status"]).toBe("12");
  });
});

it("the service still runs after every refusal", async () => {
  const reply = await fetch(`${service.access.baseUrl}/v1/health`);
  expect(reply.status).toBe(200);
  expect((await service.log()).join("\n")).not.toContain(service.access.apiKey);
});

function reasonOf(details: Record<string, unknown>[]): unknown {
  return details.find((d) => d["@type"] === "type.googleapis.com/google.rpc.ErrorInfo")?.["reason"];
}

function grpcCall(path: string, message: Buffer): Promise<http2.IncomingHttpHeaders> {
  return new Promise((resolve, reject) => {
    const session = http2.connect(service.access.baseUrl);
    const stream = session.request({
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
      te: "trailers",
      authorization: `Bearer ${service.access.apiKey}`,
    });
    const frame = Buffer.alloc(5);
    frame.writeUInt32BE(message.length, 1);
    let head: http2.IncomingHttpHeaders = {};
    let tail: http2.IncomingHttpHeaders = {};
    stream.on("response", (headers) => {
      head = headers;
    });
    stream.on("trailers", (headers) => {
      tail = headers;
    });
    stream.on("error", reject);
    stream.on("close", () => {
      session.close();
      resolve({ ...head, ...tail });
    });
    stream.resume();
    stream.end(Buffer.concat([frame, message]));
  });
}
