import { once } from "node:events";
import {
  Code,
  ConnectError,
  decodeBinaryHeader,
  encodeBinaryHeader,
  type Transport,
} from "@connectrpc/connect";
import {
  compressionGzip,
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import * as web from "@connectrpc/connect-web";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ErrorInfoSchema, RetryInfoSchema } from "../../gen/proto/google/rpc/error_details_pb.ts";
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
import {
  createTestClient,
  type StreamResponse,
  type TestClient,
  UnimplementedService,
} from "./testing-messages.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

interface TransportKind {
  /** Whether a client can send a stream, and read while it sends. */
  readonly streams: "none" | "half duplex" | "full duplex";
  connect(baseUrl: string): Transport;
}

const gzip = { sendCompression: compressionGzip, compressMinBytes: 0 };

const transports: readonly (readonly [string, TransportKind])[] = [
  ["gRPC", { streams: "full duplex", connect: (baseUrl) => createGrpcTransport({ baseUrl }) }],
  ["gRPC, gzip", { streams: "full duplex", connect: (baseUrl) => createGrpcTransport({ baseUrl, ...gzip }) }],
  ...(["1.1", "2"] as const).flatMap((httpVersion): [string, TransportKind][] => {
    const streams = httpVersion === "2" ? "full duplex" : "half duplex";
    const connectKind = (options: object): TransportKind => ({
      streams,
      connect: (baseUrl) => createConnectTransport({ baseUrl, httpVersion, ...options }),
    });
    return [
      [
        `gRPC-web, HTTP/${httpVersion}`,
        { streams, connect: (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion }) },
      ],
      [`Connect JSON, HTTP/${httpVersion}`, connectKind({})],
      [`Connect binary, HTTP/${httpVersion}`, connectKind({ useBinaryFormat: true })],
      [`Connect binary, gzip, HTTP/${httpVersion}`, connectKind({ useBinaryFormat: true, ...gzip })],
      [`Connect by GET, HTTP/${httpVersion}`, connectKind({ useHttpGet: true })],
    ];
  }),
  ["Connect JSON, fetch", { streams: "none", connect: (baseUrl) => web.createConnectTransport({ baseUrl }) }],
  [
    "Connect binary, fetch",
    { streams: "none", connect: (baseUrl) => web.createConnectTransport({ baseUrl, useBinaryFormat: true }) },
  ],
  ["gRPC-web, fetch", { streams: "none", connect: (baseUrl) => web.createGrpcWebTransport({ baseUrl }) }],
];

