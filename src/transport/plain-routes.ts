import type { IncomingHttpHeaders } from "node:http";
import { LazyHeaders } from "./lazy-headers.ts";
import type { Limits } from "./limits.ts";
import { methodNotAllowed } from "./method-not-allowed.ts";
import { peerAddressOf, type ServerReply, type ServerRequest, splitTarget } from "./node-http.ts";
import { sendBody } from "./send-body.ts";

/**
 * Creates the handler of the plain routes. It returns `undefined` for an unknown path and rejects with
 * METHOD_NOT_ALLOWED for methods other than GET and HEAD.
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
    const peerAddress = peerAddressOf(request);
    return limit({ peerAddress, headers: new LazyHeaders(request.headers) }).then(answering);
  };
}

/** A plain GET route beside the RPCs, such as health and metrics. It also answers HEAD. */
export interface PlainRoute {
  readonly path: string;
  /** Whether the server's rate limit applies. Default false. */
  readonly isLimited?: boolean;
  handle(request: PlainRequest): PlainReply | Promise<PlainReply>;
}

/** The input of the plain routes' rate limit, which refuses by throwing. */
export interface LimitedRequest {
  readonly peerAddress: string;
  readonly headers: Headers;
}

/** The input of a plain route. */
export interface PlainRequest {
  readonly headers: IncomingHttpHeaders;
  readonly query: URLSearchParams;
  readonly isDraining: boolean;
}

/** The result of a plain route. */
export interface PlainReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

/** Answers a request, or returns `undefined` for an unknown path. */
export type PlainRoutes = (
  request: ServerRequest,
  reply: ServerReply,
  requestId: string,
) => Promise<void> | undefined;

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
  // The length in a 304 would have to be that of the 200 (RFC 9110, 8.6).
  const length = status === 304 ? {} : { "content-length": String(bytes.byteLength) };
  reply.writeHead(status, { ...headers, ...length });
  if (request.method === "HEAD") reply.end();
  else await sendBody(reply, bytes, limits);
}
