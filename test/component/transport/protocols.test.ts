import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { createClient, type Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { createConnectTransport as createWebTransport } from "@connectrpc/connect-web";
import { Client, credentials, type Metadata, type StatusObject } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Onboarding } from "../../../gen/proto/tss/v1/onboarding_pb.ts";
import {
  GetSignRequestSchema,
  Signing,
  SignRequest_Status,
  SignRequestSchema,
} from "../../../gen/proto/tss/v1/signing_pb.ts";
import {
  createLatch,
  type FakeServer,
  PARAMETERS,
  PARAMETERS_SHA256,
  startFakes,
  UUID,
} from "./fake-services.ts";

let server: FakeServer;
beforeAll(async () => {
  server = await startFakes();
});
afterAll(() => server.close());

const transports: [string, string, (baseUrl: string) => Transport][] = [
  ["gRPC over h2c", "grpc", (baseUrl) => createGrpcTransport({ baseUrl })],
  [
    "gRPC-web over HTTP/1.1",
    "grpc-web",
    (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "1.1" }),
  ],
  ["gRPC-web over h2c", "grpc-web", (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "2" })],
  [
    "Connect JSON over HTTP/1.1",
    "connect",
    (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "1.1" }),
  ],
  [
    "Connect binary over h2c",
    "connect",
    (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "2", useBinaryFormat: true }),
  ],
  [
    "Connect GET",
    "connect",
    (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "1.1", useHttpGet: true }),
  ],
  ["Connect-Web", "connect", (baseUrl) => createWebTransport({ baseUrl })],
];

describe.each(transports)("%s", (_name, protocol, connect) => {
  it("answers a unary call, and the handler and the caller see the same request id", async () => {
    const client = createClient(Signing, connect(server.url));
    let replyId: string | null = null;
    const reply = await client.getSign(
      { signRequestId: UUID },
      {
        headers: { "x-request-id": "mine-1" },
        onHeader: (headers) => (replyId = headers.get("x-request-id")),
      },
    );
    expect(reply).toMatchObject({
      signRequestId: UUID,
      status: SignRequest_Status.queued,
      priceMicroUsd: 5n,
    });
    expect(replyId).toBe("mine-1");
    expect(server.seen.at(-1)).toMatchObject({ name: "getSign", requestId: "mine-1" });
    expect(server.calls.at(-1)).toMatchObject({
      method: "tss.v1.Signing/GetSign",
      protocol,
      code: undefined,
    });
  });

  it("streams complete messages in order", async () => {
    const client = createClient(Onboarding, connect(server.url));
    const chunks: Uint8Array[] = [];
    for await (const body of client.getProtocolParameters({ sha256: PARAMETERS_SHA256 }))
      chunks.push(body.data);
    expect(chunks).toHaveLength(3);
    expect(Buffer.concat(chunks).equals(PARAMETERS)).toBe(true);
  });
});

describe("@grpc/grpc-js", () => {
  it("calls a unary method and reads status and headers", async () => {
    const client = new Client(new URL(server.url).host, credentials.createInsecure());
    const headers: Metadata[] = [];
    const reply = await new Promise((resolve, reject) => {
      const call = client.makeUnaryRequest(
        "/tss.v1.Signing/GetSign",
        (message) => Buffer.from(toBinary(GetSignRequestSchema, message)),
        (bytes) => fromBinary(SignRequestSchema, bytes),
        create(GetSignRequestSchema, { signRequestId: UUID }),
        (error, value) => (error ? reject(error) : resolve(value)),
      );
      call.on("metadata", (metadata) => headers.push(metadata));
    });
    client.close();
    expect(reply).toMatchObject({ signRequestId: UUID });
    expect(headers[0]?.get("x-request-id")[0]).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("gets UNIMPLEMENTED for an unknown method", async () => {
    const client = new Client(new URL(server.url).host, credentials.createInsecure());
    const status = await new Promise<StatusObject>((resolve) => {
      const call = client.makeUnaryRequest("/no.Such/Method", noBytes, noBytes, undefined, () => {});
      call.on("status", resolve);
    });
    client.close();
    expect(status).toMatchObject({ code: 12, details: "there is no such method" });
  });
});

function noBytes(): Buffer {
  return Buffer.alloc(0);
}

describe("Connect JSON", () => {
  it("contains implicit fields and omits absent optional ones", async () => {
    const reply = await fetch(`${server.url}/tss.v1.Signing/GetSign`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ signRequestId: UUID }),
    });
    const json = await reply.json();
    expect(json).toMatchObject({ dwalletId: "", priceMicroUsd: "5" });
    expect(json).not.toHaveProperty("signature");
    expect(json).not.toHaveProperty("failure");
  });
});

it("an empty request over HTTP/2 that ended before its caller is admitted is answered", async () => {
  const gate = createLatch();
  const gated = await startFakes({ gate: gate.wait });
  const session = connectHttp2(gated.url);
  try {
    const call = session.request({
      ":method": "POST",
      ":path": "/tss.v1.Onboarding/GetNetwork",
      "content-type": "application/proto",
    });
    const replied = once(call, "response");
    call.end();
    await gate.entered;
    // The server answers a ping after the frames before it.
    await new Promise((resolve) => session.ping(resolve));
    gate.open();
    const [headers] = await replied;
    expect(headers).toMatchObject({ ":status": 200 });
  } finally {
    session.destroy();
    await gated.close();
  }
});
