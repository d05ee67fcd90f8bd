import { constants } from "node:http2";
import { hasNoBody } from "./has-no-body.ts";
import type { ServerReply, ServerRequest } from "./node-http.ts";

/**
 * Keeps a request with an unread body from blocking its connection. The caller may send the rest for `lingerTimeoutMs`,
 * because some callers read the reply only afterwards, or lose it if they are stopped. Then an HTTP/2 stream is closed,
 * and an HTTP/1.1 connection is cut.
 */
export function releaseAfterReply(request: ServerRequest, reply: ServerReply, lingerTimeoutMs: number): void {
  if (hasNoBody(request)) return;
  if ("stream" in request) {
    const { stream } = request;
    // Uses the stream's own event: the reply's event follows the stream's close, and Node closes an unread stream.
    stream.once("finish", () => {
      if (stream.readableEnded || stream.closed) return;
      stream.resume();
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
