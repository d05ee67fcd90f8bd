import type { Message } from "@bufbuild/protobuf";
import { createHandlerContext, type Interceptor, type MethodImplSpec } from "@connectrpc/connect";
import {
  createAsyncIterable,
  invokeUnaryImplementation,
  transformInvokeImplementation,
} from "@connectrpc/connect/protocol";
import type { Call } from "../call.ts";
import { deadlineOf, untilAborted } from "../deadline.ts";
import type { ErrorMapping } from "../error-mapping.ts";
import { classify, type RequestGate } from "../guard-call.ts";
import type { Limits } from "../limits.ts";
import { methodNotAllowed } from "../method-not-allowed.ts";
import { headersOf, type ServerReply, type ServerRequest, splitTarget } from "../node-http.ts";
import type { ServiceRegistration } from "../service-registration.ts";
import { wrongField } from "../transport-error.ts";
import { decodeRequest } from "./decode-request.ts";
import type { PathMatch } from "./path-router.ts";
import { type ReplyTarget, replyStream, replyUnary } from "./rest-replies.ts";
import { createRestRouter, type RestRoute } from "./rest-routes.ts";

/** What serves REST. */
export interface RestHandlerOptions {
  readonly services: readonly ServiceRegistration[];
  readonly interceptors: Interceptor[];
  readonly gate: RequestGate;
  readonly errors: ErrorMapping;
  readonly limits: Limits;
  readonly shutdownSignal: AbortSignal;
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
  const router = createRestRouter(options.services);
  return (request, reply, call) => {
    const { path } = splitTarget(request);
    const isHead = request.method === "HEAD";
    const match = router.match(isHead ? "GET" : (request.method ?? ""), path);
    if (match !== undefined) return serve(match, request, { reply, isHead }, call, options);
    const allowed = router.methodsOf(path);
    if (allowed.length === 0) return undefined;
    const methods = allowed.includes("GET") ? [...allowed, "HEAD"] : allowed;
    return Promise.reject(methodNotAllowed(reply, methods));
  };
}

async function serve(
  match: PathMatch<RestRoute>,
  request: ServerRequest,
  target: ReplyTarget,
  call: Call,
  options: RestHandlerOptions,
): Promise<void> {
  const { spec } = match.value;
  const context = contextOf(spec, request, target.reply, call, options);
  try {
    await options.gate(context);
    const message = await readMessage(match, request, context.signal, options.limits);
    if (spec.kind === "unary") {
      const output = await invokeUnaryImplementation(spec, context, message, options.interceptors);
      replyUnary(target, context, match.value, output);
    } else {
      const invoke = transformInvokeImplementation(spec, context, options.interceptors);
      const messages = invoke(createAsyncIterable([message]))[Symbol.asyncIterator]();
      await replyStream(target, context, match.value, messages, (reason) =>
        options.errors.toConnectError(reason, call),
      );
    }
    context.abort();
  } catch (reason) {
    const error = options.errors.toConnectError(reason, call);
    context.abort(error);
    throw error;
  }
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
  const headers = headersOf(request.headers);
  const timeout = headers.get("connect-timeout-ms") ?? undefined;
  const timeoutMs = deadlineOf(timeout, spec.kind === "unary", options.limits);
  if (timeoutMs === "malformed") throw wrongField("connect-timeout-ms", "expected decimal digits");
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
