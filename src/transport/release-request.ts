import { constants } from "node:http2";
import type { ServerReply, ServerRequest } from "./node-http.ts";

/**
 * Sees to it that a request whose body was not read to the end does not hold its connection. An HTTP/2 stream is
 * closed after the reply. An HTTP/1.1 connection may send the rest for a while, so that the caller has read the
 * reply before the connection is cut, and stays usable if the rest arrives.
 */
export function releaseAfterReply(request: ServerRequest, reply: ServerReply, lingerTimeoutMs: number): void {
  reply.once("finish", () => {
    if ("stream" in request) {
      if (!request.stream.readableEnded) request.stream.close(constants.NGHTTP2_NO_ERROR);
      return;
    }
    if (request.complete) return;
    request.resume();
    const { socket } = request;
    const cut = setTimeout(() => {
      if (!request.complete) socket.destroy();
    }, lingerTimeoutMs);
    cut.unref();
  });
}
