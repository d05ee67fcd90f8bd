/**
 * Wraps a fetch function for the gRPC-web calls of a Sui client. A call to a URL that begins with `grpcs://` (TLS) or
 * `grpc://` (clear text) goes out as native gRPC over HTTP/2, and its reply comes back in the form of gRPC-web. So all
 * that the caller has around fetch, such as bounds, checks and a second fullnode, also holds for native gRPC. Other URLs
 * go to `web`. Redirects are never followed.
 *
 * Each origin has one connection. When a call is aborted, later calls take a new connection until the old one answers a
 * ping, because a dead connection looks like a slow one. A call that has begun is never repeated.
 */
export function withNativeGrpc(web: typeof fetch, connect: ConnectHttp2): NativeGrpc {
  const current = new Map<string, Connection>();
  const all = new Set<Connection>();
  let isClosed = false;
  return {
    fetch(input, init) {
      const url = input instanceof Request ? input.url : String(input);
      return isNativeGrpcUrl(url) ? call(new URL(url), init ?? {}) : web(input, init);
    },
    close() {
      isClosed = true;
      for (const { session } of all) session.destroy();
    },
  };

  async function call(url: URL, { headers, body, signal }: RequestInit): Promise<Response> {
    signal?.throwIfAborted();
    if (isClosed) throw new TypeError("fetch failed: the connections are closed");
    if (url.username !== "" || url.password !== "") throw new TypeError("the URL must have no credentials");
    const origin = `${url.protocol === "grpcs:" ? "https" : "http"}://${url.host}`;
    const connection = connectionTo(origin);
    const { session } = connection;
    const stream = session.request({
      ...Object.fromEntries([...new Headers(headers)].filter(([name]) => !WEB_HEADERS.has(name))),
      ":method": "POST",
      ":path": url.pathname + url.search,
      "content-type": "application/grpc",
      te: "trailers",
    });
    if (connection.callCount++ === 0) session.ref();
    const abort = () => {
      cancel(stream, signal?.reason instanceof Error ? signal.reason : new Error("the call was aborted"));
      doubt(connection);
    };
    signal?.addEventListener("abort", abort, { once: true });
    stream.on("close", () => {
      signal?.removeEventListener("abort", abort);
      if (--connection.callCount === 0) session.unref();
    });
    const trailers = new Promise<Http2Headers | undefined>((resolve) => {
      stream.on("trailers", resolve);
      stream.on("close", () => resolve(undefined));
    });
    const head = new Promise<Http2Headers>((resolve, reject) => {
      stream.on("response", resolve);
      stream.on("error", (cause) =>
        reject(signal?.aborted ? signal.reason : new TypeError("fetch failed", { cause })),
      );
      stream.on("close", () => reject(new TypeError("fetch failed: the connection ended")));
    });
    stream.end(body as Uint8Array);
    return toWeb(await head, stream, trailers);
  }

  function connectionTo(origin: string): Connection {
    const known = current.get(origin);
    if (known !== undefined && !known.session.closed && !known.session.destroyed) return known;
    const session = connect(origin);
    const connection: Connection = { session, origin, callCount: 0, isOpen: false };
    current.set(origin, connection);
    all.add(connection);
    session.unref();
    const begin = setTimeout(() => session.destroy(), CONNECT_MS);
    const beat = setInterval(() => {
      if (connection.callCount === 0) session.close();
      else ping(connection);
    }, SILENCE_MS);
    // In a browser's types a timer is a number.
    for (const timer of [begin, beat] as unknown as { unref(): void }[]) timer.unref();
    session.on("connect", () => {
      connection.isOpen = true;
      clearTimeout(begin);
    });
    session.on("goaway", () => retire(connection));
    // The calls on the connection fail with the same error.
    session.on("error", () => {});
    session.on("close", () => {
      clearTimeout(begin);
      clearInterval(beat);
      retire(connection);
      all.delete(connection);
    });
    return connection;
  }

  function retire(connection: Connection): void {
    if (current.get(connection.origin) === connection) current.delete(connection.origin);
  }

  /** Takes a connection out of use until it answers a ping. */
  function doubt(connection: Connection): void {
    // The time limit of connecting decides, and other calls wait for the same connection.
    if (!connection.isOpen) return;
    retire(connection);
    ping(connection, () => {
      if (isClosed || current.has(connection.origin)) connection.session.close();
      else current.set(connection.origin, connection);
    });
  }

  /** Ends the connection unless it answers in time. */
  function ping({ session }: Connection, onAnswer = () => {}): void {
    if (session.closed || session.destroyed) return;
    const late = setTimeout(() => session.destroy(), PING_MS);
    (late as unknown as { unref(): void }).unref();
    session.ping((error) => {
      clearTimeout(late);
      if (error === null) onAnswer();
    });
  }
}

