import {
  constants,
  type Http2Server,
  Http2ServerRequest,
  Http2ServerResponse,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from "node:http2";
import type { Limits } from "./limits.ts";
import type { ServerReply, ServerRequest } from "./node-http.ts";

/** Takes a stream for itself, or leaves it by returning false. */
export type StreamTaker = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => boolean;

/** What a header takes beside its name and value (RFC 9113, 6.5.2). */
const HEADER_OVERHEAD_BYTES = 32;

/**
 * Gives each new stream to `take` first, and as request and reply to `handle` if it is left. Node's own way makes
 * request and reply of every stream, which costs a unary call as much as all else that is done for it.
 */
export function dispatchStreams(
  server: Http2Server,
  take: StreamTaker,
  handle: (request: ServerRequest, reply: ServerReply) => void,
  { headerBytes }: Pick<Limits, "headerBytes">,
): void {
  server.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, ...rest: unknown[]) => {
    // The peer may have reset it in the same packet that opened it. Writing to it would throw.
    if (stream.destroyed) {
      stream.on("error", () => {});
      return;
    }
    const [, rawHeaders = []] = rest as [number, string[] | undefined];
    // Node holds a peer to the bound on headers only once the peer has confirmed that it knows it.
    if (stream.session?.pendingSettingsAck === true && sizeOf(rawHeaders) > headerBytes) {
      stream.on("error", () => {});
      stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
      return;
    }
    if (take(stream, headers)) return;
    if (headers[":method"] === "CONNECT") {
      stream.on("error", () => {});
      stream.respond({ ":status": 405 }, { endStream: true });
      return;
    }
    const request = new Http2ServerRequest(stream, headers, {}, rawHeaders);
    const reply = new Http2ServerResponse(stream);
    if (headers["expect"] === "100-continue") reply.writeContinue();
    handle(request, reply);
  });
}

/** Of names and values in turn. */
function sizeOf(rawHeaders: readonly string[]): number {
  return rawHeaders.reduce((sum, text) => sum + text.length, (rawHeaders.length / 2) * HEADER_OVERHEAD_BYTES);
}
