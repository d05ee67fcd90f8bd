import type { X509Certificate } from "node:crypto";
import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import type { TLSSocket } from "node:tls";
import { Code, ConnectError, createContextKey } from "@connectrpc/connect";
import type { Limits } from "../limits.ts";

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

/**
 * Returns the certificate of the connection's client, which a configured authority has signed. Undefined if clients need
 * none, or the peer is already gone.
 */
export function certificateOf(request: ServerRequest): X509Certificate | undefined {
  return certificateOfSocket("stream" in request ? request.stream.session?.socket : request.socket);
}

/** Does as {@link certificateOf} for the socket of a connection or of an HTTP/2 session. */
export function certificateOfSocket(socket: Socket | undefined): X509Certificate | undefined {
  const secured = socket as Partial<TLSSocket> | undefined;
  return secured?.authorized === true ? secured.getPeerX509Certificate?.() : undefined;
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
  { writeTimeoutMs }: Limits,
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

/**
 * A request over HTTP/2. Node's own class is a second stream on top of the stream, which would stay in memory for the
 * whole of an idle call.
 */
export class Http2Request {
  /** Its readable side is the body. */
  readonly stream: ServerHttp2Stream;
  readonly headers: IncomingHttpHeaders;

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders) {
    this.stream = stream;
    // A stream keeps its headers while it lasts. Node's object is a hash table; a copy is smaller.
    this.headers = { ...headers };
  }

  invite(): void {
    inviteBody(this.stream, this.headers);
  }

  get method(): string | undefined {
    return this.headers[":method"];
  }

  /** Path and query. CONNECT has none. */
  get url(): string | undefined {
    return this.headers[":path"];
  }
}

/** Tells a caller to send its body, if it waits for that (RFC 9110, 10.1.1). */
export function inviteBody(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
  if (headers["expect"]?.toLowerCase() !== "100-continue") return;
  if (!stream.headersSent && !stream.destroyed && !stream.closed)
    stream.additionalHeaders({ ":status": 100 });
}

type ReplyEvent = "close" | "drain" | "finish" | "error";

/** The reply to an {@link Http2Request}. Its events are those of the stream. */
export class Http2Reply implements ServerReply {
  readonly stream: ServerHttp2Stream;
  /** The headers set before the head is written. */
  #headers: OutgoingHttpHeaders | undefined;
  #isEnded = false;

  constructor(stream: ServerHttp2Stream) {
    this.stream = stream;
  }

  get destroyed(): boolean {
    return this.stream.destroyed;
  }

  get headersSent(): boolean {
    return this.stream.headersSent;
  }

  get writableEnded(): boolean {
    return this.#isEnded;
  }

  getHeader(name: string): number | string | string[] | undefined {
    return this.#headers?.[name];
  }

  setHeader(name: string, value: string): void {
    this.#headers ??= {};
    this.#headers[name] = value;
  }

  /** Omits headers that are only valid on HTTP/1.1 connections. Does nothing once the peer is gone. */
  writeHead(status: number, headers: OutgoingHttpHeaders = {}): void {
    const { stream } = this;
    if (stream.destroyed || stream.closed) return;
    const head: OutgoingHttpHeaders = { ...this.#headers };
    this.#headers = undefined;
    for (const [given, value] of Object.entries(headers)) {
      const name = given.toLowerCase();
      if (!CONNECTION_HEADERS.has(name)) head[name] = value;
    }
    head[":status"] = status;
    stream.respond(head, { endStream: this.#isEnded, waitForTrailers: true });
  }

  write(chunk: string | Uint8Array): boolean {
    if (!this.stream.headersSent) this.writeHead(200);
    return this.stream.write(chunk);
  }

  end(chunk?: string | Uint8Array): void {
    if (this.#isEnded) return;
    if (chunk !== undefined) this.write(chunk);
    this.#isEnded = true;
    if (!this.stream.headersSent) this.writeHead(200);
    this.stream.end();
  }

  addTrailers(trailers: OutgoingHttpHeaders): void {
    this.stream.once("wantTrailers", () => this.stream.sendTrailers(trailers));
  }

  destroy(error?: Error): void {
    this.stream.destroy(error);
  }

  on(event: ReplyEvent, listener: () => void): void {
    this.stream.on(event, listener);
  }

  once(event: ReplyEvent, listener: () => void): void {
    this.stream.once(event, listener);
  }

  off(event: ReplyEvent, listener: () => void): void {
    this.stream.off(event, listener);
  }
}

/** RFC 9113, 8.2.2. */
const CONNECTION_HEADERS: ReadonlySet<string> = new Set([
  "connection",
  "http2-settings",
  "keep-alive",
  "proxy-connection",
  "te",
  "upgrade",
]);

/** Returns an address without the IPv4-in-IPv6 mapping of dual-stack sockets. */
export function withoutMapping(address: string): string {
  return /^::ffff:([\d.]+)$/i.exec(address)?.[1] ?? address;
}

/** The context value with the client's certificate; undefined without one. */
export const certificateKey = createContextKey<X509Certificate | undefined>(undefined, {
  description: "client certificate",
});

/** The context value with the address of the connection's peer, such as `127.0.0.1` or `::1`. */
export const peerAddressKey = createContextKey("", { description: "peer address" });
