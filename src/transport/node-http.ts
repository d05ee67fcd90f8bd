import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Http2Request } from "./http2-exchange.ts";
import type { Limits } from "./limits.ts";

/** A request of either HTTP version. */
export type ServerRequest = Http1Request | Http2Request;

/** A request over HTTP/1.1. */
export type Http1Request = IncomingMessage & {
  /** Set if the caller waits for `100 (Continue)` before it sends the body: tells it to send. */
  invite?: () => void;
};

/** Returns the body of a request in order to read it now. Invites a caller that waits for `100 (Continue)` to send it. */
export function bodyOf(request: ServerRequest): Readable {
  request.invite?.();
  return "stream" in request ? request.stream : request;
}

/** Returns the address of the connection; empty when the peer is already gone. */
export function peerAddressOf(request: ServerRequest): string {
  const socket = "stream" in request ? request.stream.session?.socket : request.socket;
  return socket?.remoteAddress ?? "";
}

/** The target of a reply's body: a response of either HTTP version, or an HTTP/2 stream. */
export interface ReplyBody {
  readonly destroyed: boolean;
  /** Set for HTTP/2, whose streams may close before they are destroyed. */
  readonly stream?: { readonly destroyed: boolean; readonly closed: boolean };
  write(chunk: string | Uint8Array): boolean;
  end(chunk?: string | Uint8Array): unknown;
  destroy(error?: Error): unknown;
  on(event: "close" | "drain" | "finish" | "error", listener: () => void): unknown;
  off(event: "close" | "drain" | "finish" | "error", listener: () => void): unknown;
}

/** The common part of both HTTP versions' responses that the transport uses. */
export interface ServerReply extends ReplyBody {
  readonly headersSent: boolean;
  readonly writableEnded: boolean;
  getHeader(name: string): number | string | string[] | undefined;
  setHeader(name: string, value: string): unknown;
  writeHead(status: number, headers?: OutgoingHttpHeaders): unknown;
  addTrailers(trailers: OutgoingHttpHeaders): void;
  once(event: "close" | "drain" | "finish" | "error", listener: () => void): unknown;
}

/**
 * Writes the head of a reply. `vary` is added to the transport's value; other headers replace it.
 * @param protocol headers that take precedence over the others
 */
export function writeHead(
  reply: ServerReply,
  status: number,
  headers: Headers,
  protocol?: OutgoingHttpHeaders,
): void {
  const out = Object.assign(nodeHeaders(headers), protocol);
  const vary = reply.getHeader("vary");
  if (vary !== undefined && headers.has("vary")) out["vary"] = `${String(vary)}, ${headers.get("vary")}`;
  reply.writeHead(status, out);
}

/** Converts web `Headers` to Node's form. */
export function nodeHeaders(headers: Headers): OutgoingHttpHeaders {
  const out: OutgoingHttpHeaders = {};
  headers.forEach((value, name) => {
    out[name] = name === "set-cookie" ? headers.getSetCookie() : value;
  });
  return out;
}

/**
 * Writes a chunk and waits until the peer can take more. Rejects with CANCELED when the peer is gone or has read
 * nothing for `writeTimeoutMs`; the latter also cuts its connection.
 */
export function writeChunk(
  reply: ReplyBody,
  chunk: Uint8Array | string,
  { writeTimeoutMs }: Pick<Limits, "writeTimeoutMs">,
): Promise<void> {
  if (isGone(reply)) return Promise.reject(peerGone());
  if (reply.write(chunk)) return Promise.resolve();
  // A peer that is already gone emits no more events.
  if (isGone(reply)) return Promise.reject(peerGone());
  return new Promise((resolve, reject) => {
    const settle = (end: () => void) => () => {
      clearTimeout(timer);
      reply.off("drain", onDrain);
      reply.off("close", onClose);
      reply.off("error", onClose);
      end();
    };
    const onDrain = settle(resolve);
    // A vanished peer never drains, and closes without an error.
    const onClose = settle(() => reject(peerGone()));
    const onLate = settle(() => {
      const reason = peerGone();
      // Destroyed with an error, so that a cut HTTP/2 reply does not look complete.
      reply.destroy(reason);
      reject(reason);
    });
    const timer = setTimeout(onLate, writeTimeoutMs);
    reply.on("drain", onDrain);
    reply.on("close", onClose);
    reply.on("error", onClose);
  });
}

function isGone({ destroyed, stream }: ReplyBody): boolean {
  return destroyed || stream?.destroyed === true || stream?.closed === true;
}

function peerGone(): ConnectError {
  return new ConnectError("the caller is gone", Code.Canceled);
}

/** Splits the target of a request into its path and its query without the question mark. */
export function splitTarget(request: ServerRequest): { path: string; query: string } {
  // CONNECT over HTTP/2 has no path.
  const target = request.url ?? "";
  const mark = target.indexOf("?");
  return mark < 0
    ? { path: target, query: "" }
    : { path: target.slice(0, mark), query: target.slice(mark + 1) };
}
