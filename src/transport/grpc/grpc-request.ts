import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import type { DescMethod, Message } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Call } from "../call.ts";
import { CallContext } from "../call-context.ts";
import { grpcDeadlineOf } from "../deadline.ts";
import type { OneMessageKind } from "../envelope.ts";
import { inviteBody } from "../http2-exchange.ts";
import type { Limits } from "../limits.ts";
import { BINARY } from "../message-codec.ts";
import type { Interruptible } from "../receive-body.ts";
import { receiveEnveloped } from "../receive-enveloped.ts";

/** A gRPC call whose request is one message. */
export interface GrpcSource {
  readonly method: DescMethod;
  readonly stream: ServerHttp2Stream;
  readonly headers: IncomingHttpHeaders;
  readonly context: CallContext;
  readonly limits: Limits;
  /** The error in the head, if any. */
  readonly refusal: ConnectError | undefined;
}

/** Creates the context of a call on its stream, and ends it when its caller leaves. */
export function openGrpcCall(
  method: DescMethod,
  stream: ServerHttp2Stream,
  given: IncomingHttpHeaders,
  call: Call,
  limits: Limits,
): GrpcSource {
  const isUnary = method.methodKind === "unary";
  // A stream keeps its headers while it lasts. Node's object is a hash table; a copy is smaller.
  const headers = isUnary ? given : { ...given };
  const defaultMs = isUnary ? limits.defaultDeadlineMs : undefined;
  const timeout = grpcDeadlineOf(headers["grpc-timeout"], defaultMs, limits);
  const isMalformed = timeout === "malformed";
  const head = { protocolName: "grpc", requestMethod: "POST", target: String(headers[":path"]), headers };
  const context = new CallContext(method, call, head, isMalformed ? defaultMs : timeout);
  // A broken stream affects only its own call.
  stream.on("error", ignore);
  stream.on("close", () => context.abandon());
  const refusal = isMalformed ? malformedTimeout(headers["grpc-timeout"]) : undefined;
  return { method, stream, headers, context, limits, refusal };
}

function ignore(): void {}

/** Reads the message of a gRPC request like {@link receiveEnveloped}. */
export function receiveGrpcMessage<T>(
  { method, stream, headers, context, limits, refusal }: GrpcSource,
  kind: OneMessageKind,
  call: Interruptible,
  take: (message: Message, expectEnd: () => void) => T,
): Promise<T> {
  const body = () => {
    inviteBody(stream, headers);
    return stream;
  };
  const request = { body, headers, context, limits, input: method.input, kind, refusal, ...FORM };
  return receiveEnveloped(request, call, take);
}

const FORM = {
  codec: BINARY,
  encodingHeader: "grpc-encoding",
  acceptEncodingHeader: "grpc-accept-encoding",
} as const;

function malformedTimeout(text: unknown): ConnectError {
  return new ConnectError(
    `protocol error: invalid grpc timeout value: ${String(text)}`,
    Code.InvalidArgument,
  );
}
