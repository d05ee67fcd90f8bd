/**
 * The load of `bench/service.ts`, in its own process: signatures over gRPC, each by ReserveSign, SubmitSign and
 * WatchSign until it is completed. It speaks HTTP/2 directly, because a client library would take more processor time
 * than the measured service.
 */
import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { type ClientHttp2Session, connect } from "node:http2";
import { create, type DescMessage, fromBinary, type MessageShape, toBinary } from "@bufbuild/protobuf";
import {
  ReserveSignRequestSchema,
  ReserveSignResponseSchema,
  SignRequest_Status,
  SignRequestSchema,
  SubmitSignRequestSchema,
  WatchSignRequestSchema,
  WatchSignResponseSchema,
} from "../gen/proto/tss/v1/signing_pb.ts";
import { Hash, SignatureAlgorithm } from "../gen/proto/tss/v1/types_pb.ts";

export interface Signer {
  readonly apiKey: string;
  readonly dwalletId: string;
}

export interface LoadTask {
  /** The service's processes; signatures are spread over them in turn. */
  readonly urls: readonly string[];
  readonly signers: readonly Signer[];
  /** The user's half of every signature: the stand-in network does not check it. */
  readonly userSignMessage: readonly number[];
  /**
   * A number of concurrent callers, each of which starts its next signature when one ends; or signatures started per
   * second.
   */
  readonly pace: { readonly callers: number } | { readonly perSecond: number };
  readonly seconds: number;
}

