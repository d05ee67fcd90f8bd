/** How long a server stream over gRPC lasts, and what is made for one that nobody reads. */
import { once } from "node:events";
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from "node:http2";
import { create, toBinary } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { afterEach, describe, expect, it } from "vitest";
import { WatchSignRequestSchema } from "../../../gen/proto/tss/v1/signing_pb.ts";
import { frameMessage } from "../../../src/transport/envelope.ts";
import { createLatch, type FakeServer, type Hooks, startFakes, UUID } from "./fake-services.ts";

const MESSAGE_COUNT = 40;
const LARGE = "x".repeat(60_000);
const REQUEST = frameMessage(
  toBinary(WatchSignRequestSchema, create(WatchSignRequestSchema, { signRequestId: UUID })),
  0,
);

let server: FakeServer;
let session: ClientHttp2Session;
afterEach(async () => {
  session.destroy();
  await server.close();
});

async function open(hooks: Hooks, headers: Record<string, string> = {}): Promise<ClientHttp2Stream> {
  server = await startFakes(hooks);
  session = connect(server.url);
  const stream = session.request({
    ":method": "POST",
    ":path": "/tss.v1.Signing/WatchSign",
    "content-type": "application/grpc",
    te: "trailers",
    ...headers,
  });
  stream.on("error", () => {});
  stream.end(REQUEST);
  await once(stream, "response");
  return stream;
}

/** An answered ping says that the server had time to do what it was about to do. */
function ping(): Promise<void> {
  return new Promise((resolve, reject) => {
    session.ping((error) => (error ? reject(error) : resolve()));
  });
}

/** Makes many large messages, and says how many were made and when it was told to stop. */
function talkative() {
  const stopped = createLatch();
  let madeCount = 0;
  return {
    stopped: stopped.entered,
    madeCount: () => madeCount,
    async *watchSign() {
      try {
        for (; madeCount < MESSAGE_COUNT; madeCount++) yield { cursor: LARGE };
      } finally {
        void stopped.wait();
      }
    },
  };
}

describe("a server stream over gRPC", () => {
  it("is made no faster than it is read, and whole", async () => {
    const { watchSign, madeCount } = talkative();
    const stream = await open({ watchSign });
    for (let count = 0; count < 3; count++) await ping();
    expect(madeCount()).toBeLessThan(MESSAGE_COUNT / 4);
    let sizeBytes = 0;
    stream.on("data", (chunk: Buffer) => {
      sizeBytes += chunk.length;
    });
    const [trailers] = await once(stream, "trailers");
    expect(trailers).toMatchObject({ "grpc-status": "0" });
    expect(sizeBytes).toBeGreaterThan(MESSAGE_COUNT * LARGE.length);
  });

  it("is cut when nobody reads it, and its implementation ends", async () => {
    const { watchSign, stopped, madeCount } = talkative();
    await open({ watchSign, limits: { writeTimeoutMs: 100 } });
    await stopped;
    expect(madeCount()).toBeLessThan(MESSAGE_COUNT);
    expect(server.calls.map(({ code }) => code)).toEqual([Code.Canceled]);
  });

  it("ends at its deadline between two messages, though its implementation looks at nothing", async () => {
    async function* watchSign() {
      yield { cursor: "first" };
      await new Promise(() => {});
    }
    const stream = await open({ watchSign }, { "grpc-timeout": "100m" });
    const [trailers] = await once(stream.resume(), "trailers");
    expect(trailers).toMatchObject({ "grpc-status": String(Code.DeadlineExceeded) });
    expect(server.calls.map(({ code }) => code)).toEqual([Code.DeadlineExceeded]);
  });

  it("has its implementation stopped when its caller leaves", async () => {
    const stopped = createLatch();
    let reason: unknown;
    const stream = await open({
      async *watchSign(_, { signal }) {
        yield { cursor: "first" };
        await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
        reason = signal.reason;
        void stopped.wait();
      },
    });
    stream.destroy();
    await stopped.entered;
    await new Promise((resolve) => setImmediate(resolve));
    expect(reason).toMatchObject({ code: Code.Canceled });
    expect(server.calls.map(({ code }) => code)).toEqual([Code.Canceled]);
  });
});
