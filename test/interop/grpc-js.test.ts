import { type EventEmitter, once } from "node:events";
import * as grpc from "@grpc/grpc-js";
import { loadSync, type MethodDefinition, type PackageDefinition } from "@grpc/proto-loader";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import {
  ECHO_INITIAL,
  ECHO_TRAILING,
  LARGE_REPLY_BYTES,
  LARGE_REQUEST_BYTES,
  OVERSIZE_BYTES,
  payloadOf,
  SPECIAL_MESSAGE,
  startTestServer,
  type TestServer,
} from "./test-server.ts";
import type { SimpleRequest, SimpleResponse, StreamRequest, StreamResponse } from "./testing-messages.ts";

let server: TestServer;
let client: grpc.Client;
let definitions: PackageDefinition;
beforeAll(async () => {
  server = await startTestServer();
  client = new grpc.Client(server.address, grpc.credentials.createInsecure());
  definitions = loadSync(
    [
      "tss/testing/v1/testing.proto",
      "grpc/health/v1/health.proto",
      "grpc/reflection/v1alpha/reflection.proto",
    ],
    { includeDirs: [inject("protoFolder")], longs: Number, enums: String, defaults: true, oneofs: true },
  );
});
afterAll(async () => {
  client.close();
  await server.close();
});

type Method<In, Out> = MethodDefinition<In & object, Out & object>;

function method<In, Out>(name: string, service = "tss.testing.v1.TestService"): Method<In, Out> {
  const found = (definitions[service] as unknown as Record<string, MethodDefinition<object, object>>)[name];
  if (found === undefined) throw new Error(`there is no method ${name}`);
  return found as unknown as Method<In, Out>;
}

/** The outcome of a call from the caller's view. */
interface Outcome<Out> {
  readonly replies: Out[];
  readonly head: grpc.Metadata | undefined;
  readonly status: grpc.StatusObject;
}

/** Waits for the end of a call, whether it succeeds or fails. */
async function ended(
  call: EventEmitter,
): Promise<{ head: grpc.Metadata | undefined; status: grpc.StatusObject }> {
  let head: grpc.Metadata | undefined;
  call.on("metadata", (metadata: grpc.Metadata) => {
    head = metadata;
  });
  // The status contains the same.
  call.on("error", () => {});
  const status = await new Promise<grpc.StatusObject>((resolve) => call.once("status", resolve));
  return { head, status };
}

async function unary<In, Out>(
  { path, requestSerialize, responseDeserialize }: Method<In, Out>,
  request: In & object,
  options: grpc.CallOptions = {},
  metadata = new grpc.Metadata(),
): Promise<Outcome<Out>> {
  const replies: Out[] = [];
  const call = client.makeUnaryRequest(
    path,
    requestSerialize,
    responseDeserialize,
    request,
    metadata,
    options,
    (_, reply) => {
      if (reply !== undefined) replies.push(reply);
    },
  );
  return { ...(await ended(call)), replies };
}

const unaryCall = (
  request: SimpleRequest,
  options: grpc.CallOptions = {},
  metadata = new grpc.Metadata(),
): Promise<Outcome<SimpleResponse>> => unary(method("UnaryCall"), request, options, metadata);

function outputStream(
  request: StreamRequest,
  options: grpc.CallOptions = {},
  metadata = new grpc.Metadata(),
): grpc.ClientReadableStream<StreamResponse> {
  const { path, requestSerialize, responseDeserialize } = method<StreamRequest, StreamResponse>(
    "StreamingOutputCall",
  );
  return client.makeServerStreamRequest(
    path,
    requestSerialize,
    responseDeserialize,
    request,
    metadata,
    options,
  );
}

function duplex(options: grpc.CallOptions = {}): grpc.ClientDuplexStream<StreamRequest, StreamResponse> {
  const { path, requestSerialize, responseDeserialize } = method<StreamRequest, StreamResponse>(
    "FullDuplexCall",
  );
  return client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, options);
}

async function collected<Out>(stream: grpc.ClientReadableStream<Out>): Promise<Outcome<Out>> {
  const replies: Out[] = [];
  stream.on("data", (reply: Out) => replies.push(reply));
  return { ...(await ended(stream)), replies };
}

function echoed(): grpc.Metadata {
  const metadata = new grpc.Metadata();
  metadata.set(ECHO_INITIAL, "test_initial_metadata_value");
  metadata.set(ECHO_TRAILING, Buffer.of(0, 0xab, 0xff, 0x0a));
  return metadata;
}

const { status: Status } = grpc;
/** Characters that must not be escaped, because grpc-js does not unescape them, and those that must be. */
const RESERVED_MESSAGE = " sign_request_id: 100% of {a}, ;/?:@&=+$,#~!*'()<>\"\\|^`[] ";
const sizesOf = (replies: readonly StreamResponse[]) =>
  replies.map(({ payload }) => payload?.body.length ?? 0);