export interface LoadResult {
  readonly completed: number;
  /** Signatures that failed, by the name of the failure. */
  readonly failures: Readonly<Record<string, number>>;
  /** From the first call to the last reply. */
  readonly seconds: number;
  /** Latency from the moment at which a signature was due until its caller has it. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly cpuMs: number;
}

const SESSIONS_PER_PROCESS = 4;
const MESSAGE = new TextEncoder().encode("one message of thirty-two octets");

process.on("message", (task: LoadTask) => {
  run(task).then(
    (result) => process.send?.(result),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
process.on("disconnect", () => process.exit());

async function run({ urls, signers, userSignMessage, pace, seconds }: LoadTask): Promise<LoadResult> {
  const sessions = urls.flatMap((url) => Array.from({ length: SESSIONS_PER_PROCESS }, () => connect(url)));
  const half = Uint8Array.from(userSignMessage);
  const latenciesMs: number[] = [];
  const failures: Record<string, number> = {};
  let begun = 0;
  const signOnce = async (dueMs: number): Promise<void> => {
    const index = begun++;
    // One session for each process in turn, then the next one of each.
    const at =
      (index % urls.length) * SESSIONS_PER_PROCESS + (Math.floor(index / urls.length) % SESSIONS_PER_PROCESS);
    try {
      await sign(sessions[at]!, signers[index % signers.length]!, half);
      latenciesMs.push(performance.now() - dueMs);
    } catch (error) {
      const name = error instanceof Error ? error.message : String(error);
      failures[name] = (failures[name] ?? 0) + 1;
    }
  };
  const cpu = process.cpuUsage();
  const startedMs = performance.now();
  const endMs = startedMs + seconds * 1000;
  if ("callers" in pace) {
    const caller = async () => {
      while (performance.now() < endMs) await signOnce(performance.now());
    };
    await Promise.all(Array.from({ length: pace.callers }, caller));
  } else {
    // Open loop: starts each signature when it is due, whether or not earlier ones are done.
    const open: Promise<void>[] = [];
    for (let due = startedMs; due < endMs; due += 1000 / pace.perSecond) {
      const waitMs = due - performance.now();
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
      open.push(signOnce(due));
    }
    await Promise.all(open);
  }
  const took = (performance.now() - startedMs) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  for (const session of sessions) session.close();
  latenciesMs.sort((left, right) => left - right);
  const quantile = (share: number) => latenciesMs[Math.floor(latenciesMs.length * share)] ?? Number.NaN;
  return {
    completed: latenciesMs.length,
    failures,
    seconds: took,
    p50Ms: quantile(0.5),
    p99Ms: quantile(0.99),
    cpuMs: (user + system) / 1000,
  };
}

/** Runs one signature to its end. Rejects with a short name of the failure. */
async function sign(
  session: ClientHttp2Session,
  { apiKey, dwalletId }: Signer,
  half: Uint8Array,
): Promise<void> {
  const reserved = await unary(
    session,
    apiKey,
    "ReserveSign",
    ReserveSignRequestSchema,
    ReserveSignResponseSchema,
    {
      $typeName: "tss.v1.ReserveSignRequest",
      dwalletId,
      signatureAlgorithm: SignatureAlgorithm.ECDSASecp256k1,
      hashScheme: Hash.SHA256,
      message: MESSAGE,
    },
  );
  const { signRequestId } = reserved;
  const submit = create(SubmitSignRequestSchema, { signRequestId, userSignMessage: half });
  const { status } = await unary(
    session,
    apiKey,
    "SubmitSign",
    SubmitSignRequestSchema,
    SignRequestSchema,
    submit,
  );
  if (status === SignRequest_Status.completed) return;
  const watch = toBinary(WatchSignRequestSchema, create(WatchSignRequestSchema, { signRequestId }));
  let last: SignRequest_Status | undefined;
  await call(session, apiKey, "WatchSign", watch, (bytes) => {
    last = fromBinary(WatchSignResponseSchema, bytes).signRequest?.status ?? last;
  });
  if (last !== SignRequest_Status.completed) throw new Error(`ended in state ${last ?? "unknown"}`);
}

async function unary<I extends DescMessage, O extends DescMessage>(
  session: ClientHttp2Session,
  apiKey: string,
  method: string,
  input: I,
  output: O,
  request: MessageShape<I>,
): Promise<MessageShape<O>> {
  let reply: MessageShape<O> | undefined;
  await call(session, apiKey, method, toBinary(input, request), (bytes) => {
    reply = fromBinary(output, bytes);
  });
  if (reply === undefined) throw new Error(`${method}: no reply`);
  return reply;
}

const PREFIX_BYTES = 5;

/** Makes one gRPC call; `take` gets each message. */
function call(
  session: ClientHttp2Session,
  apiKey: string,
  method: string,
  body: Uint8Array,
  take: (message: Uint8Array) => void,
): Promise<void> {
  const frame = Buffer.alloc(PREFIX_BYTES + body.length);
  frame.writeUInt32BE(body.length, 1);
  frame.set(body, PREFIX_BYTES);
  return new Promise((resolve, reject) => {
    const stream = session.request({
      ":method": "POST",
      ":path": `/tss.v1.Signing/${method}`,
      "content-type": "application/grpc",
      te: "trailers",
      "grpc-timeout": "60S",
      authorization: `Bearer ${apiKey}`,
      "idempotency-key": randomUUID(),
    });
    let unread: Buffer = Buffer.alloc(0);
    let status = "no status";
    const note = (headers: IncomingHttpHeaders) => {
      const [code, message = ""] = [headers["grpc-status"], headers["grpc-message"]];
      if (typeof code === "string") status = `${code} ${String(message)}`;
    };
    stream.on("response", note);
    stream.on("trailers", note);
    stream.on("data", (chunk: Buffer) => {
      unread = unread.length === 0 ? chunk : Buffer.concat([unread, chunk]);
      while (unread.length >= PREFIX_BYTES) {
        const end = PREFIX_BYTES + unread.readUInt32BE(1);
        if (unread.length < end) return;
        take(unread.subarray(PREFIX_BYTES, end));
        unread = unread.subarray(end);
      }
    });
    stream.on("error", (error) => reject(new Error(`${method}: ${error.message}`)));
    stream.on("close", () =>
      status.startsWith("0 ") ? resolve() : reject(new Error(`${method}: ${status}`)),
    );
    stream.end(frame);
  });
}
