import { constants, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import type { Limits } from "./limits.ts";
import type { OpenReply } from "./slow-readers.ts";

/** An HTTP/2 connection of the server. */
export interface Http2Session {
  /**
   * Closes the connection without breaking a call: the peer is told to open no new streams, those under way are
   * served to their end. May be called more than once.
   */
  closeGently(): void;
  /** The replies to the calls under way. */
  openReplies(): Iterable<OpenReply>;
  /**
   * Cuts the connection of a session that Node has ended. After an error within an error Node neither closes the socket
   * nor reads from it, and never says that the session is over. To be called every second or so: what Node was
   * writing when it is called first has until the next time.
   */
  reap(): void;
  destroy(): void;
}

/** The largest stream id: a GOAWAY with it refuses no stream that is under way. */
const NO_STREAM_REFUSED = 2 ** 31 - 1;

/**
 * Watches a new connection. One without streams is closed when it has been idle for too long. One with streams is then
 * asked by a ping whether its peer still speaks HTTP/2, and cut if as much time passes again without an answer: after a
 * frame that breaks the protocol Node reads nothing more, the end of the connection included, and keeps its streams.
 * @param address that unread replies count for; undefined for none
 */
export function trackHttp2Session(
  session: ServerHttp2Session,
  socket: Socket,
  { idleTimeoutMs, writeTimeoutMs }: Pick<Limits, "idleTimeoutMs" | "writeTimeoutMs">,
  address: string | undefined,
): Http2Session {
  const openStreams = new Set<ServerHttp2Stream>();
  let isClosing = false;
  // A broken connection ends its calls by itself.
  session.on("error", () => {});
  session.on("stream", (stream) => {
    openStreams.add(stream);
    stream.on("close", () => {
      openStreams.delete(stream);
      // After a GOAWAY Node reads nothing from a connection without streams, an answer to a ping included.
      if (isClosing && openStreams.size === 0) close(session);
    });
  });
  const destroy = () => {
    session.destroy();
    // A session that is closing leaves its socket open until the peer has read what was written.
    socket.destroy();
  };
  let wasDestroyed = false;
  let cut: NodeJS.Timeout | undefined;
  session.once("close", () => clearTimeout(cut));
  session.setTimeout(idleTimeoutMs);
  const cutUnlessAnswered = (timeoutMs: number) => {
    // A peer that owes an answer does not get more time for it.
    if (cut !== undefined) return;
    cut = setTimeout(destroy, timeoutMs);
    if (openStreams.size === 0) close(session);
    else session.ping(() => answered());
  };
  session.on("timeout", () => cutUnlessAnswered(idleTimeoutMs));
  const answered = () => {
    clearTimeout(cut);
    cut = undefined;
    // Starts it again, which an answer does not.
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
            // The other calls of the connection go on, unless its peer reads nothing at all.
            if (!session.destroyed) cutUnlessAnswered(writeTimeoutMs);
            stream.close(constants.NGHTTP2_CANCEL);
            // The peer may not even read that it is over.
            stream.destroy();
          },
        };
      }
    },
    closeGently() {
      if (isClosing || session.destroyed || session.closed) return;
      isClosing = true;
      // A stream that the peer opens right now is above the last id of the GOAWAY, so that the peer may try it again.
      if (openStreams.size === 0) close(session);
      else announceAndClose(session);
    },
  };
}

/**
 * The final GOAWAY names the last stream that is served. It is sent once the peer's answer to a ping shows that the
 * peer has seen the announcement, so that all streams which it opened before are known by then.
 */
function announceAndClose(session: ServerHttp2Session): void {
  session.goaway(0, NO_STREAM_REFUSED);
  if (!session.ping(() => close(session))) close(session);
}

function close(session: ServerHttp2Session): void {
  if (!session.destroyed) session.close();
}
