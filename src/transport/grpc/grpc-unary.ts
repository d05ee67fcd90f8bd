import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import type { Message } from "@bufbuild/protobuf";
import type { ConnectError } from "@connectrpc/connect";
import type { Call } from "../call.ts";
import type { CallParts } from "../call-parts.ts";
import { replyCompression } from "../compression.ts";
import { frameMessage } from "../envelope.ts";
import { BINARY } from "../message-codec.ts";
import { sendBody } from "../send-body.ts";
import type { UnarySpec } from "../unary/invoke-unary.ts";
import { runUnary, type UnaryExchange } from "../unary/run-unary.ts";
import { okTrailers, replyFailure, replyHead } from "./grpc-reply.ts";
import { type GrpcSource, openGrpcCall, receiveGrpcMessage } from "./grpc-request.ts";

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
