/** The load of `bench/watches.ts`: holds streams of `WatchSign` open. Each task replaces the one before. */
import { type ClientHttp2Session, connect } from "node:http2";
import { create, toBinary } from "@bufbuild/protobuf";
import { WatchSignRequestSchema } from "../gen/proto/tss/v1/signing_pb.ts";

/** The protocols over which a watch is measured. */
export type WatchProtocol = "grpc" | "connect" | "rest";

/** Opens one stream for each of these requests. */
export interface WatchTask {
  readonly url: string;
  readonly apiKey: string;
  readonly signRequestIds: readonly string[];
  readonly protocol: WatchProtocol;
  /** Number of streams that wait for their first message at a time. */
  readonly openingCount: number;
}

const STREAMS_PER_SESSION = 200;
const CONTENT_TYPES = { grpc: "application/grpc", connect: "application/connect+proto" } as const;

let sessions: ClientHttp2Session[] = [];

process.on("message", (task: WatchTask) => {
  open(task).then(
    () => process.send?.("open"),
    (error: unknown) => fail(error),
  );
});
process.on("disconnect", () => process.exit());

/** Resolves once each stream has its first message. */
async function open({ url, apiKey, signRequestIds, protocol, openingCount }: WatchTask): Promise<void> {
  await Promise.all(sessions.map(closed));
  sessions = [];
  for (let at = 0; at < signRequestIds.length; at += STREAMS_PER_SESSION) sessions.push(connect(url));
  let next = 0;
  const opener = async () => {
    for (let index = next++; index < signRequestIds.length; index = next++)
      await watch(
        sessions[Math.floor(index / STREAMS_PER_SESSION)]!,
        apiKey,
        protocol,
        signRequestIds[index]!,
      );
  };
  await Promise.all(Array.from({ length: openingCount }, opener));
}

function closed(session: ClientHttp2Session): Promise<void> {
  return new Promise((resolve) => {
    session.once("close", resolve);
    session.destroy();
  });
}

function watch(
  session: ClientHttp2Session,
  apiKey: string,
  protocol: WatchProtocol,
  signRequestId: string,
): Promise<void> {
  return new Promise((resolve) => {
    const stream = session.request({
      ...(protocol === "rest"
        ? { ":path": `/v1/sign/${signRequestId}/watch`, accept: "text/event-stream" }
        : {
            ":method": "POST",
            ":path": "/tss.v1.Signing/WatchSign",
            "content-type": CONTENT_TYPES[protocol],
          }),
      ...(protocol === "grpc" && { te: "trailers" }),
      "user-agent": "bench",
      authorization: `Bearer ${apiKey}`,
    });
    stream.on("data", () => resolve());
    stream.on("end", () => {
      if (sessions.includes(session) && !session.destroyed) fail(new Error("a watch has ended"));
    });
    stream.on("trailers", (trailers) => console.error(trailers));
    stream.on("error", () => {});
    stream.on("response", ({ ":status": status }) => {
      if (status !== 200) fail(new Error(`a watch was answered with ${status}`));
    });
    if (protocol === "rest") stream.end();
    else stream.end(envelope(signRequestId));
  });
}

function fail(error: unknown): never {
  console.error(error);
  process.exit(1);
}

function envelope(signRequestId: string): Buffer {
  const body = toBinary(WatchSignRequestSchema, create(WatchSignRequestSchema, { signRequestId }));
  const frame = Buffer.alloc(5 + body.length);
  frame.writeUInt32BE(body.length, 1);
  frame.set(body, 5);
  return frame;
}
