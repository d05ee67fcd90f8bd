import type { IncomingHttpHeaders } from "node:http";
import { LazyHeaders } from "./lazy-headers.ts";
import type { Limits } from "./limits.ts";
import { methodNotAllowed } from "./method-not-allowed.ts";
import { type ServerReply, type ServerRequest, splitTarget } from "./node-http.ts";
import { sendBody } from "./send-body.ts";

/** A plain GET route beside the RPCs, such as health and metrics. HEAD is answered from it too. */
export interface PlainRoute {
  readonly path: string;
  /** Whether the server's limit is asked first. Default false. */
  readonly isLimited?: boolean;
  handle(request: PlainRequest): PlainReply | Promise<PlainReply>;
}

/** What the limit of plain routes may look at. Refuses by throwing. */
export interface LimitedRequest {
  /** Of the connection. */
  readonly peerAddress: string;
  readonly headers: Headers;
}

/** What a plain route may look at. */
export interface PlainRequest {
  readonly headers: IncomingHttpHeaders;
  readonly query: URLSearchParams;
  /** Whether the server is draining. */
  readonly isDraining: boolean;
}

/** What a plain route answers. */
export interface PlainReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

/** Answers a request; `undefined` when its path is none of theirs. */
export type PlainRoutes = (
  request: ServerRequest,
  reply: ServerReply,
  requestId: string,
) => Promise<void> | undefined;

/**
 * Answers a request from the plain routes; `undefined` when the path is none of theirs.
 * Rejects with METHOD_NOT_ALLOWED for other methods than GET and HEAD.
 */
export function createPlainRoutes(
  routes: readonly PlainRoute[],
  isDraining: () => boolean,
  limits: Limits,
  limit: (request: LimitedRequest) => Promise<void> = async () => {},
): PlainRoutes {
  const byPath = new Map(routes.map((route) => [route.path, route]));
  return (request, reply, requestId) => {
    const { path, query } = splitTarget(request);
    const route = byPath.get(path);
    if (route === undefined) return undefined;
    reply.setHeader("x-request-id", requestId);
    const answering = () => answer(route, request, reply, query, isDraining(), limits);
    if (route.isLimited !== true) return answering();
    const peerAddress = request.socket?.remoteAddress ?? "";
    return limit({ peerAddress, headers: new LazyHeaders(request.headers) }).then(answering);
  };
}

async function answer(
  route: PlainRoute,
  request: ServerRequest,
  reply: ServerReply,
  query: string,
  isDraining: boolean,
  limits: Limits,
): Promise<void> {
  if (request.method !== "GET" && request.method !== "HEAD") {
    throw methodNotAllowed(reply, ["GET", "HEAD"]);
  }
  const { status, headers, body } = await route.handle({
    headers: request.headers,
    query: new URLSearchParams(query),
    isDraining,
  });
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  // The length of a 304 would have to be that of the 200 (RFC 9110, 8.6).
  const length = status === 304 ? {} : { "content-length": String(bytes.byteLength) };
  reply.writeHead(status, { ...headers, ...length });
  if (request.method === "HEAD") reply.end();
  else await sendBody(reply, bytes, limits);
}
