import { type ChildProcess, fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { type ClientHttp2Session, connect } from "node:http2";
import path from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, it } from "vitest";
import { MEMORY_PROBE, type ProbeReading } from "../../../bench/support/memory-probe.ts";
import { WatchSignRequestSchema } from "../../../gen/proto/tss/v1/signing_pb.ts";
import { frameMessage } from "../../../src/transport/envelope.ts";

const WATCH_COUNT = 1_000;
const STREAMS_PER_SESSION = 200;
const TIMEOUT_MS = 120_000;

let server: ChildProcess;
let url: string;
let sessions: ClientHttp2Session[];

beforeAll(async () => {
  server = fork(path.join(import.meta.dirname, "../../support/service/idle-watches-process.ts"), {
    execArgv: ["--import", "tsx", ...MEMORY_PROBE],
  });
  [{ url }] = (await once(server, "message")) as [{ url: string }];
  sessions = [];
}, TIMEOUT_MS);
// An earlier case keeps its watches, so that their end frees nothing while another one is measured.
afterAll(async () => {
  for (const session of sessions) session.destroy();
  const exited = once(server, "exit");
  server.kill();
  await exited;
});

/** The bytes of one watch over the protocol, in the heap and outside. */
it.each([
  ["gRPC", 11_000, "application/grpc"],
  ["Connect", 11_000, "application/connect+proto"],
  ["REST", 11_000, undefined],
] as const)(
  "an idle watch over %s uses less than %d bytes of the heap",
  async (_, maxBytes, contentType) => {
    // The first watch creates everything that is created once.
    await watch(100, contentType);
    const before = await read();
    await watch(WATCH_COUNT, contentType);
    const after = await read();
    const bytesEach = (after.heapBytes - before.heapBytes) / WATCH_COUNT;
    expect(bytesEach).toBeLessThan(maxBytes);
  },
  TIMEOUT_MS,
);

async function read(): Promise<ProbeReading> {
  const answer = once(server, "message") as Promise<[ProbeReading]>;
  server.send("read");
  return (await answer)[0];
}

/** Opens watches, and waits for the first message of each. */
async function watch(count: number, contentType: string | undefined): Promise<void> {
  const opened: Promise<unknown>[] = [];
  for (let index = 0; index < count; index++) {
    if (index % STREAMS_PER_SESSION === 0) sessions.push(connect(url));
    opened.push(watchOne(sessions.at(-1)!, randomUUID(), contentType));
  }
  await Promise.all(opened);
}

function watchOne(session: ClientHttp2Session, signRequestId: string, contentType: string | undefined) {
  const method = { ":method": "POST", ":path": "/tss.v1.Signing/WatchSign", "content-type": contentType };
  const stream = session.request(
    contentType === undefined
      ? { ":path": `/v1/sign/${signRequestId}/watch`, accept: "text/event-stream" }
      : { ...method, te: "trailers" },
  );
  // The end of the test cuts the stream.
  stream.on("error", () => {});
  const body = toBinary(WatchSignRequestSchema, create(WatchSignRequestSchema, { signRequestId }));
  stream.end(contentType === undefined ? undefined : frameMessage(body, 0));
  return once(stream, "data");
}
