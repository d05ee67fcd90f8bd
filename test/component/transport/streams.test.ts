/**
 * The maximum duration of a server stream over each protocol, and how much is produced for a reader that does not read.
 */
import { once } from "node:events";
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  type IncomingHttpHeaders,
} from "node:http2";
import { create, toBinary } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { codeFromString } from "@connectrpc/connect/protocol-connect";
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

/** Produces many large messages. Reports how many it produced, and when it was asked to stop. */
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

const RPC = { ":method": "POST", ":path": "/tss.v1.Signing/WatchSign" };

/** How a protocol requests the stream, and how the end of its body reports the outcome. */
const PROTOCOLS = [
  {
    protocol: "gRPC",
    head: { ...RPC, "content-type": "application/grpc", te: "trailers" },
    body: REQUEST,
    codeOf: (_: Buffer, trailers: IncomingHttpHeaders) => Number(trailers["grpc-status"]),
  },
  {
    protocol: "Connect",
    head: { ...RPC, "content-type": "application/connect+proto" },
    body: REQUEST,
    codeOf: (body: Buffer) => {
      let end = body;
      while (end[0] === 0) end = end.subarray(5 + end.readUInt32BE(1));
      expect([end[0], end.readUInt32BE(1)]).toEqual([2, end.length - 5]);
      const { error } = JSON.parse(end.subarray(5).toString()) as { error?: { code: string } };
      return error === undefined ? 0 : codeFromString(error.code);
    },
  },
  {
    protocol: "REST",
    head: { ":path": `/v1/sign/${UUID}/watch`, accept: "application/x-ndjson" },
    body: undefined,
    codeOf: (body: Buffer) => {
      const last = body.toString().trimEnd().split("\n").at(-1) ?? "";
      return (JSON.parse(last) as { error?: { code: number } }).error?.code ?? 0;
    },
  },
] as const;

describe.each(PROTOCOLS)("a server stream over $protocol", ({ protocol, head, body, codeOf }) => {
  let server: FakeServer;
  let session: ClientHttp2Session;
  afterEach(async () => {
    session.destroy();
    await server.close();
  });

  async function open(hooks: Hooks, headers: Record<string, string> = {}): Promise<ClientHttp2Stream> {
    server = await startFakes(hooks);
    session = connect(server.url);
    const stream = session.request({ ...head, ...headers });
    stream.on("error", () => {});
    if (body === undefined) stream.end();
    else stream.end(body);
    await once(stream, "response");
    return stream;
  }

  /** Reads to the end. Returns the number of bytes and the call's final code. */
  async function readAll(
    stream: ClientHttp2Stream,
  ): Promise<{ sizeBytes: number; code: number | undefined }> {
    const chunks: Buffer[] = [];
    let trailers: IncomingHttpHeaders = {};
    stream.on("trailers", (given: IncomingHttpHeaders) => {
      trailers = given;
    });
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    await once(stream, "end");
    const whole = Buffer.concat(chunks);
    return { sizeBytes: whole.length, code: codeOf(whole, trailers) };
  }

  /** Resolves when a ping is answered, after the server has handled what was sent before. */
  function ping(): Promise<void> {
    return new Promise((resolve, reject) => {
      session.ping((error) => (error ? reject(error) : resolve()));
    });
  }

  it("is produced only as fast as it is read, and is complete", async () => {
    const { watchSign, madeCount } = talkative();
    const stream = await open({ watchSign });
    for (let count = 0; count < 3; count++) await ping();
    expect(madeCount()).toBeLessThan(MESSAGE_COUNT / 4);
    const { sizeBytes, code } = await readAll(stream);
    expect(code).toBe(0);
    expect(sizeBytes).toBeGreaterThan(MESSAGE_COUNT * LARGE.length);
  });

  it("is cut if nobody reads it, and its implementation ends", async () => {
    const { watchSign, stopped, madeCount } = talkative();
    await open({ watchSign, limits: { writeTimeoutMs: 100 } });
    await stopped;
    await new Promise((resolve) => setImmediate(resolve));
    expect(madeCount()).toBeLessThan(MESSAGE_COUNT);
    expect(server.calls.map(({ code }) => code)).toEqual([Code.Canceled]);
  });

  it("ends at its deadline between two messages, even if its implementation ignores it", async () => {
    async function* watchSign() {
      yield { cursor: "first" };
      await new Promise(() => {});
    }
    const timeout = protocol === "gRPC" ? { "grpc-timeout": "100m" } : { "connect-timeout-ms": "100" };
    const { code } = await readAll(await open({ watchSign }, timeout));
    expect(code).toBe(Code.DeadlineExceeded);
    expect(server.calls.map(({ code }) => code)).toEqual([Code.DeadlineExceeded]);
  });

  it("stops its implementation when its caller leaves", async () => {
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
