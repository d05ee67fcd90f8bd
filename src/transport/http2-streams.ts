import { constants, type Http2Server, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import { Http2Reply, Http2Request } from "./http2-exchange.ts";
import type { Limits } from "./limits.ts";
import type { ServerReply, ServerRequest } from "./node-http.ts";

/**
 * Offers each new stream to `take` first, then passes it as request and reply to `handle`. Node's own request and
 * response objects double the cost of a unary call and are a third of the memory of an idle one.
 */
export function dispatchStreams(
  server: Http2Server,
  take: StreamTaker,
  handle: (request: ServerRequest, reply: ServerReply) => void,
  { headerBytes }: Pick<Limits, "headerBytes">,
): void {
  server.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, ...rest: unknown[]) => {
    // The peer may have reset the stream in the packet that opened it. Writing to it would throw.
    if (stream.destroyed) {
      stream.on("error", () => {});
      return;
    }
    const [, rawHeaders = []] = rest as [number, string[] | undefined];
    if (sizeOf(rawHeaders) > headerBytes) {
      refuseHeaders(stream, headers);
      return;
    }
    if (take(stream, headers)) return;
    if (headers[":method"] === "CONNECT") {
      stream.on("error", () => {});
      stream.respond({ ":status": 405 }, { endStream: true });
      return;
    }
    handle(new Http2Request(stream, headers), new Http2Reply(stream));
  });
}

/** Takes a stream, or returns false to leave it. */
export type StreamTaker = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => boolean;

/** The size of a header beyond its name and value (RFC 9113, 6.5.2). */
const HEADER_OVERHEAD_BYTES = 32;

/** Takes names and values in turn. */
function sizeOf(rawHeaders: readonly string[]): number {
  let sizeBytes = (rawHeaders.length / 2) * HEADER_OVERHEAD_BYTES;
  for (const text of rawHeaders) sizeBytes += text.length;
  return sizeBytes;
}

/** Replies as over HTTP/1.1, or with the status of gRPC. */
function refuseHeaders(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
  stream.on("error", () => {});
  stream.once("finish", () => {
    if (!stream.readableEnded) stream.close(constants.NGHTTP2_NO_ERROR);
  });
  const type = headers["content-type"];
  const isGrpc = type !== undefined && /^application\/grpc(?!-web)/i.test(type);
  const status = { "content-type": type, "grpc-status": "8", "grpc-message": "the headers are too large" };
  stream.respond(isGrpc ? { ":status": 200, ...status } : { ":status": 431 }, { endStream: true });
}