describe("a unary call", () => {
  it("may be empty", async () => {
    const { status, replies } = await unary(method("EmptyCall"), {});
    expect([status.code, replies]).toEqual([Status.OK, [{}]]);
  });

  it.each([
    ["as it is", grpc.compressionAlgorithms.identity],
    ["with gzip", grpc.compressionAlgorithms.gzip],
  ])("may be large, %s", async (_how, algorithm) => {
    const gzipping = new grpc.Client(server.address, grpc.credentials.createInsecure(), {
      "grpc.default_compression_algorithm": algorithm,
    });
    const { path, requestSerialize, responseDeserialize } = method<SimpleRequest, SimpleResponse>(
      "UnaryCall",
    );
    const request = {
      responseSize: LARGE_REPLY_BYTES,
      payload: payloadOf(LARGE_REQUEST_BYTES),
      expectCompressed: algorithm === grpc.compressionAlgorithms.gzip,
    };
    const reply = await new Promise<SimpleResponse | undefined>((resolve, reject) => {
      gzipping.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, (error, value) =>
        error === null ? resolve(value) : reject(error),
      );
    });
    gzipping.close();
    expect(Buffer.from(reply?.payload?.body ?? []).equals(payloadOf(LARGE_REPLY_BYTES).body)).toBe(true);
  });

  it("gets its metadata back in the head and the trailers", async () => {
    const { head, status } = await unaryCall({ responseSize: 1 }, {}, echoed());
    expect(head?.get(ECHO_INITIAL)).toEqual(["test_initial_metadata_value"]);
    expect(status.metadata.get(ECHO_TRAILING)).toEqual([Buffer.of(0, 0xab, 0xff, 0x0a)]);
  });

  it.each(["test status message", SPECIAL_MESSAGE, RESERVED_MESSAGE])(
    "gets code and message as they were sent: %j",
    async (message) => {
      const { status } = await unaryCall({ responseStatus: { code: Status.UNKNOWN, message } });
      expect(status).toMatchObject({ code: Status.UNKNOWN, details: message });
    },
  );

  it("gets the details of an error as a google.rpc.Status", async () => {
    const responseStatus = { code: Status.ABORTED, message: "details", withDetails: true };
    const { status } = await unaryCall({ responseStatus });
    const [bytes] = status.metadata.get("grpc-status-details-bin") as [Buffer];
    expect(bytes.subarray(0, 2)).toEqual(Buffer.of(0x08, Status.ABORTED));
    expect(bytes.toString()).toContain("type.googleapis.com/google.rpc.ErrorInfo");
    expect(bytes.toString()).toContain("type.googleapis.com/google.rpc.RetryInfo");
  });

  it("to an unknown method or service is UNIMPLEMENTED", async () => {
    const own = await unary(method("UnimplementedCall"), {});
    const strange = await unary(method("UnimplementedCall", "tss.testing.v1.UnimplementedService"), {});
    expect([own.status.code, strange.status.code]).toEqual([Status.UNIMPLEMENTED, Status.UNIMPLEMENTED]);
  });

  it("that is too large is RESOURCE_EXHAUSTED, and the connection stays open", async () => {
    const { status } = await unaryCall({ payload: payloadOf(OVERSIZE_BYTES) });
    expect(status.code).toBe(Status.RESOURCE_EXHAUSTED);
    expect((await unaryCall({})).status.code).toBe(Status.OK);
  });

  it("ends at its deadline while the server sleeps, and aborts the server's handler", async () => {
    const left = once(server.events, "left");
    const { status } = await unaryCall({ hang: true }, { deadline: Date.now() + 100 });
    expect(status.code).toBe(Status.DEADLINE_EXCEEDED);
    await left;
  });

  it("has its deadline shortened to the maximum", async () => {
    const { replies } = await unaryCall({}, { deadline: Date.now() + 3_600_000 });
    expect(replies[0]?.deadlineMs).toBeGreaterThan(540_000);
    expect(replies[0]?.deadlineMs).toBeLessThanOrEqual(600_000);
  });

  it("does not wait for others on its connection", async () => {
    const stuck = outputStream({ hang: true });
    const end = collected(stuck);
    const calls = await Promise.all(
      Array.from({ length: 100 }, (_, size) => unaryCall({ responseSize: size })),
    );
    expect(calls.map(({ replies }) => replies[0]?.payload?.body.length)).toEqual(
      calls.map((_, size) => size),
    );
    stuck.cancel();
    expect((await end).status.code).toBe(Status.CANCELLED);
  });
});

