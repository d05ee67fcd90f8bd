import {
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from "node:http2";
import type { Message } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Compression } from "@connectrpc/connect/protocol";
import { Call, type FinishedCall } from "../calls/call.ts";
import type { CallParts, CallWrapper } from "../calls/call-parts.ts";
import { BINARY } from "../calls/message-codec.ts";
import { chooseRequestId } from "../calls/request-id.ts";
import type { StreamTaker } from "../connections/http2-session.ts";
import { frameMessage, writeMessage } from "../envelope.ts";
import { acceptedCompression, replyCompression } from "../http/compression.ts";
import { certificateOfSocket } from "../http/node-http.ts";
import { UNINTERRUPTED } from "../http/receive-body.ts";
import { sendBody } from "../http/send-body.ts";
import type { OwnSpec } from "../own-services.ts";
import { runStream, type StreamExchange, type StreamSpec } from "../streaming/run-stream.ts";
import { runUnary, type UnaryExchange, type UnarySpec } from "../unary/run-unary.ts";
import {
  failureTrailers,
  type GrpcSource,
  okTrailers,
  openGrpcCall,
  receiveGrpcMessage,
  replyFailure,
  replyHead,
} from "./grpc-messages.ts";

/**
 * Takes the streams that are gRPC calls with one request message. It leaves browsers' streams to the handlers with
 * CORS.
 */
export function createGrpcTaker({
  specs,
  parts,
  closing,
  onCallEnd,
  aroundCall = (_call, serve) => serve(),
}: GrpcTakerOptions): StreamTaker {
  return (stream, headers) => {
    if (!isGrpcProto(headers["content-type"]) || headers[":method"] !== "POST") return false;
    const spec = specs.get(headers[":path"] ?? "");
    if (spec === undefined || headers.origin !== undefined) return false;
    const call = new Call(
      {
        requestId: chooseRequestId(headers["x-request-id"]),
        protocol: "grpc",
        peerAddress: stream.session?.socket.remoteAddress ?? "",
        certificate: certificateOfSocket(stream.session?.socket),
        ...(spec.kind === "unary" ? {} : { closing }),
      },
      onCallEnd,
    );
    const serve = () =>
      spec.kind === "unary"
        ? serveGrpcUnary(spec, stream, headers, call, parts)
        : serveGrpcStream(spec, stream, headers, call, parts);
    aroundCall({ headers, values: call.values }, serve).catch(parts.onError);
    return true;
  };
}

/** Options of {@link createGrpcTaker}. */
export interface GrpcTakerOptions {
  readonly specs: ReadonlyMap<string, OwnSpec>;
  readonly parts: CallParts;
  /** Fires when the server is about to close. */
  readonly closing: AbortSignal;
  readonly onCallEnd: ((call: FinishedCall) => void) | undefined;
  readonly aroundCall: CallWrapper | undefined;
}

/** Whether a content type is gRPC with protobuf messages, in either common spelling. */
function isGrpcProto(contentType: string | undefined): boolean {
  return contentType === "application/grpc" || contentType === "application/grpc+proto";
}

/**
 * Serves one unary gRPC call on its HTTP/2 stream, as in gRPC over HTTP/2 (github.com/grpc/grpc, PROTOCOL-HTTP2.md). It
 * uses the stream's own events instead of request and response objects. Never rejects.
 */
export function serveGrpcUnary(
  spec: UnarySpec,
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  call: Call,
  parts: CallParts,
): Promise<void> {
  const source = openGrpcCall(spec.method, stream, headers, call, parts.limits);
  return runUnary(spec, source.context, new GrpcExchange(source), parts);
}

class GrpcExchange implements UnaryExchange {
  readonly #source: GrpcSource;

  constructor(source: GrpcSource) {
    this.#source = source;
  }

  receive(): Promise<Message> {
    return receiveGrpcMessage(this.#source, "unary", this.#source.context, (message, expectEnd) => {
      expectEnd();
      return message;
    });
  }

  reply(output: Message): void | Promise<void> {
    const { method, headers } = this.#source;
    const bytes = BINARY.serialize(method.output, output);
    const { "grpc-accept-encoding": accepted, "grpc-encoding": encoding } = headers;
    const compression = replyCompression(bytes.length, accepted, encoding);
    if (compression === undefined) return this.#send(frameMessage(bytes, 0));
    return compression
      .compress(bytes as Uint8Array<ArrayBuffer>)
      .then((compressed) => this.#send(frameMessage(compressed, 1), compression.name));
  }

  #send(frame: Buffer, encoding?: string): void | Promise<void> {
    const { stream, context, limits } = this.#source;
    if (stream.destroyed) return;
    const head = replyHead(context);
    if (encoding !== undefined) head["grpc-encoding"] = encoding;
    const trailers = okTrailers(context);
    stream.respond(head, { waitForTrailers: true });
    stream.once("wantTrailers", () => stream.sendTrailers(trailers));
    return sendBody(stream, frame, limits);
  }

  fail(error: ConnectError): void {
    const { stream, context } = this.#source;
    if (stream.destroyed) return;
    if (stream.headersSent) stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    else replyFailure(stream, context, error);
  }
}

/** Serves one server-streaming gRPC call on its HTTP/2 stream. Never rejects. */
export function serveGrpcStream(
  spec: StreamSpec,
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  call: Call,
  parts: CallParts,
): Promise<void> {
  const source = openGrpcCall(spec.method, stream, headers, call, parts.limits);
  return runStream(spec, source.context, new GrpcStreamExchange(source), parts);
}

class GrpcStreamExchange implements StreamExchange {
  readonly #source: GrpcSource;
  #compression: Compression | undefined;

  constructor(source: GrpcSource) {
    this.#source = source;
  }

  receive() {
    return receiveGrpcMessage(this.#source, "server-streaming", UNINTERRUPTED, (message, expectEnd) => ({
      message,
      expectEnd,
    }));
  }

  write(output: Message): Promise<void> {
    const { method, stream, limits } = this.#source;
    if (!stream.headersSent) this.#begin();
    const bytes = BINARY.serialize(method.output, output);
    return writeMessage(stream, bytes, 0, this.#compression, limits);
  }

  end(): void {
    const { stream, context } = this.#source;
    if (!stream.headersSent) this.#begin();
    this.#end(okTrailers(context));
  }

  fail(error: ConnectError): void {
    const { stream, context } = this.#source;
    if (stream.destroyed || stream.closed) return;
    if (!stream.headersSent) {
      replyFailure(stream, context, error);
      return;
    }
    this.#end(failureTrailers(context, error));
  }

  /** Writes the head, which names the compression of all messages. */
  #begin(): void {
    const { stream, headers, context } = this.#source;
    if (stream.destroyed || stream.closed) throw new ConnectError("the caller is gone", Code.Canceled);
    const head = replyHead(context);
    // A handler may set the length of its content, which differs from that of the frames.
    delete head["content-length"];
    this.#compression = acceptedCompression(headers["grpc-accept-encoding"], headers["grpc-encoding"]);
    if (this.#compression !== undefined) head["grpc-encoding"] = this.#compression.name;
    stream.respond(head, { waitForTrailers: true });
  }

  #end(trailers: OutgoingHttpHeaders): void {
    const { stream } = this.#source;
    stream.once("wantTrailers", () => stream.sendTrailers(trailers));
    stream.end();
  }
}
