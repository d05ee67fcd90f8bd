import {
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from "node:http2";
import type { Message } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import type { Call } from "../call.ts";
import { COMPRESSION_NAMES, replyCompression, requestCompression } from "../compression.ts";
import { grpcDeadlineOf } from "../deadline.ts";
import { nodeHeaders } from "../node-http.ts";
import { frameMessage, HEAD_BYTES, isCompressed, messageOf, promisedBytes } from "./grpc-frame.ts";
import type { UnarySpec } from "./invoke-unary.ts";
import { BINARY } from "./message-codec.ts";
import { receiveBody } from "./receive-body.ts";
import { runUnary, type UnaryExchange, type UnaryParts } from "./run-unary.ts";
import { UnaryContext } from "./unary-context.ts";

/** Whether a content type is gRPC with protobuf messages, in the two spellings that clients send. */
export function isGrpcProto(contentType: string | undefined): boolean {
  return contentType === "application/grpc" || contentType === "application/grpc+proto";
}

/**
 * Serves one unary gRPC call on its HTTP/2 stream: gRPC over HTTP/2 (github.com/grpc/grpc, PROTOCOL-HTTP2.md), with
 * the stream's own events in place of requests and responses. Never rejects.
 */
export function serveGrpcUnary(
  spec: UnarySpec,
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  call: Call,
  parts: UnaryParts,
): Promise<void> {
  const timeout = grpcDeadlineOf(headers["grpc-timeout"], parts.limits);
  const head = {
    protocolName: "grpc",
    requestMethod: "POST",
    target: String(headers[":path"]),
    headers,
  };
  const isMalformed = timeout === "malformed";
  const context = new UnaryContext(
    spec.method,
    call,
    head,
    isMalformed ? parts.limits.defaultDeadlineMs : timeout,
  );
  // A stream that breaks concerns only its call.
  stream.on("error", () => {});
  stream.once("close", () => context.abandon());
  const exchange = new GrpcExchange(spec, stream, headers, context, parts);
  if (isMalformed) exchange.refusal = malformedTimeout(headers["grpc-timeout"]);
  return runUnary(spec, context, exchange, parts);
}

function malformedTimeout(text: unknown): ConnectError {
  return new ConnectError(
    `protocol error: invalid grpc timeout value: ${String(text)}`,
    Code.InvalidArgument,
  );
}

class GrpcExchange implements UnaryExchange {
  /** What is wrong with the head, to be said after the gate. */
  refusal: ConnectError | undefined;
  readonly #spec: UnarySpec;
  readonly #stream: ServerHttp2Stream;
  readonly #context: UnaryContext;
  readonly #parts: UnaryParts;
  readonly #headers: IncomingHttpHeaders;

  constructor(
    spec: UnarySpec,
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    context: UnaryContext,
    parts: UnaryParts,
  ) {
    this.#spec = spec;
    this.#stream = stream;
    this.#context = context;
    this.#parts = parts;
    this.#headers = headers;
  }

  async receive(): Promise<Message> {
    if (this.refusal !== undefined) throw this.refusal;
    const compression = this.#requestCompression();
    const { bodyBytes, bodyTimeoutMs } = this.#parts.limits;
    const body = await receiveBody(this.#stream, {
      timeoutMs: this.#context.timeoutMs() > bodyTimeoutMs ? bodyTimeoutMs : undefined,
      check(sizeBytes, first) {
        if (first.length >= HEAD_BYTES) checkSize(promisedBytes(first), bodyBytes);
        if (sizeBytes > HEAD_BYTES + bodyBytes) checkSize(sizeBytes - HEAD_BYTES, bodyBytes);
      },
    });
    const bytes = messageOf(body, bodyBytes);
    if (!isCompressed(body)) return BINARY.parse(this.#spec.method.input, bytes);
    if (compression === undefined) {
      throw new ConnectError(
        "received compressed envelope, but do not know how to decompress",
        Code.InvalidArgument,
      );
    }
    const whole = await compression.decompress(bytes as Uint8Array<ArrayBuffer>, bodyBytes);
    return BINARY.parse(this.#spec.method.input, whole);
  }

  #requestCompression() {
    try {
      return requestCompression(this.#headers["grpc-encoding"]);
    } catch (refusal) {
      this.#context.responseHeader.set("grpc-accept-encoding", COMPRESSION_NAMES);
      throw refusal;
    }
  }

  reply(output: Message): void | Promise<void> {
    const bytes = BINARY.serialize(this.#spec.method.output, output);
    const { "grpc-accept-encoding": accepted, "grpc-encoding": encoding } = this.#headers;
    const compression = replyCompression(bytes.length, accepted, encoding);
    if (compression === undefined) return this.#send(frameMessage(bytes, 0));
    return compression
      .compress(bytes as Uint8Array<ArrayBuffer>)
      .then((compressed) => this.#send(frameMessage(compressed, 1), compression.name));
  }

  #send(frame: Buffer, encoding?: string): void {
    if (this.#stream.destroyed) return;
    const head = this.#head();
    if (encoding !== undefined) head["grpc-encoding"] = encoding;
    const { setTrailers } = this.#context;
    const trailers = setTrailers === undefined ? OK : { ...nodeHeaders(setTrailers), ...OK };
    this.#respond(head, trailers);
    this.#stream.end(frame);
  }

  fail(error: ConnectError): void {
    const stream = this.#stream;
    if (stream.destroyed) return;
    if (stream.headersSent) {
      stream.close(constants.NGHTTP2_INTERNAL_ERROR);
      return;
    }
    const status = nodeHeaders(setTrailerStatus(new Headers(this.#context.setTrailers), error));
    // A stream whose request was not read to its end is closed, or the caller would go on sending.
    stream.once("finish", () => {
      if (!stream.readableEnded) stream.close(constants.NGHTTP2_NO_ERROR);
    });
    if (this.#context.setHeaders === undefined) {
      stream.respond({ ...this.#head(), ...status }, { endStream: true });
      return;
    }
    this.#respond(this.#head(), { ...status, "x-request-id": this.#context.call.requestId });
    stream.end();
  }

  #head(): OutgoingHttpHeaders {
    const head: OutgoingHttpHeaders = {
      ":status": 200,
      "content-type": "application/grpc+proto",
      "x-request-id": this.#context.call.requestId,
    };
    const { setHeaders } = this.#context;
    return setHeaders === undefined ? head : Object.assign(head, nodeHeaders(setHeaders));
  }

  #respond(head: OutgoingHttpHeaders, trailers: OutgoingHttpHeaders): void {
    this.#stream.respond(head, { waitForTrailers: true });
    this.#stream.once("wantTrailers", () => this.#stream.sendTrailers(trailers));
  }
}

const OK: OutgoingHttpHeaders = { "grpc-status": "0" };

function checkSize(sizeBytes: number, maxBytes: number): void {
  if (sizeBytes <= maxBytes) return;
  throw new ConnectError(
    `message size ${sizeBytes} is larger than configured readMaxBytes ${maxBytes}`,
    Code.ResourceExhausted,
  );
}
