import type { Call } from "../call.ts";
import type { CallParts } from "../call-parts.ts";
import { methodNotAllowed } from "../method-not-allowed.ts";
import { type ServerReply, type ServerRequest, splitTarget } from "../node-http.ts";
import type { ServiceRegistration } from "../service-registration.ts";
import type { PathMatch } from "./path-router.ts";
import type { ReplyTarget } from "./reply-head.ts";
import { createRestRouter, type RestRoute } from "./rest-routes.ts";
import { serveStream } from "./serve-stream.ts";
import { serveUnary } from "./serve-unary.ts";

/**
 * Serves the methods with a google.api.http annotation as JSON over HTTP, with the same implementations, interceptors
 * and gate as the RPC protocols.
 */
export function createRestHandler({ services, parts }: RestHandlerOptions): RestHandler {
  const { limits } = parts;
  const router = createRestRouter(services, parts.jsonForm.registry);
  const serve = (match: PathMatch<RestRoute>, request: ServerRequest, target: ReplyTarget, call: Call) => {
    const { spec } = match.value;
    return spec.kind === "unary"
      ? serveUnary(match, spec, request, target, call, parts)
      : serveStream(match, spec, request, target, call, parts);
  };
  return (request, reply, call) => {
    const { path } = splitTarget(request);
    const { method = "" } = request;
    const match = router.match(method, path);
    if (match !== undefined) return serve(match, request, { reply, isHead: method === "HEAD", limits }, call);
    const asGet = method === "HEAD" ? router.match("GET", path) : undefined;
    if (asGet !== undefined) return serve(asGet, request, { reply, isHead: true, limits }, call);
    const known = router.methodsOf(path);
    if (known.length === 0) return undefined;
    const allowed = [...new Set([...known, ...(known.includes("GET") ? ["HEAD"] : []), "OPTIONS"])];
    if (method !== "OPTIONS") return Promise.reject(methodNotAllowed(reply, allowed));
    reply.writeHead(204, { allow: allowed.join(", "), "x-request-id": call.requestId });
    reply.end();
    return Promise.resolve();
  };
}

/** Options of {@link createRestHandler}. */
export interface RestHandlerOptions {
  readonly services: readonly ServiceRegistration[];
  readonly parts: CallParts;
}

/**
 * Handles one request, or returns `undefined` when no template matches its path. Rejects with any error, before the
 * head.
 */
export type RestHandler = (
  request: ServerRequest,
  reply: ServerReply,
  call: Call,
) => Promise<void> | undefined;
