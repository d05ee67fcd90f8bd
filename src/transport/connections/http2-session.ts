import {
  constants,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { Socket } from "node:net";
import { Http2Reply, Http2Request, type ServerReply, type ServerRequest } from "../http/node-http.ts";
import type { OpenReply } from "../http/send-body.ts";
import type { Limits } from "../limits.ts";

/** An HTTP/2 connection of the server. */
export interface Http2Session {
  /**
   * Closes the connection without breaking a call: asks the peer to open no new streams and serves the running ones to
   * their end. It may be called repeatedly.
   */
  closeGently(): void;
  /** Returns the replies of the running calls. */
  openReplies(): Iterable<OpenReply>;
  /**
   * Cuts the connection of a session that Node has ended. After an error during the handling of another error, Node
   * neither closes the socket nor reads from it, and never reports the end of the session. Call it about once per
   * second: Node's pending writes have until the next call.
   */
  reap(): void;
  destroy(): void;
}

/** The largest stream id. A GOAWAY with it refuses no running stream. */
const NO_STREAM_REFUSED = 2 ** 31 - 1;

/**
 * Watches a new connection. After the idle time-out it closes a connection without streams and pings one with streams.
 * If the ping is not answered within the same time, it cuts the connection: after a frame that violates the protocol,
 * Node reads nothing more, not even the end of the connection, and keeps its streams.
 * @param address the address that unread replies count towards; undefined for none
 */
export function trackHttp2Session(
  session: ServerHttp2Session,
  socket: Socket,
  { idleTimeoutMs, writeTimeoutMs }: Limits,
  address: string | undefined,
): Http2Session {
  const openStreams = new Set<ServerHttp2Stream>();
  let isClosing = false;
  // The streams of a broken connection close, which ends their calls.
  session.on("error", () => {});
  session.on("stream", (stream) => {
    openStreams.add(stream);
    stream.on("close", () => {
      openStreams.delete(stream);
      // After a GOAWAY, Node reads nothing from a connection without streams, not even a ping's answer.
      if (isClosing && openStreams.size === 0) close(session);
    });
  });
  const destroy = () => {
    session.destroy();
    // A closing session keeps its socket open until the peer has read the pending output.
    socket.destroy();
  };
  let wasDestroyed = false;
  let cut: NodeJS.Timeout | undefined;
  session.once("close", () => clearTimeout(cut));
  session.setTimeout(idleTimeoutMs);
  const cutUnlessAnswered = (timeoutMs: number) => {
    // A peer that owes an answer gets no extra time.
    if (cut !== undefined) return;
    cut = setTimeout(destroy, timeoutMs);
    if (openStreams.size === 0) close(session);
    else session.ping(() => answered());
  };
  session.on("timeout", () => cutUnlessAnswered(idleTimeoutMs));
  const answered = () => {
    clearTimeout(cut);
    cut = undefined;
    // Restarts the timer, which an answer does not do.
    if (!session.destroyed) session.setTimeout(idleTimeoutMs);
  };
  return {
    destroy,
    reap() {
      if (wasDestroyed) socket.destroy();
      wasDestroyed = session.destroyed;
    },
    *openReplies() {
      for (const stream of openStreams) {
        yield {
          key: stream,
          isEnded: stream.writableEnded,
          unsentBytes: stream.writableLength,
          address,
          cut() {
            // The other calls of the connection continue, unless its peer reads nothing at all.
            if (!session.destroyed) cutUnlessAnswered(writeTimeoutMs);
            stream.close(constants.NGHTTP2_CANCEL);
            // The peer may not even read the reset.
            stream.destroy();
          },
        };
      }
    },
    closeGently() {
      if (isClosing || session.destroyed || session.closed) return;
      isClosing = true;
      // A stream that the peer opens at this moment is above the GOAWAY's last id, so the peer may retry it.
      if (openStreams.size === 0) close(session);
      else announceAndClose(session);
    },
  };
}

/**
 * Sends the final GOAWAY, which names the last served stream. It waits for the answer to a ping, which proves that the
 * peer has seen the announcement, so that all earlier streams are known.
 */
function announceAndClose(session: ServerHttp2Session): void {
  session.goaway(0, NO_STREAM_REFUSED);
  if (!session.ping(() => close(session))) close(session);
}

function close(session: ServerHttp2Session): void {
  if (!session.destroyed) session.close();
}

/**
 * Offers each new stream to `take` first, then passes it as request and reply to `handle`. Node's own request and
 * response objects double the cost of a unary call and are a third of the memory of an idle one.
 */
export function dispatchStreams(
  server: Http2Server,
  take: StreamTaker,
  handle: (request: ServerRequest, reply: ServerReply) => void,
  { headerBytes }: Limits,
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
