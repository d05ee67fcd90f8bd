import {
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from "node:http2";
import type { Message } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Compression } from "@connectrpc/connect/protocol";
import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import type { Call } from "../call.ts";
import { checkFlags, type EnvelopeRules } from "../check-envelopes.ts";
import { COMPRESSION_NAMES, replyCompression, requestCompression } from "../compression.ts";
import { grpcDeadlineOf } from "../deadline.ts";
import { nodeHeaders } from "../node-http.ts";
import { sendBody } from "../send-body.ts";
import {
  expectNoMore,
  firstMessage,
  frameMessage,
  HEAD_BYTES,
  isCompressed,
  promisedBytes,
} from "./grpc-frame.ts";
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

  receive(): Promise<Message> {
    const compression = this.#requestCompression();
    if (this.refusal !== undefined) throw this.refusal;
    const { bodyBytes, bodyTimeoutMs } = this.#parts.limits;
    const rules = compression === undefined ? PLAIN : ENCODED;
    const bounds = {
      timeoutMs: this.#context.timeoutMs() > bodyTimeoutMs ? bodyTimeoutMs : undefined,
      check(sizeBytes: number, first: Buffer) {
        if (first.length >= HEAD_BYTES) {
          checkFlags(first[0] ?? 0, rules);
          checkSize(promisedBytes(first), bodyBytes);
        }
        if (sizeBytes > HEAD_BYTES + bodyBytes) checkSize(sizeBytes - HEAD_BYTES, bodyBytes);
      },
    };
    return receiveBody(this.#stream, this.#context, bounds).then((body) =>
      this.#messageIn(body, compression),
    );
  }

  #messageIn(body: Buffer, compression: Compression | undefined): Message | Promise<Message> {
    const { bodyBytes } = this.#parts.limits;
    // The head may have come in pieces.
    if (body.length >= HEAD_BYTES) checkFlags(body[0] ?? 0, compression === undefined ? PLAIN : ENCODED);
    const given = firstMessage(body, bodyBytes);
    const parse = (bytes: Uint8Array) => {
      const message = BINARY.parse(this.#spec.method.input, bytes);
      expectNoMore(body, bodyBytes);
      return message;
    };
    if (compression === undefined || !isCompressed(body)) return parse(given);
    return compression.decompress(given as Uint8Array<ArrayBuffer>, bodyBytes).then(parse);
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

  #send(frame: Buffer, encoding?: string): void | Promise<void> {
    if (this.#stream.destroyed) return;
    const head = this.#head();
    if (encoding !== undefined) head["grpc-encoding"] = encoding;
    const { setTrailers } = this.#context;
    const trailers = setTrailers === undefined ? OK : { ...nodeHeaders(setTrailers), ...OK };
    this.#stream.respond(head, { waitForTrailers: true });
    this.#stream.once("wantTrailers", () => this.#stream.sendTrailers(trailers));
    return sendBody(this.#stream, frame, this.#parts.limits);
  }

  fail(error: ConnectError): void {
    const stream = this.#stream;
    if (stream.destroyed) return;
    if (stream.headersSent) {
      stream.close(constants.NGHTTP2_INTERNAL_ERROR);
      return;
    }
    const trailers = setTrailerStatus(new Headers(this.#context.setTrailers), error);
    // A stream whose request was not read to its end is closed, or the caller would go on sending.
    stream.once("finish", () => {
      if (!stream.readableEnded) stream.close(constants.NGHTTP2_NO_ERROR);
    });
    // A reply without messages is one head that holds the status too (Trailers-Only).
    stream.respond({ ...this.#head(), ...nodeHeaders(trailers) }, { endStream: true });
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
}

/** Of messages that are not, and that are compressed with something that is named. */
const PLAIN: EnvelopeRules = { knownFlags: 1, isEncodingNamed: false };
const ENCODED: EnvelopeRules = { knownFlags: 1, isEncodingNamed: true };

const OK: OutgoingHttpHeaders = { "grpc-status": "0" };

function checkSize(sizeBytes: number, maxBytes: number): void {
  if (sizeBytes <= maxBytes) return;
  throw new ConnectError(
    `message size ${sizeBytes} is larger than configured readMaxBytes ${maxBytes}`,
    Code.ResourceExhausted,
  );
}
