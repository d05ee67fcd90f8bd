import type { Message } from "@bufbuild/protobuf";
import { createHandlerContext, type Interceptor, type MethodImplSpec } from "@connectrpc/connect";
import { createAsyncIterable, transformInvokeImplementation } from "@connectrpc/connect/protocol";
import type { Call } from "../call.ts";
import type { CallParts } from "../call-parts.ts";
import { restDeadlineOf, untilAborted } from "../deadline.ts";
import type { ErrorMapping } from "../error-mapping.ts";
import { classify, type RequestGate } from "../guard-call.ts";
import { LazyHeaders } from "../lazy-headers.ts";
import type { Limits } from "../limits.ts";
import { methodNotAllowed } from "../method-not-allowed.ts";
import { type ServerReply, type ServerRequest, splitTarget } from "../node-http.ts";
import type { ServiceRegistration } from "../service-registration.ts";
import { decodeRequest } from "./decode-request.ts";
import { fillCursor } from "./event-cursor.ts";
import { negotiateReply } from "./negotiate-reply.ts";
import type { PathMatch } from "./path-router.ts";
import type { ReplyTarget } from "./reply-head.ts";
import { replyStream } from "./rest-replies.ts";
import { createRestRouter, type RestRoute } from "./rest-routes.ts";
import { serveUnary } from "./serve-unary.ts";

/** What serves REST. */
export interface RestHandlerOptions {
  readonly services: readonly ServiceRegistration[];
  readonly interceptors: Interceptor[];
  readonly gate: RequestGate;
  readonly errors: ErrorMapping;
  readonly limits: Limits;
  readonly shutdownSignal: AbortSignal;
  /** What serves unary methods. */
  readonly unary: CallParts;
}

/** Handles one request; `undefined` when no template matches its path. Rejects with anything, before the head. */
export type RestHandler = (
  request: ServerRequest,
  reply: ServerReply,
  call: Call,
) => Promise<void> | undefined;

/**
 * Serves the methods that have a google.api.http annotation as JSON over HTTP, with the same implementations,
 * interceptors and gate as the RPC protocols.
 */
export function createRestHandler(options: RestHandlerOptions): RestHandler {
  const { limits } = options;
  const router = createRestRouter(options.services, options.unary.jsonForm.registry);
  const serve = (match: PathMatch<RestRoute>, request: ServerRequest, target: ReplyTarget, call: Call) => {
    const { spec } = match.value;
    return spec.kind === "unary"
      ? serveUnary(match, spec, request, target, call, options.unary)
      : serveStream(match, request, target, call, options);
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

async function serveStream(
  match: PathMatch<RestRoute>,
  request: ServerRequest,
  target: ReplyTarget,
  call: Call,
  options: RestHandlerOptions,
): Promise<void> {
  const route = match.value;
  target.reply.setHeader("x-request-id", call.requestId);
  const context = contextOf(route.spec, request, target.reply, call, options);
  try {
    await options.gate(context);
    const format = negotiateReply(route, request.headers.accept);
    const message = await readMessage(match, request, context.signal, options.limits);
    if (format === "events") resume(route, message, request);
    const stream = transformInvokeImplementation(route.spec, context, options.interceptors);
    const messages = stream(createAsyncIterable([message]))[Symbol.asyncIterator]();
    await replyStream({ target, context, route, format }, messages, (reason) =>
      options.errors.toConnectError(reason, call),
    );
    context.abort();
  } catch (reason) {
    const error = options.errors.toConnectError(reason, call);
    context.abort(error);
    throw error;
  }
}

/** An EventSource that comes back says where it left off. */
function resume(route: RestRoute, message: Message, request: ServerRequest): void {
  const id = request.headers["last-event-id"];
  if (typeof id !== "string" || id === "") return;
  // Browsers send UTF-8, which Node reads byte by byte.
  fillCursor(route.spec.method.input, message, Buffer.from(id, "latin1").toString("utf8"));
}

async function readMessage(
  match: PathMatch<RestRoute>,
  request: ServerRequest,
  signal: AbortSignal,
  limits: Limits,
): Promise<Message> {
  try {
    return await untilAborted(decodeRequest(match, request, limits), signal);
  } catch (reason) {
    throw classify(reason);
  }
}

function contextOf(
  spec: MethodImplSpec,
  request: ServerRequest,
  reply: ServerReply,
  call: Call,
  options: RestHandlerOptions,
) {
  const headers = new LazyHeaders(request.headers);
  const timeoutMs = restDeadlineOf(request.headers, false, options.limits);
  const authority = String(request.headers[":authority"] ?? request.headers.host ?? "localhost");
  const closed = new AbortController();
  reply.once("close", () => closed.abort());
  return createHandlerContext({
    service: spec.method.parent,
    method: spec.method,
    protocolName: "rest",
    requestMethod: request.method ?? "",
    url: `http://${authority}${request.url ?? ""}`,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    shutdownSignal: options.shutdownSignal,
    requestSignal: closed.signal,
    requestHeader: headers,
    contextValues: call.values,
  });
}
