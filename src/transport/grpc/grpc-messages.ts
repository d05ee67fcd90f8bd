import {
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from "node:http2";
import type { DescMethod, Message } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import type { Call } from "../calls/call.ts";
import { CallContext } from "../calls/call-context.ts";
import { grpcDeadlineOf } from "../calls/deadline.ts";
import { BINARY } from "../calls/message-codec.ts";
import { type OneMessageKind, receiveEnveloped } from "../envelope.ts";
import { inviteBody, nodeHeaders } from "../http/node-http.ts";
import type { Interruptible } from "../http/receive-body.ts";
import type { Limits } from "../limits.ts";

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

const OK: OutgoingHttpHeaders = { "grpc-status": "0" };

/** Returns the head of a gRPC reply, with the headers that gate, interceptors and implementation have set. */
export function replyHead({ call, setHeaders }: CallContext): OutgoingHttpHeaders {
  const head: OutgoingHttpHeaders = {
    ":status": 200,
    "content-type": "application/grpc+proto",
    "x-request-id": call.requestId,
  };
  return setHeaders === undefined ? head : Object.assign(head, nodeHeaders(setHeaders));
}

/** Returns the trailers of a successful call. */
export function okTrailers({ setTrailers }: CallContext): OutgoingHttpHeaders {
  return setTrailers === undefined ? OK : { ...nodeHeaders(setTrailers), ...OK };
}

/** Returns the trailers of a failed call. */
export function failureTrailers({ setTrailers }: CallContext, error: ConnectError): OutgoingHttpHeaders {
  return nodeHeaders(setGrpcStatus(new Headers(setTrailers), error));
}

/** Replies with a failure only: one head that contains the status (Trailers-Only). */
export function replyFailure(stream: ServerHttp2Stream, context: CallContext, error: ConnectError): void {
  // Closes a stream whose request was not read to its end. Otherwise the caller would keep sending.
  stream.once("finish", () => {
    if (!stream.readableEnded) stream.close(constants.NGHTTP2_NO_ERROR);
  });
  stream.respond({ ...replyHead(context), ...failureTrailers(context, error) }, { endStream: true });
}

/** Adds the status of a failed call to `target`, and returns it. */
export function setGrpcStatus(target: Headers, error: ConnectError): Headers {
  setTrailerStatus(target, error);
  target.set(GRPC_MESSAGE, encodeGrpcMessage(error.rawMessage));
  return target;
}

/**
 * Percent-encodes a text for `grpc-message` (gRPC over HTTP/2, Responses): `%`, the bytes outside of printable ASCII, and
 * a space at either end, which a header cannot have. Some clients, such as grpc-js, show other escapes as they are.
 */
export function encodeGrpcMessage(text: string): string {
  return text.toWellFormed().replace(ESCAPED, encodeURIComponent);
}

/** Makes the RPC library write `grpc-message` as {@link encodeGrpcMessage} does. It would escape far more. */
export function escapeOnlyMessages(trailers: Headers): void {
  const set = trailers.set.bind(trailers);
  trailers.set = (name, value) =>
    set(name, name.toLowerCase() === GRPC_MESSAGE ? encodeGrpcMessage(decodeURIComponent(value)) : value);
}

const GRPC_MESSAGE = "grpc-message";
const ESCAPED = /[^\x20-\x24\x26-\x7e]+|^ | $/g;