/** Returns whether a URL asks for native gRPC: `grpcs://` with TLS, `grpc://` in clear text. */
export function isNativeGrpcUrl(url: string): boolean {
  return /^grpcs?:\/\//i.test(url);
}

/** Opens an HTTP/2 connection to an origin such as `https://host:443`. It sends its first bytes later. */
export type ConnectHttp2 = (origin: string) => GrpcSession;

/** A fetch function that also speaks native gRPC. */
export interface NativeGrpc {
  readonly fetch: typeof fetch;
  /** Ends the native connections and the calls on them. A native call that begins afterwards fails. */
  readonly close: () => void;
}

/** The part of Node's `ClientHttp2Session` that native gRPC uses. */
export interface GrpcSession {
  readonly closed: boolean;
  readonly destroyed: boolean;
  request(headers: Record<string, string>): GrpcStream;
  ping(onAnswer: (error: Error | null) => void): boolean;
  close(): void;
  destroy(): void;
  ref(): void;
  unref(): void;
  on(event: "connect" | "goaway" | "error" | "close", listener: () => void): unknown;
}

/** The part of Node's `ClientHttp2Stream` that native gRPC uses. */
export interface GrpcStream extends AsyncIterable<Uint8Array> {
  end(body: Uint8Array): unknown;
  close(code: number): void;
  destroy(error?: Error): unknown;
  on(event: "response" | "trailers", listener: (headers: Http2Headers) => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "close", listener: () => void): unknown;
}

/**
 * The settings of a connection, as Node's `http2.connect` takes them: room for large replies on slow lines, and a bound
 * on what a fullnode can send before anyone reads it.
 */
export const HTTP2_SETTINGS = {
  enablePush: false,
  initialWindowSize: 1024 * 1024,
  maxHeaderListSize: 16_384,
};

type Http2Headers = Readonly<Record<string, string | string[] | number | undefined>>;

interface Connection {
  readonly session: GrpcSession;
  readonly origin: string;
  callCount: number;
  isOpen: boolean;
}

/** The time limit of a new connection, including TLS. */
const CONNECT_MS = 10_000;
/** A connection without calls ends after at most twice this time. One with calls is tested as often. */
const SILENCE_MS = 60_000;
const PING_MS = 10_000;

/** Headers that only gRPC-web has. A call replaces `content-type` and `te`. */
const WEB_HEADERS = new Set(["accept", "x-grpc-web", "x-user-agent"]);
/** The error code CANCEL of HTTP/2 (RFC 9113, 7). */
const CANCEL = 8;
const TRAILER_FLAG = 0x80;
const NULL_BODY_STATUSES = new Set([204, 205, 304]);

function toWeb(
  head: Http2Headers,
  stream: GrpcStream,
  trailers: Promise<Http2Headers | undefined>,
): Response {
  const status = Number(head[":status"]);
  const headers = new Headers(fieldsOf(head));
  const isGrpc = /^application\/grpc($|[+;])/.test(headers.get("content-type") ?? "");
  if (isGrpc) headers.set("content-type", "application/grpc-web+proto");
  if (NULL_BODY_STATUSES.has(status)) {
    cancel(stream);
    return new Response(null, { status, headers });
  }
  const chunks = stream[Symbol.asyncIterator]();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await chunks.next();
        if (!done) return controller.enqueue(value);
        const end = await trailers;
        if (end?.["grpc-status"] !== undefined) controller.enqueue(trailerFrame(end));
        else if (isGrpc && !headers.has("grpc-status"))
          throw new Error("the fullnode's reply ended without a status");
        controller.close();
      },
      cancel: () => cancel(stream),
    },
    { highWaterMark: 0 },
  );
  // HTTP/2 has no text for a status, and callers show it.
  return new Response(body, { status, statusText: `HTTP ${status}`, headers });
}

/** Ends a call at the fullnode too. A stream that is only destroyed would end there without an error, and so go on. */
function cancel(stream: GrpcStream, cause?: Error): void {
  stream.close(CANCEL);
  stream.destroy(cause);
}

function fieldsOf(headers: Http2Headers): [string, string][] {
  return Object.entries(headers).flatMap(([name, value]) =>
    name.startsWith(":") || value === undefined
      ? []
      : [value].flat().map((one): [string, string] => [name, String(one)]),
  );
}

/** Encodes the trailers as gRPC-web does: as the last frame of the body. */
function trailerFrame(trailers: Http2Headers): Uint8Array {
  const text = fieldsOf(trailers).map(([name, value]) => `${name}: ${value}\r\n`);
  const payload = new TextEncoder().encode(text.join(""));
  const frame = new Uint8Array(5 + payload.length);
  frame[0] = TRAILER_FLAG;
  new DataView(frame.buffer).setUint32(1, payload.length);
  frame.set(payload, 5);
  return frame;
}
