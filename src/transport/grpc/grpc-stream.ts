import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerHttp2Stream } from "node:http2";
import type { Message } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Compression } from "@connectrpc/connect/protocol";
import type { Call } from "../call.ts";
import type { CallParts } from "../call-parts.ts";
import { acceptedCompression, COMPRESS_MIN_BYTES } from "../compression.ts";
import { frameMessage } from "../envelope.ts";
import { BINARY } from "../message-codec.ts";
import { writeChunk } from "../node-http.ts";
import { UNINTERRUPTED } from "../receive-body.ts";
import type { StreamSpec } from "../streaming/invoke-stream.ts";
import { runStream, type StreamExchange } from "../streaming/run-stream.ts";
import { failureTrailers, okTrailers, replyFailure, replyHead } from "./grpc-reply.ts";
import { type GrpcSource, openGrpcCall, receiveGrpcMessage } from "./grpc-request.ts";

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
    const compression = bytes.length < COMPRESS_MIN_BYTES ? undefined : this.#compression;
    if (compression === undefined) return writeChunk(stream, frameMessage(bytes, 0), limits);
    return compression
      .compress(bytes as Uint8Array<ArrayBuffer>)
      .then((compressed) => writeChunk(stream, frameMessage(compressed, 1), limits));
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