describe("a stream", () => {
  it("of replies arrives complete and in order", async () => {
    const sizes = [31_415, 9, 2653, 58_979];
    const request = { responseParameters: sizes.map((size) => ({ size })) };
    const { replies, status, head } = await collected(outputStream(request, {}, echoed()));
    expect([sizesOf(replies), status.code]).toEqual([sizes, Status.OK]);
    expect(head?.get(ECHO_INITIAL)).toEqual(["test_initial_metadata_value"]);
    expect(status.metadata.get(ECHO_TRAILING)).toEqual([Buffer.of(0, 0xab, 0xff, 0x0a)]);
  });

  it("of requests is read to its end", async () => {
    const { path, requestSerialize, responseDeserialize } = method<object, { aggregatedPayloadSize: number }>(
      "StreamingInputCall",
    );
    const reply = await new Promise<{ aggregatedPayloadSize: number } | undefined>((resolve, reject) => {
      const call = client.makeClientStreamRequest(
        path,
        requestSerialize,
        responseDeserialize,
        (error, value) => (error === null ? resolve(value) : reject(error)),
      );
      for (const size of [27_182, 8, 1828, 45_904]) call.write({ payload: payloadOf(size) });
      call.end();
    });
    expect(reply?.aggregatedPayloadSize).toBe(74_922);
  });

  it("in both directions plays ping-pong", async () => {
    const call = duplex();
    const end = ended(call);
    const pongs: number[] = [];
    for (const [reply, request] of [
      [31_415, 27_182],
      [9, 8],
      [2653, 1828],
      [58_979, 45_904],
    ] as const) {
      const pong = once(call, "data") as Promise<[StreamResponse]>;
      call.write({ responseParameters: [{ size: reply }], payload: payloadOf(request) });
      pongs.push(...sizesOf(await pong));
    }
    call.end();
    expect(pongs).toEqual([31_415, 9, 2653, 58_979]);
    expect((await end).status.code).toBe(Status.OK);
  });

  it("without messages ends with OK", async () => {
    const call = duplex();
    const end = collected(call);
    call.end();
    const { replies, status } = await end;
    expect([replies, status.code]).toEqual([[], Status.OK]);
  });

  it("that fails after its first reply returns the error", async () => {
    const responseStatus = { code: Status.DATA_LOSS, message: SPECIAL_MESSAGE };
    const { replies, status } = await collected(
      outputStream({ responseParameters: [{ size: 9 }], responseStatus }),
    );
    expect(sizesOf(replies)).toEqual([9]);
    expect(status).toMatchObject({ code: Status.DATA_LOSS, details: SPECIAL_MESSAGE });
  });

  it("in both directions that fails returns the message as it was sent", async () => {
    const call = duplex();
    const end = collected(call);
    call.write({ responseStatus: { code: Status.ABORTED, message: RESERVED_MESSAGE } });
    call.end();
    expect((await end).status).toMatchObject({ code: Status.ABORTED, details: RESERVED_MESSAGE });
  });

  it("aborts its handler when its caller leaves at the beginning", async () => {
    const left = once(server.events, "left");
    const hanging = once(server.events, "hanging");
    const { path, requestSerialize, responseDeserialize } = method<object, object>("StreamingInputCall");
    const call = client.makeClientStreamRequest(path, requestSerialize, responseDeserialize, () => {});
    const end = ended(call);
    await hanging;
    call.cancel();
    expect((await end).status.code).toBe(Status.CANCELLED);
    await left;
  });

  it("aborts its handler when its caller leaves after the first reply", async () => {
    const left = once(server.events, "left");
    const call = duplex();
    const end = ended(call);
    const first = once(call, "data") as Promise<[StreamResponse]>;
    call.write({ responseParameters: [{ size: 31_415 }], hang: true });
    expect(sizesOf(await first)).toEqual([31_415]);
    call.cancel();
    expect((await end).status.code).toBe(Status.CANCELLED);
    await left;
  });

  it("ends at its deadline while the server sleeps", async () => {
    const { status } = await collected(outputStream({ hang: true }, { deadline: Date.now() + 100 }));
    expect(status.code).toBe(Status.DEADLINE_EXCEEDED);
  });
});

describe("health and reflection", () => {
  const HEALTH = "grpc.health.v1.Health";

  it("report the services that serve", async () => {
    const check = method<{ service: string }, { status: string }>("Check", HEALTH);
    const known = await unary(check, { service: "tss.testing.v1.TestService" });
    expect(known.replies).toEqual([{ status: "SERVING" }]);
    expect((await unary(check, { service: "nobody" })).status.code).toBe(Status.NOT_FOUND);
  });

  it("answer an older client over v1alpha", async () => {
    const { path, requestSerialize, responseDeserialize } = method<object, Record<string, unknown>>(
      "ServerReflectionInfo",
      "grpc.reflection.v1alpha.ServerReflection",
    );
    const call = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize);
    const end = collected(call);
    call.write({ listServices: "" });
    call.write({ fileContainingSymbol: "no.Such" });
    call.end();
    const { replies } = await end;
    expect(replies).toMatchObject([
      { listServicesResponse: { service: expect.arrayContaining([{ name: "tss.testing.v1.TestService" }]) } },
      { errorResponse: { errorCode: Status.NOT_FOUND } },
    ]);
  });
});