describe.each(transports)("%s", (name, { streams, connect }) => {
  let client: TestClient;
  beforeAll(() => {
    client = createTestClient(connect(server.url));
  });

  it("makes an empty call", async () => {
    await client.emptyCall({});
  });

  it("sends and gets a large message completely", async () => {
    const request = { responseSize: LARGE_REPLY_BYTES, payload: payloadOf(LARGE_REQUEST_BYTES) };
    const reply = await client.unaryCall({ ...request, expectCompressed: name.includes("gzip") });
    expect(sameBytes(reply, LARGE_REPLY_BYTES)).toBe(true);
  });

  it("gets a complete stream in order", async () => {
    const sizes = [31_415, 9, 0, 2653, 58_979];
    const request = { responseParameters: sizes.map((size) => ({ size })), payload: payloadOf(1828) };
    const replies = await collect(
      client.streamingOutputCall({ ...request, expectCompressed: name.includes("gzip") }),
    );
    expect(replies.map(({ payload }) => payload?.body.length ?? 0)).toEqual(sizes);
    expect(replies.every((reply, index) => sameBytes(reply, sizes[index]!))).toBe(true);
  });

  it("gets an empty stream", async () => {
    expect(await collect(client.streamingOutputCall({}))).toEqual([]);
  });

  it.each(["unary", "stream"])("gets its metadata back in head and trailers: %s", async (kind) => {
    const bytes = Uint8Array.of(0, 0xab, 0xff, 0x0a);
    const heard = { head: new Headers(), trailers: new Headers() };
    const options = {
      headers: { [ECHO_INITIAL]: "test_initial_metadata_value", [ECHO_TRAILING]: encodeBinaryHeader(bytes) },
      onHeader: (headers: Headers) => {
        heard.head = headers;
      },
      onTrailer: (trailers: Headers) => {
        heard.trailers = trailers;
      },
    };
    if (kind === "unary") await client.unaryCall({ responseSize: 1 }, options);
    else await collect(client.streamingOutputCall({ responseParameters: [{ size: 1 }] }, options));
    expect(heard.head.get(ECHO_INITIAL)).toBe("test_initial_metadata_value");
    expect(decodeBinaryHeader(heard.trailers.get(ECHO_TRAILING) ?? "")).toEqual(bytes);
  });

  it.each([
    ["plain", "test status message"],
    ["special", SPECIAL_MESSAGE],
    ["percent", "100% of 5%25"],
  ])("gets code and message as they were sent: %s", async (_kind, message) => {
    const responseStatus = { code: Code.Unknown, message };
    const unary = await failureOf(client.unaryCall({ responseStatus }));
    expect([unary.code, unary.rawMessage]).toEqual([Code.Unknown, message]);
    const before = await failureOf(collect(client.streamingOutputCall({ responseStatus })));
    expect([before.code, before.rawMessage]).toEqual([Code.Unknown, message]);
    const after = { responseStatus, responseParameters: [{ size: 9 }] };
    const replies = client.streamingOutputCall(after)[Symbol.asyncIterator]();
    expect((await replies.next()).value?.payload?.body.length).toBe(9);
    const error = await failureOf(replies.next());
    expect([error.code, error.rawMessage]).toEqual([Code.Unknown, message]);
  });

  it("gets every code of gRPC as it was sent", async () => {
    const codes = Array.from({ length: 16 }, (_, index) => index + 1);
    const errors = await Promise.all(
      codes.map((code) => failureOf(client.unaryCall({ responseStatus: { code, message: `code ${code}` } }))),
    );
    expect(errors.map(({ code }) => code)).toEqual(codes);
  });

  it("gets the details of an error", async () => {
    const responseStatus = { code: Code.ResourceExhausted, message: "later", withDetails: true };
    const calls = [
      client.unaryCall({ responseStatus }),
      collect(client.streamingOutputCall({ responseStatus })),
    ];
    for (const error of await Promise.all(calls.map((call) => failureOf(call)))) {
      expect(error.code).toBe(Code.ResourceExhausted);
      expect(error.findDetails(ErrorInfoSchema)).toMatchObject([
        { reason: "AS_ASKED", domain: "testing", metadata: { key: "värde" } },
      ]);
      expect(error.findDetails(RetryInfoSchema)).toMatchObject([{ retryDelay: { seconds: 7n } }]);
    }
  });

  it("gets UNIMPLEMENTED for a method that is not implemented", async () => {
    const method = await failureOf(client.unimplementedCall({}));
    expect(method.code).toBe(Code.Unimplemented);
    const stranger = createTestClient(connect(server.url), UnimplementedService);
    const service = await failureOf(stranger.unimplementedCall({}));
    // A path without a handler is 404 for clients that look at the HTTP status first. They treat it as UNIMPLEMENTED.
    expect(service.code).toBe(Code.Unimplemented);
  });

  it("gets an error for a message that is too large, and can continue", async () => {
    const error = await failureOf(client.unaryCall({ payload: payloadOf(OVERSIZE_BYTES) }));
    expect(error.code).toBe(Code.ResourceExhausted);
    await client.emptyCall({});
  });

  it("aborts the handler when it leaves before the reply", async () => {
    const leave = new AbortController();
    const left = once(server.events, "left");
    const hanging = once(server.events, "hanging");
    const call = failureOf(client.unaryCall({ hang: true }, { signal: leave.signal }));
    await hanging;
    leave.abort();
    expect((await call).code).toBe(Code.Canceled);
    expect(await left).toEqual([Code.Canceled]);
  });

  it("aborts the handler when it leaves after the first message of a stream", async () => {
    const leave = new AbortController();
    const left = once(server.events, "left");
    const request = { responseParameters: [{ size: 31_415 }], hang: true };
    const replies = client.streamingOutputCall(request, { signal: leave.signal })[Symbol.asyncIterator]();
    expect((await replies.next()).value?.payload?.body.length).toBe(31_415);
    leave.abort();
    expect((await failureOf(replies.next())).code).toBe(Code.Canceled);
    expect(await left).toEqual([Code.Canceled]);
  });

  it.each(["unary", "stream"])(
    "gets the deadline error while a server sleeps, and the server is aborted: %s",
    async (kind) => {
      const left = once(server.events, "left");
      const options = { timeoutMs: 500 };
      const call =
        kind === "unary"
          ? client.unaryCall({ hang: true }, options)
          : collect(client.streamingOutputCall({ hang: true }, options));
      expect((await failureOf(call)).code).toBe(Code.DeadlineExceeded);
      await left;
    },
  );

  it("has its deadline shortened to the maximum, and gets a deadline if it has none", async () => {
    const shortened = await client.unaryCall({}, { timeoutMs: 3_600_000 });
    expect(shortened.deadlineMs).toBeGreaterThan(540_000);
    expect(shortened.deadlineMs).toBeLessThanOrEqual(600_000);
    const given = await client.unaryCall({});
    expect(given.deadlineMs).toBeGreaterThan(0);
    expect(given.deadlineMs).toBeLessThanOrEqual(30_000);
  });

  if (streams === "none") return;
  describe("a stream of requests", () => {
    it("is read to the end", async () => {
      const sizes = [27_182, 8, 1828, 45_904];
      const reply = await client.streamingInputCall(
        each(sizes.map((size) => ({ payload: payloadOf(size) }))),
      );
      expect(reply.aggregatedPayloadSize).toBe(74_922);
      expect((await client.streamingInputCall(each([]))).aggregatedPayloadSize).toBe(0);
    });

    it("aborts the handler when its client leaves before it has sent anything", async () => {
      const leave = new AbortController();
      const left = once(server.events, "left");
      const hanging = once(server.events, "hanging");
      const call = failureOf(client.streamingInputCall(never(leave.signal), { signal: leave.signal }));
      // Over HTTP/1.1 the client's request begins with its first message, which never comes.
      if (streams === "full duplex") await hanging;
      leave.abort();
      expect((await call).code).toBe(Code.Canceled);
      if (streams === "full duplex") await left;
    });
  });

  if (streams === "half duplex") return;
  describe("sending and reading at once", () => {
    it("plays ping-pong", async () => {
      const sizes = [
        [31_415, 27_182],
        [9, 8],
        [2653, 1828],
        [58_979, 45_904],
      ] as const;
      const pongs: number[] = [];
      let release: () => void = () => {};
      async function* pings() {
        for (const [reply, request] of sizes) {
          const answered = new Promise<void>((resolve) => {
            release = resolve;
          });
          yield { responseParameters: [{ size: reply }], payload: payloadOf(request) };
          await answered;
        }
      }
      for await (const { payload } of client.fullDuplexCall(pings())) {
        pongs.push(payload?.body.length ?? 0);
        release();
      }
      expect(pongs).toEqual(sizes.map(([reply]) => reply));
    });

    it("ends a stream without messages", async () => {
      expect(await collect(client.fullDuplexCall(each([])))).toEqual([]);
    });

    it("gets the error of a failed stream", async () => {
      const request = { responseStatus: { code: Code.DataLoss, message: SPECIAL_MESSAGE } };
      const error = await failureOf(collect(client.fullDuplexCall(each([request]))));
      expect([error.code, error.rawMessage]).toEqual([Code.DataLoss, SPECIAL_MESSAGE]);
    });

    it("aborts the handler when it leaves after the first reply", async () => {
      const leave = new AbortController();
      const left = once(server.events, "left");
      const request = { responseParameters: [{ size: 31_415 }], hang: true };
      const replies = client
        .fullDuplexCall(each([request]), { signal: leave.signal })
        [Symbol.asyncIterator]();
      expect((await replies.next()).value?.payload?.body.length).toBe(31_415);
      leave.abort();
      expect((await failureOf(replies.next())).code).toBe(Code.Canceled);
      await left;
    });
  });
});

async function collect(messages: AsyncIterable<StreamResponse>): Promise<StreamResponse[]> {
  const all: StreamResponse[] = [];
  for await (const message of messages) all.push(message);
  return all;
}

async function failureOf(call: Promise<unknown>): Promise<ConnectError> {
  const outcome = await call.catch((reason: unknown) => reason);
  if (!(outcome instanceof ConnectError))
    throw new Error("the call did not fail as calls do", { cause: outcome });
  return outcome;
}

function sameBytes({ payload }: StreamResponse, size: number): boolean {
  return Buffer.from(payload?.body ?? []).equals(payloadOf(size).body);
}

async function* each<T>(values: readonly T[]): AsyncGenerator<T> {
  yield* values;
}

/** A stream that stays silent until its caller cancels it. */
async function* never(signal: AbortSignal): AsyncGenerator<never> {
  await new Promise((resolve) => signal.addEventListener("abort", resolve));
  yield* [];
}
