import type { OutgoingHttpHeaders } from "node:http";
import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import type { ServerReply } from "./node-http.ts";

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
