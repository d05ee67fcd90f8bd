import { readFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import { ServiceError } from "../../src/service/platform/errors/service-error.ts";
import { registerService } from "../../src/transport/calls/service-registration.ts";
import { type FakeServer, startFakes } from "../component/transport/fake-services.ts";
import { Gallery } from "../component/transport/rest/gallery.ts";
import { TestService } from "./endpoints.ts";
import { BODY_BYTES } from "./make-body.ts";

/** A self-signed certificate of localhost. */
export const CERTIFICATE_PEM: string = readPem("localhost.cert.pem");
/** Time limit of streams that wait for their client, in milliseconds. Nothing in progress may take longer. */
const STREAM_MS = 150;

/** Starts the server to fuzz. Its limits are so short that a hang is noticed, and every kind of method has a fake. */
export function startFuzzTarget(isTls: boolean): Promise<FakeServer> {
  return startFakes({
    gate,
    services: [
      registerService(Gallery, gallery() as never),
      registerService(TestService, testing() as never),
    ],
    limits: {
      bodyBytes: BODY_BYTES,
      firstByteTimeoutMs: 200,
      headersTimeoutMs: 200,
      bodyTimeoutMs: 200,
      idleTimeoutMs: 200,
      lingerTimeoutMs: 50,
      defaultDeadlineMs: 300,
      maxDeadlineMs: 500,
      streamsPerConnectionCount: 16,
    },
    ...(isTls ? { tls: { certificatePem: CERTIFICATE_PEM, keyPem: readPem("localhost.key.pem") } } : {}),
  });
}

/** Returns the faults among the server's failures, calls and errors; empty if there are none. */
export function faultsOf(server: FakeServer): string[] {
  const planned = plannedRequestIds(server);
  return [
    ...server.failures
      .filter(({ level, requestId }) => level === "error" && !planned.has(requestId))
      .map(({ method, cause, detail }) => `${method} failed: ${stackOf(cause) || detail}`),
    ...server.calls
      .filter(({ code, requestId }) => code !== undefined && OURS.has(code) && !planned.has(requestId))
      .map(({ method, protocol, code }) => `${method} over ${protocol} ended with ${Code[code!]}`),
    ...server.errors.filter((error) => !isExpected(error)).map((error) => `onError heard ${stackOf(error)}`),
  ];
}

/** The ids of the requests that a fake failed on purpose, or that gRPC requires to fail with INTERNAL. */
export function plannedRequestIds(server: FakeServer): ReadonlySet<string> {
  const planned = server.failures.filter(
    ({ cause, reason }) =>
      reason === "MALFORMED_FRAME" || (cause instanceof TypeError && cause.message === "secret internals"),
  );
  return new Set(planned.map(({ requestId }) => requestId));
}

const OURS: ReadonlySet<Code> = new Set([Code.Internal, Code.Unknown, Code.DataLoss]);

/** A stream whose head is sent can only be cut when its deadline passes. */
function isExpected(error: unknown): boolean {
  return error instanceof ConnectError && error.code === Code.DeadlineExceeded;
}

function stackOf(error: unknown): string {
  return error instanceof Error
    ? `${error.stack}${error.cause ? `; cause: ${stackOf(error.cause)}` : ""}`
    : String(error);
}

/** Does what the request's `x-gate` asks for, or else what the application's gate does. */
async function refuseLater(): Promise<never> {
  await sleep(1);
  throw new ServiceError("INVALID_KEY", "the key is not known");
}

function gate(context: HandlerContext): void | Promise<void> {
  context.responseHeader.set("ratelimit-limit", "7");
  context.requestHeader.get("authorization");
  switch (context.requestHeader.get("x-gate")) {
    case "refuse":
      throw new ServiceError("INVALID_KEY", "the key is not known");
    case "late-refuse":
      return refuseLater();
    case "later":
      return sleep(1);
    case "hang":
      return sleep(STREAM_MS);
    case "look":
      context.responseTrailer.set("x-looked", String([...context.requestHeader].length + context.url.length));
      context.signal.throwIfAborted();
      return;
    default:
      return;
  }
}

function gallery() {
  const methods = Gallery.methods.map(({ localName }) => [localName, (message: unknown) => message] as const);
  return {
    ...Object.fromEntries(methods),
    async *watch() {
      yield { change: { text: "a" }, cursor: "1" };
      await sleep(1);
      yield { change: { text: "b" }, cursor: "2" };
    },
    async *download(_message: unknown, context: HandlerContext) {
      context.responseHeader.set("etag", '"a"');
      context.responseHeader.set("content-length", "6");
      yield { contentType: "text/plain", data: Buffer.from("abc") };
      await sleep(1);
      yield { data: Buffer.from("def") };
    },
  };
}

function testing() {
  const payload = (size: number) => ({
    payload: { body: new Uint8Array(Math.max(0, Math.min(size, 5_000))) },
  });
  async function* outputs({ responseParameters = [] }: { responseParameters?: readonly { size: number }[] }) {
    for (const { size } of responseParameters.slice(0, 10)) {
      await sleep(1);
      yield payload(size);
    }
  }
  return {
    emptyCall: () => ({}),
    unaryCall: ({ responseSize = 0 }) => payload(responseSize),
    streamingOutputCall: outputs,
    async streamingInputCall(requests: AsyncIterable<unknown>) {
      let aggregatedPayloadSize = 0;
      for await (const _ of bounded(requests)) aggregatedPayloadSize++;
      return { aggregatedPayloadSize };
    },
    async *fullDuplexCall(requests: AsyncIterable<object>) {
      for await (const request of bounded(requests)) yield* outputs(request);
    },
  };
}

/** Passes a client's requests on until {@link STREAM_MS} have passed, then throws. */
async function* bounded<T>(requests: AsyncIterable<T>): AsyncGenerator<T> {
  const late = sleep(STREAM_MS).then(() => {
    throw new ConnectError("the stream takes too long", Code.DeadlineExceeded);
  });
  late.catch(() => {});
  const iterator = requests[Symbol.asyncIterator]();
  for (;;) {
    const next = iterator.next();
    next.catch(() => {});
    const result = await Promise.race([next, late]);
    if (result.done === true) return;
    yield result.value;
  }
}

function readPem(name: string): string {
  return readFileSync(path.join(import.meta.dirname, "../support/service", name), "utf8");
}
