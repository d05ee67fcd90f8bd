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
    // Node enforces the header limit only once the peer has acknowledged it.
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
    if (headers["expect"] === "100-continue") stream.additionalHeaders({ ":status": 100 });
    handle(new Http2Request(stream, headers), new Http2Reply(stream));
  });
}

/** Takes a stream, or returns false to leave it. */
export type StreamTaker = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => boolean;

/** The size of a header beyond its name and value (RFC 9113, 6.5.2). */
const HEADER_OVERHEAD_BYTES = 32;

/** Takes names and values in turn. */
function sizeOf(rawHeaders: readonly string[]): number {
  return rawHeaders.reduce((sum, text) => sum + text.length, (rawHeaders.length / 2) * HEADER_OVERHEAD_BYTES);
}
