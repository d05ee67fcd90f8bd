import { cors } from "@connectrpc/connect";
import type { ServerReply, ServerRequest } from "./node-http.ts";

/**
 * Sets the CORS headers of a reply and answers preflights with 204. Credentials are not allowed: keys travel in
 * headers, never in cookies.
 * @returns whether the request was a preflight, which is now answered
 */
export function createCors(options: CorsOptions): (request: ServerRequest, reply: ServerReply) => boolean {
  const any = options.origins.includes("*");
  const origins = new Set(options.origins);
  const { gateAllowsMore = false } = options;
  const varies = !any && (origins.size > 0 || gateAllowsMore);
  const allowHeaders = [...cors.allowedHeaders, ...options.requestHeaders].join(", ");
  const exposeHeaders = [...cors.exposedHeaders, ...options.replyHeaders].join(", ");
  return (request, reply) => {
    const origin = request.headers.origin;
    // The reply depends on the origin even when it has no CORS header.
    if (varies) reply.setHeader("vary", "origin");
    if (origin === undefined) return false;
    const isAllowed = any || origins.has(origin);
    if (!isAllowed && !gateAllowsMore) return false;
    const isPreflight =
      request.method === "OPTIONS" && request.headers["access-control-request-method"] !== undefined;
    if (isAllowed || isPreflight) reply.setHeader("access-control-allow-origin", any ? "*" : origin);
    if (!isPreflight) {
      reply.setHeader("access-control-expose-headers", exposeHeaders);
      return false;
    }
    reply.setHeader("access-control-allow-methods", METHODS);
    reply.setHeader("access-control-allow-headers", allowHeaders);
    reply.setHeader("access-control-max-age", MAX_AGE_SECONDS);
    reply.writeHead(204);
    reply.end();
    return true;
  };
}

/** The allowed origins, and the headers that they may send and read in addition to those of the protocols. */
export interface CorsOptions {
  /** Origins such as `https://app.example`. `*` allows all, and an empty list none. */
  readonly origins: readonly string[];
  /**
   * True if the gate allows further origins for single calls, by the header `access-control-allow-origin`. Then every
   * preflight is answered alike, because it has no key: it permits a page to send its call, and reveals nothing. Default
   * false.
   */
  readonly gateAllowsMore?: boolean;
  readonly requestHeaders: readonly string[];
  readonly replyHeaders: readonly string[];
}

const METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";
const MAX_AGE_SECONDS = "7200";
