import type { ServerHttp2Session } from "node:http2";

/** An HTTP/2 connection of the server. */
export interface Http2Session {
  /**
   * Closes the connection without breaking a call: the peer is told to open no new streams, those under way are
   * served to their end. May be called more than once.
   */
  closeGently(): void;
  destroy(): void;
}

/** The largest stream id: a GOAWAY with it refuses no stream that is under way. */
const NO_STREAM_REFUSED = 2 ** 31 - 1;

/**
 * Watches a new connection. One without streams is closed when it has been idle for too long. One with streams is then
 * asked by a ping whether its peer still speaks HTTP/2, and cut if as much time passes again without an answer: after a
 * frame that breaks the protocol Node reads nothing more, the end of the connection included, and keeps its streams.
 */
export function trackHttp2Session(session: ServerHttp2Session, idleTimeoutMs: number): Http2Session {
  let openStreamsCount = 0;
  let isClosing = false;
  // A broken connection ends its calls by itself.
  session.on("error", () => {});
  session.on("stream", (stream) => {
    openStreamsCount++;
    stream.once("close", () => {
      openStreamsCount--;
      // After a GOAWAY Node reads nothing from a connection without streams, an answer to a ping included.
      if (isClosing && openStreamsCount === 0) close(session);
    });
  });
  let cut: NodeJS.Timeout | undefined;
  session.once("close", () => clearTimeout(cut));
  session.setTimeout(idleTimeoutMs);
  session.on("timeout", () => {
    clearTimeout(cut);
    cut = setTimeout(() => session.destroy(), idleTimeoutMs);
    if (openStreamsCount === 0) close(session);
    else session.ping(() => answered());
  });
  const answered = () => {
    clearTimeout(cut);
    // Starts it again, which an answer does not.
    if (!session.destroyed) session.setTimeout(idleTimeoutMs);
  };
  return {
    destroy: () => session.destroy(),
    closeGently() {
      if (isClosing || session.destroyed || session.closed) return;
      isClosing = true;
      // A stream that the peer opens right now is above the last id of the GOAWAY, so that the peer may try it again.
      if (openStreamsCount === 0) close(session);
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
