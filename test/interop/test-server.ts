import { EventEmitter } from "node:events";
import type { DescService } from "@bufbuild/protobuf";
import { Code, ConnectError, type HandlerContext, type ServiceImpl } from "@connectrpc/connect";
import { ErrorInfoSchema, RetryInfoSchema } from "../../gen/proto/google/rpc/error_details_pb.ts";
import { createErrorInterceptor } from "../../src/service/platform/errors/error-interceptor.ts";
import { createErrorMapping } from "../../src/service/platform/errors/error-mapping.ts";
import type { ErrorMapping } from "../../src/transport/calls/call-parts.ts";
import { registerService } from "../../src/transport/calls/service-registration.ts";
import { type ServerOptions, startServer, type TransportServer } from "../../src/transport/start-server.ts";
import {
  type EchoStatus,
  type Payload,
  type SimpleRequest,
  type StreamRequest,
  TestService,
} from "./testing-messages.ts";

/** Large enough for the messages of the tests; messages of `OVERSIZE_BYTES` do not fit. */
const BODY_BYTES = 1024 * 1024;
export const OVERSIZE_BYTES = 2 * BODY_BYTES;
/** Messages of this size are larger than an HTTP/2 frame and than its flow control window. */
export const LARGE_REQUEST_BYTES = 271_828;
export const LARGE_REPLY_BYTES = 314_159;

/** ASCII metadata that the server returns in the head of a reply. */
export const ECHO_INITIAL = "x-grpc-test-echo-initial";
/** Binary metadata that the server returns in the trailers. */
export const ECHO_TRAILING = "x-grpc-test-echo-trailing-bin";
/** Characters that a header cannot contain unescaped. */
export const SPECIAL_MESSAGE = "\t\ntest with whitespace\r\nand Unicode BMP ☺ and non-BMP 😈\t\n";

export interface TestServer extends TransportServer {
  /** `host:port`. */
  readonly address: string;
  /** Emits `hanging` when a handler waits for the end of its call, and `left` with the code when the call has ended. */
  readonly events: EventEmitter<{ hanging: []; left: [Code] }>;
}

/** Serves `TestService` on a free port through the transport, with the application's error mapping. */
export async function startTestServer(
  options: Pick<ServerOptions, "ownPath" | "typeRegistry"> = {},
): Promise<TestServer> {
  const events: TestServer["events"] = new EventEmitter();
  const mapping = createErrorMapping(() => {});
  const errors: ErrorMapping = {
    ...mapping,
    // The service fails with codes and messages that are in no catalogue.
    toConnectError: (reason, call) =>
      reason instanceof ConnectError ? reason : mapping.toConnectError(reason, call),
  };
  const server = await startServer({
    host: "127.0.0.1",
    port: 0,
    services: [registerService(TestService, implementation(events))],
    interceptors: [createErrorInterceptor(errors)],
    errors,
    limits: { bodyBytes: BODY_BYTES },
    ...options,
    cors: { origins: ["*"], requestHeaders: [], replyHeaders: [] },
  });
  return Object.assign(server, { address: `127.0.0.1:${server.port}`, events });
}

function implementation(events: TestServer["events"]): Partial<ServiceImpl<DescService>> {
  const hang = async (signal: AbortSignal) => {
    const left = new Promise((resolve) => signal.addEventListener("abort", resolve));
    events.emit("hanging");
    await left;
    const { code } = ConnectError.from(signal.reason, Code.Canceled);
    events.emit("left", code);
    throw new ConnectError("the handler gave up", code);
  };
  const handlers = {
    emptyCall: () => ({}),

    async unaryCall(request: SimpleRequest, context: HandlerContext) {
      echoMetadata(context);
      const deadlineMs = context.timeoutMs();
      checkCompressed(request, context);
      if (request.hang) await hang(context.signal);
      failAsAsked(request.responseStatus);
      const { echo } = request;
      return {
        payload: payloadOf(request.responseSize ?? 0),
        ...(deadlineMs && { deadlineMs }),
        ...(echo && { echo }),
      };
    },

    async *streamingOutputCall(request: StreamRequest, context: HandlerContext) {
      echoMetadata(context);
      checkCompressed(request, context);
      yield* replies(request);
      if (request.hang) await hang(context.signal);
      failAsAsked(request.responseStatus);
    },

    async streamingInputCall(requests: AsyncIterable<{ payload?: Payload }>, context: HandlerContext) {
      echoMetadata(context);
      // A client that sends nothing is about to leave.
      context.signal.addEventListener("abort", () => events.emit("left", Code.Canceled));
      events.emit("hanging");
      let aggregatedPayloadSize = 0;
      for await (const { payload } of requests) aggregatedPayloadSize += payload?.body.length ?? 0;
      return { aggregatedPayloadSize };
    },

    async *fullDuplexCall(requests: AsyncIterable<StreamRequest>, context: HandlerContext) {
      echoMetadata(context);
      for await (const request of requests) {
        yield* replies(request);
        if (request.hang) await hang(context.signal);
        failAsAsked(request.responseStatus);
      }
    },
  };
  return handlers as unknown as Partial<ServiceImpl<DescService>>;
}

function* replies({ responseParameters = [] }: StreamRequest) {
  for (const { size } of responseParameters) yield { payload: payloadOf(size) };
}

/** The bytes differ, so that a wrongly assembled reply is noticed. */
export function payloadOf(size: number): Payload {
  return { body: Uint8Array.from({ length: size }, (_, index) => index % 251) };
}

function echoMetadata({ requestHeader, responseHeader, responseTrailer }: HandlerContext): void {
  const initial = requestHeader.get(ECHO_INITIAL);
  const trailing = requestHeader.get(ECHO_TRAILING);
  if (initial !== null) responseHeader.set(ECHO_INITIAL, initial);
  if (trailing !== null) responseTrailer.set(ECHO_TRAILING, trailing);
}

function checkCompressed({ expectCompressed = false }: SimpleRequest, { requestHeader }: HandlerContext) {
  const headers = ["grpc-encoding", "content-encoding", "connect-content-encoding"];
  const encoding = headers.map((name) => requestHeader.get(name)).find((value) => value !== null);
  if (expectCompressed && (encoding ?? "identity") === "identity") {
    throw new ConnectError("the request was not compressed", Code.InvalidArgument);
  }
}

function failAsAsked(status: EchoStatus | undefined): void {
  if (status === undefined || status.code === 0) return;
  const details = [
    { desc: ErrorInfoSchema, value: { reason: "AS_ASKED", domain: "testing", metadata: { key: "värde" } } },
    { desc: RetryInfoSchema, value: { retryDelay: { seconds: 7n } } },
  ];
  throw new ConnectError(status.message, status.code, undefined, status.withDetails ? details : []);
}
