import { constants } from "node:http2";
import { hasNoBody } from "./has-no-body.ts";
import type { ServerReply, ServerRequest } from "./node-http.ts";

/**
 * Sees to it that a request whose body was not read to the end does not hold its connection. The caller may send the
 * rest for a while, because it may not read the reply before it has, or lose the reply when it is stopped; after that
 * an HTTP/2 stream is closed, and an HTTP/1.1 connection is cut.
 */
export function releaseAfterReply(request: ServerRequest, reply: ServerReply, lingerTimeoutMs: number): void {
  if (hasNoBody(request)) return;
  if ("stream" in request) {
    const { stream } = request;
    // The stream's own event: the reply's comes when the stream is closed, and Node closes one that nobody reads.
    stream.once("finish", () => {
      if (stream.readableEnded || stream.closed) return;
      request.resume();
      const close = setTimeout(() => stream.close(constants.NGHTTP2_NO_ERROR), lingerTimeoutMs);
      close.unref();
      stream.once("close", () => clearTimeout(close));
    });
    return;
  }
  reply.once("finish", () => {
    if (request.complete) return;
    request.resume();
    const { socket } = request;
    const cut = setTimeout(() => {
      if (!request.complete) socket.destroy();
    }, lingerTimeoutMs);
    cut.unref();
  });
}
