/** The load of `bench/transport.ts`: keeps a fixed number of requests in flight and records the latency of each. */
import { connect as connectHttp2 } from "node:http2";
import { connect as connectTcp } from "node:net";
import { create, toBinary, toJsonString } from "@bufbuild/protobuf";
import { GetSignRequestSchema } from "../gen/proto/tss/v1/signing_pb.ts";
import { API_KEY, PAGE, SESSION_TOKEN, SIGN_REQUEST_ID } from "./transport-call.ts";

export interface LoadTask {
  readonly kind: "grpc" | "connect" | "rest";
  /** Whether the calls are of a session. Default: of a key. */
  readonly isSession?: boolean;
  /** Whether they come from a page of another origin. Default false. */
  readonly isPage?: boolean;
  readonly port: number;
  readonly seconds: number;
}

export interface LoadResult {
  readonly count: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const HTTP2_CONNECTIONS = 4;
const STREAMS_PER_CONNECTION = 8;
const HTTP1_CONNECTIONS = 32;
const request = create(GetSignRequestSchema, { signRequestId: SIGN_REQUEST_ID });

process.on("message", (task: LoadTask) => {
  run(task).then(
    (result) => process.send?.(result),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});

async function run({
  kind,
  port,
  seconds,
  isSession = false,
  isPage = false,
}: LoadTask): Promise<LoadResult> {
  const latenciesMs: number[] = [];
  const started = performance.now();
  const endMs = started + seconds * 1000;
  const note = (beganMs: number) => {
    const nowMs = performance.now();
    latenciesMs.push(nowMs - beganMs);
    return nowMs < endMs;
  };
  // Never sleeps while it runs: the server would be charged for waking it.
  let isRunning = true;
  const spin = () => {
    if (isRunning) setImmediate(spin);
  };
  spin();
  if (kind === "grpc") await Promise.all(repeat(HTTP2_CONNECTIONS, () => grpc(port, isSession, note)));
  else
    await Promise.all(
      repeat(HTTP1_CONNECTIONS, () => http1(port, bytesOf(kind, port, isSession, isPage), note)),
    );
  isRunning = false;
  const took = (performance.now() - started) / 1000;
  latenciesMs.sort((a, b) => a - b);
  const at = (share: number) => latenciesMs[Math.floor(latenciesMs.length * share)] ?? Number.NaN;
  return { count: latenciesMs.length, seconds: took, p50Ms: at(0.5), p99Ms: at(0.99) };
}

type Note = (beganMs: number) => boolean;

async function grpc(port: number, isSession: boolean, note: Note): Promise<void> {
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  const body = toBinary(GetSignRequestSchema, request);
  const frame = Buffer.alloc(5 + body.length);
  frame.writeUInt32BE(body.length, 1);
  frame.set(body, 5);
  const headers = {
    ":method": "POST",
    ":path": "/tss.v1.Signing/GetSign",
    "content-type": "application/grpc",
    te: "trailers",
    "grpc-timeout": "10S",
    authorization: `Bearer ${isSession ? SESSION_TOKEN : API_KEY}`,
  };
  const call = () =>
    new Promise<boolean>((resolve, reject) => {
      const beganMs = performance.now();
      const stream = session.request(headers);
      stream.on("error", reject);
      stream.on("trailers", (trailers) => {
        if (trailers["grpc-status"] !== "0")
          reject(new Error(`grpc-status ${String(trailers["grpc-status"])}`));
      });
      stream.on("close", () => resolve(note(beganMs)));
      stream.resume();
      stream.end(frame);
    });
  const lane = async () => {
    while (await call());
  };
  await Promise.all(repeat(STREAMS_PER_CONNECTION, lane));
  session.close();
}

function bytesOf(kind: "connect" | "rest", port: number, isSession: boolean, isPage: boolean): Buffer {
  const access = `authorization: Bearer ${isSession ? SESSION_TOKEN : API_KEY}\r\n`;
  const common = `host: 127.0.0.1:${port}\r\n${access}${isPage ? `origin: ${PAGE}\r\n` : ""}`;
  if (kind === "rest") return Buffer.from(`GET /v1/sign/${SIGN_REQUEST_ID} HTTP/1.1\r\n${common}\r\n`);
  const body = toJsonString(GetSignRequestSchema, request);
  return Buffer.from(
    `POST /tss.v1.Signing/GetSign HTTP/1.1\r\n${common}content-type: application/json\r\n` +
      `content-length: ${body.length}\r\nconnect-protocol-version: 1\r\n\r\n${body}`,
  );
}

function http1(port: number, bytes: Buffer, note: Note): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connectTcp(port, "127.0.0.1");
    socket.setNoDelay(true);
    let text = "";
    let beganMs = 0;
    const send = () => {
      beganMs = performance.now();
      text = "";
      socket.write(bytes);
    };
    socket.on("connect", send);
    socket.on("error", reject);
    socket.setEncoding("latin1");
    socket.on("data", (chunk: string) => {
      text += chunk;
      const headEnd = text.indexOf("\r\n\r\n");
      if (headEnd < 0) return;
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1]);
      if (text.length < headEnd + 4 + length) return;
      if (!text.startsWith("HTTP/1.1 200")) reject(new Error(text));
      else if (note(beganMs)) send();
      else {
        socket.destroy();
        resolve();
      }
    });
  });
}

function repeat<T>(count: number, make: () => T): T[] {
  return Array.from({ length: count }, make);
}
