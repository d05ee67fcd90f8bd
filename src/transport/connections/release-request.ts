import { constants } from "node:http2";
import type { Socket } from "node:net";
import type { ServerReply, ServerRequest } from "../http/node-http.ts";
import { hasNoBody } from "../http/receive-body.ts";

/**
 * Keeps a request with an unread body from blocking its connection. The caller may send the rest for a while after the
 * reply, because some callers read the reply only afterwards, or lose it if they are stopped. Then an HTTP/2 stream is
 * closed, and an HTTP/1.1 connection is cut.
 * @param lingerMs returns how long the caller may still send, in milliseconds; called at the end of the reply
 */
export function releaseAfterReply(request: ServerRequest, reply: ServerReply, lingerMs: () => number): void {
  if (hasNoBody(request)) return;
  if ("stream" in request) {
    const { stream } = request;
    // Uses the stream's own event: the reply's event follows the stream's close, and Node closes an unread stream.
    stream.once("finish", () => {
      if (stream.readableEnded || stream.closed) return;
      stream.resume();
      const close = setTimeout(() => stream.close(constants.NGHTTP2_NO_ERROR), lingerMs());
      close.unref();
      stream.once("close", () => clearTimeout(close));
    });
    return;
  }
  const { socket } = request;
  // Node calls this after the last reply of a connection. Closing a socket with unread data resets the connection, and
  // the reset discards a reply that the caller has not read yet.
  socket.destroySoon = () => {
    Reflect.deleteProperty(socket, "destroySoon");
    if (request.complete) socket.destroySoon();
    else {
      socket.end();
      request.once("end", () => socket.destroySoon());
    }
  };
  reply.once("finish", () => {
    if (request.complete) return;
    request.resume();
    const cut = setTimeout(() => {
      if (!request.complete) socket.destroy();
    }, lingerMs());
    cut.unref();
  });
}

/**
 * Sends the last bytes of a connection that is not read any further, and closes it once the peer has closed its side or
 * the time is over. Discards the rest of the input, because unread data would turn the close into a reset.
 */
export function endDiscarding(socket: Socket, lastBytes: string, lingerMs: number): void {
  socket.on("error", () => {});
  socket.removeAllListeners("data");
  // Also takes the socket away from Node's parser.
  socket.on("data", () => {});
  socket.once("end", () => socket.destroySoon());
  socket.end(lastBytes);
  const cut = setTimeout(() => socket.destroy(), lingerMs);
  cut.unref();
  socket.once("close", () => clearTimeout(cut));
}
