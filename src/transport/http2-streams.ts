import {
  type Http2Server,
  Http2ServerRequest,
  Http2ServerResponse,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from "node:http2";
import type { ServerReply, ServerRequest } from "./node-http.ts";

/** Takes a stream for itself, or leaves it by returning false. */
export type StreamTaker = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => boolean;

/**
 * Gives each new stream to `take` first, and as request and reply to `handle` if it is left. Node's own way makes
 * request and reply of every stream, which costs a unary call as much as all else that is done for it.
 */
export function dispatchStreams(
  server: Http2Server,
  take: StreamTaker,
  handle: (request: ServerRequest, reply: ServerReply) => void,
): void {
  server.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, ...rest: unknown[]) => {
    // The peer may have reset it in the same packet that opened it. Writing to it would throw.
    if (stream.destroyed) {
      stream.on("error", () => {});
      return;
    }
    if (take(stream, headers)) return;
    if (headers[":method"] === "CONNECT") {
      stream.on("error", () => {});
      stream.respond({ ":status": 405 }, { endStream: true });
      return;
    }
    const [, rawHeaders = []] = rest as [number, string[] | undefined];
    const request = new Http2ServerRequest(stream, headers, {}, rawHeaders);
    const reply = new Http2ServerResponse(stream);
    if (headers["expect"] === "100-continue") reply.writeContinue();
    handle(request, reply);
  });
}
