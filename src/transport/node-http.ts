import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Limits } from "./limits.ts";

/** A request of either HTTP version. */
export type ServerRequest = IncomingMessage | Http2ServerRequest;

/** Where the body of a reply goes: a response of either HTTP version, or an HTTP/2 stream. */
export interface ReplyBody {
  readonly destroyed: boolean;
  /** HTTP/2 only, whose response does not say itself that it is gone. */
  readonly stream?: { readonly destroyed: boolean; readonly closed: boolean };
  write(chunk: string | Uint8Array): boolean;
  end(chunk?: string | Uint8Array): unknown;
  destroy(error?: Error): unknown;
  on(event: "close" | "drain" | "finish" | "error", listener: () => void): unknown;
  off(event: "close" | "drain" | "finish" | "error", listener: () => void): unknown;
}

/** What both HTTP versions' responses have and the transport uses. */
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
 * Writes the head of a reply; `vary` is added to what the transport has set, other headers replace.
 * @param protocol headers that win over the others
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

/** Web `Headers` in the form that Node writes. */
export function nodeHeaders(headers: Headers): OutgoingHttpHeaders {
  const out: OutgoingHttpHeaders = {};
  headers.forEach((value, name) => {
    out[name] = name === "set-cookie" ? headers.getSetCookie() : value;
  });
  return out;
}

/**
 * Writes a chunk and waits until the peer can take more. Rejects with CANCELED when the peer is gone, or takes nothing
 * for so long that it counts as gone; its connection is cut then.
 */
export function writeChunk(
  reply: ReplyBody,
  chunk: Uint8Array | string,
  { writeTimeoutMs }: Pick<Limits, "writeTimeoutMs">,
): Promise<void> {
  if (isGone(reply)) return Promise.reject(peerGone());
  if (reply.write(chunk)) return Promise.resolve();
  // What is gone by now says nothing any more.
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
      // With an error, so that over HTTP/2 what was cut does not look whole.
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

/** The path of a request and its query without the question mark. */
export function splitTarget(request: ServerRequest): { path: string; query: string } {
  // CONNECT over HTTP/2 has no path.
  const target = request.url ?? "";
  const mark = target.indexOf("?");
  return mark < 0
    ? { path: target, query: "" }
    : { path: target.slice(0, mark), query: target.slice(mark + 1) };
}
