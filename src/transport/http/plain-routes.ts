import type { X509Certificate } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { LazyHeaders } from "../calls/lazy-headers.ts";
import { methodNotAllowed } from "../calls/transport-error.ts";
import type { Limits } from "../limits.ts";
import {
  certificateOf,
  peerAddressOf,
  type ServerReply,
  type ServerRequest,
  splitTarget,
} from "./node-http.ts";
import { sendBody } from "./send-body.ts";

/**
 * Creates the handler of the plain routes. It returns `undefined` for an unknown path and rejects with
 * METHOD_NOT_ALLOWED for methods other than GET and HEAD.
 * @throws Error for a guarded route without a guard
 */
export function createPlainRoutes(
  routes: readonly PlainRoute[],
  isDraining: () => boolean,
  limits: Limits,
  { limitRequest, guardRequest }: RequestChecks,
): PlainRoutes {
  const byPath = new Map(routes.map((route) => [route.path, route]));
  const checkOf = ({ path, isLimited, isGuarded }: PlainRoute) => {
    if (isGuarded !== true) return isLimited === true ? limitRequest : undefined;
    if (guardRequest === undefined) throw new Error(`nothing guards ${path}`);
    return guardRequest;
  };
  const checks = new Map(routes.map((route) => [route, checkOf(route)]));
  return (request, reply, requestId) => {
    const { path, query } = splitTarget(request);
    const route = byPath.get(path);
    if (route === undefined) return undefined;
    reply.setHeader("x-request-id", requestId);
    const answering = () => answer(route, request, reply, query, isDraining(), limits);
    const check = checks.get(route);
    if (check === undefined) return answering();
    const peerAddress = peerAddressOf(request);
    const certificate = certificateOf(request);
    return check({ peerAddress, certificate, headers: new LazyHeaders(request.headers) }).then(answering);
  };
}

/** A plain GET route beside the RPCs, such as health and metrics. It also answers HEAD. */
export interface PlainRoute {
  readonly path: string;
  /** Whether the server's rate limit applies. Default false. */
  readonly isLimited?: boolean;
  /** Whether the server's guard applies, which admits only some callers. Default false. */
  readonly isGuarded?: boolean;
  handle(request: PlainRequest): PlainReply | Promise<PlainReply>;
}

/** The checks of plain routes before their handlers. They refuse by throwing. */
export interface RequestChecks {
  /** Runs for rate-limited routes. Default: no limit. */
  readonly limitRequest?: ((request: CheckedRequest) => Promise<void>) | undefined;
  /** Runs for guarded routes. Default: a server has none. */
  readonly guardRequest?: ((request: CheckedRequest) => Promise<void>) | undefined;
}

/** The input of the checks. */
export interface CheckedRequest {
  readonly peerAddress: string;
  /** The client's certificate; undefined without one. */
  readonly certificate: X509Certificate | undefined;
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
