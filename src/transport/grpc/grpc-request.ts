import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import type { DescMethod, Message } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Compression } from "@connectrpc/connect/protocol";
import type { Call } from "../call.ts";
import { CallContext } from "../call-context.ts";
import { checkFlags, type EnvelopeRules } from "../check-envelopes.ts";
import { COMPRESSION_NAMES, requestCompression } from "../compression.ts";
import { grpcDeadlineOf } from "../deadline.ts";
import type { Limits } from "../limits.ts";
import { BINARY } from "../message-codec.ts";
import { type Interruptible, receiveBody } from "../receive-body.ts";
import {
  expectNoMore,
  firstMessage,
  HEAD_BYTES,
  isCompressed,
  type OneMessageKind,
  promisedBytes,
} from "./grpc-frame.ts";

/** A gRPC call whose request is one message. */
export interface GrpcSource {
  readonly method: DescMethod;
  readonly stream: ServerHttp2Stream;
  readonly headers: IncomingHttpHeaders;
  readonly context: CallContext;
  readonly limits: Limits;
  /** What is wrong with the head. */
  readonly refusal: ConnectError | undefined;
}

/** Makes the context of a call on its stream, and has it end when its caller leaves. */
export function openGrpcCall(
  method: DescMethod,
  stream: ServerHttp2Stream,
  given: IncomingHttpHeaders,
  call: Call,
  limits: Limits,
): GrpcSource {
  const isUnary = method.methodKind === "unary";
  // Node's object is a hash table, and a copy is not; a stream keeps it for as long as it lasts.
  const headers = isUnary ? given : { ...given };
  const defaultMs = isUnary ? limits.defaultDeadlineMs : undefined;
  const timeout = grpcDeadlineOf(headers["grpc-timeout"], defaultMs, limits);
  const isMalformed = timeout === "malformed";
  const head = { protocolName: "grpc", requestMethod: "POST", target: String(headers[":path"]), headers };
  const context = new CallContext(method, call, head, isMalformed ? defaultMs : timeout);
  // A stream that breaks concerns only its call.
  stream.on("error", ignore);
  stream.on("close", () => context.abandon());
  const refusal = isMalformed ? malformedTimeout(headers["grpc-timeout"]) : undefined;
  return { method, stream, headers, context, limits, refusal };
}

function ignore(): void {}

/**
 * Reads the message of a gRPC request. Rejects with what is wrong with the request, first with what is wrong with its
 * head, and with the reason when `call` is aborted.
 * @param take gets the message, and what checks that no other follows
 */
export function receiveGrpcMessage<T>(
  source: GrpcSource,
  kind: OneMessageKind,
  call: Interruptible,
  take: (message: Message, expectEnd: () => void) => T,
): Promise<T> {
  const { stream, context, refusal } = source;
  const compression = compressionOf(source);
  if (refusal !== undefined) throw refusal;
  const { bodyBytes, bodyTimeoutMs } = source.limits;
  const rules = compression === undefined ? PLAIN : ENCODED;
  const bounds = {
    timeoutMs: context.bodyTimeoutMs(bodyTimeoutMs),
    check(sizeBytes: number, first: Buffer) {
      if (first.length >= HEAD_BYTES) {
        checkFlags(first[0] ?? 0, rules);
        checkSize(promisedBytes(first), bodyBytes);
      }
      if (sizeBytes > HEAD_BYTES + bodyBytes) checkSize(sizeBytes - HEAD_BYTES, bodyBytes);
    },
  };
  return receiveBody(stream, call, bounds).then((body) => {
    // The head may have come in pieces.
    if (body.length >= HEAD_BYTES) checkFlags(body[0] ?? 0, rules);
    const given = firstMessage(body, bodyBytes, kind);
    const parse = (bytes: Uint8Array) =>
      take(BINARY.parse(source.method.input, bytes), () => expectNoMore(body, bodyBytes, kind));
    return compression === undefined || !isCompressed(body)
      ? parse(given)
      : compression.decompress(given as Uint8Array<ArrayBuffer>, bodyBytes).then(parse);
  });
}

function compressionOf({ headers, context }: GrpcSource): Compression | undefined {
  try {
    return requestCompression(headers["grpc-encoding"]);
  } catch (refusal) {
    context.responseHeader.set("grpc-accept-encoding", COMPRESSION_NAMES);
    throw refusal;
  }
}

function malformedTimeout(text: unknown): ConnectError {
  return new ConnectError(
    `protocol error: invalid grpc timeout value: ${String(text)}`,
    Code.InvalidArgument,
  );
}

/** Of messages that are not, and that are compressed with something that is named. */
const PLAIN: EnvelopeRules = { knownFlags: 1, isEncodingNamed: false };
const ENCODED: EnvelopeRules = { knownFlags: 1, isEncodingNamed: true };

function checkSize(sizeBytes: number, maxBytes: number): void {
  if (sizeBytes <= maxBytes) return;
  throw new ConnectError(
    `message size ${sizeBytes} is larger than configured readMaxBytes ${maxBytes}`,
    Code.ResourceExhausted,
  );
}
