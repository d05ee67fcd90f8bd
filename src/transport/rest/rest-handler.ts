import type { Message } from "@bufbuild/protobuf";
import type { ConnectError } from "@connectrpc/connect";
import type { Call } from "../calls/call.ts";
import { CallContext } from "../calls/call-context.ts";
import type { CallParts } from "../calls/call-parts.ts";
import { restDeadlineOf } from "../calls/deadline.ts";
import { classify, passGate } from "../calls/guard-call.ts";
import type { ServiceRegistration } from "../calls/service-registration.ts";
import { methodNotAllowed } from "../calls/transport-error.ts";
import { type ServerReply, type ServerRequest, splitTarget } from "../http/node-http.ts";
import { invokeStream, type StreamSpec } from "../streaming/run-stream.ts";
import { runUnary, type UnaryExchange, type UnarySpec } from "../unary/run-unary.ts";
import { decodeRequest } from "./decode-request.ts";
import { negotiateReply, type ReplyFormat } from "./negotiate-reply.ts";
import type { PathMatch } from "./path-router.ts";
import type { ReplyTarget } from "./reply-head.ts";
import { fillCursor } from "./reply-messages.ts";
import { replyError, replyStream, replyUnary } from "./rest-replies.ts";
import { createRestRouter, type RestRoute } from "./rest-routes.ts";

/**
 * Serves the methods with a google.api.http annotation as JSON over HTTP, with the same implementations, interceptors
 * and gate as the RPC protocols.
 */
export function createRestHandler({
  services,
  parts,
}: {
  readonly services: readonly ServiceRegistration[];
  readonly parts: CallParts;
}): RestHandler {
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

/**
 * Handles one request, or returns `undefined` when no template matches its path. Rejects with any error, before the
 * head.
 */
export type RestHandler = (
  request: ServerRequest,
  reply: ServerReply,
  call: Call,
) => Promise<void> | undefined;

/** Serves one unary call. Rejects only for an invalid head. */
export function serveUnary(
  match: PathMatch<RestRoute>,
  spec: UnarySpec,
  request: ServerRequest,
  target: ReplyTarget,
  call: Call,
  parts: CallParts,
): Promise<void> {
  const timeoutMs = restDeadlineOf(request.headers, true, parts.limits) ?? parts.limits.defaultDeadlineMs;
  const { headers, method = "", url = "" } = request;
  const head = { protocolName: "rest", requestMethod: method, target: url, headers };
  const context = new CallContext(spec.method, call, head, timeoutMs);
  target.reply.on("close", () => context.abandon());
  return runUnary(spec, context, new RestExchange(match, request, target, context, parts), parts);
}

class RestExchange implements UnaryExchange {
  readonly #match: PathMatch<RestRoute>;
  readonly #request: ServerRequest;
  readonly #target: ReplyTarget;
  readonly #context: CallContext;
  readonly #parts: CallParts;
  #format: ReplyFormat = "json";

  constructor(
    match: PathMatch<RestRoute>,
    request: ServerRequest,
    target: ReplyTarget,
    context: CallContext,
    parts: CallParts,
  ) {
    this.#match = match;
    this.#request = request;
    this.#target = target;
    this.#context = context;
    this.#parts = parts;
  }

  receive(): Message | Promise<Message> {
    this.#format = negotiateReply(this.#match.value, this.#request.headers.accept);
    const decoding = decodeRequest(this.#match, this.#request, this.#parts.limits);
    return decoding instanceof Promise ? this.#context.untilAborted(decoding) : decoding;
  }

  reply(output: Message): void | Promise<void> {
    const route = this.#match.value;
    return replyUnary({ target: this.#target, context: this.#context, route, format: this.#format }, output);
  }

  fail(error: ConnectError): void {
    const { reply } = this.#target;
    if (reply.destroyed || reply.headersSent) {
      if (!reply.writableEnded) reply.destroy();
      return;
    }
    this.#context.setHeaders?.forEach((value, name) => {
      if (!error.metadata.has(name)) error.metadata.set(name, value);
    });
    reply.setHeader("x-request-id", this.#context.call.requestId);
    replyError(this.#target, error, this.#parts.errors.httpStatus(error));
  }
}

/** Serves one server-streaming call. Rejects with every failure, even one that the body has already reported. */
export function serveStream(
  match: PathMatch<RestRoute>,
  spec: StreamSpec,
  request: ServerRequest,
  target: ReplyTarget,
  call: Call,
  parts: CallParts,
): Promise<void> {
  const timeoutMs = restDeadlineOf(request.headers, false, parts.limits);
  const { reply } = target;
  reply.setHeader("x-request-id", call.requestId);
  const { headers, method = "", url = "" } = request;
  const head = { protocolName: "rest", requestMethod: method, target: url, headers };
  const context = new CallContext(spec.method, call, head, timeoutMs);
  reply.on("close", () => context.abandon());
  parts.live.add(context);
  const route = match.value;
  const toError = (reason: unknown) =>
    parts.errors.toConnectError(call.isHandling ? reason : classify(reason), call);
  return openReply(match, spec, request, context, parts)
    .then(({ format, messages }) => replyStream({ target, context, route, format }, messages, toError))
    .then(
      () => {
        parts.live.delete(context);
        context.finish();
        call.end();
      },
      (reason: unknown) => {
        parts.live.delete(context);
        const error = toError(reason);
        context.abort(error);
        throw error;
      },
    );
}

/** A separate function, so that the request is not retained for the duration of the reply. */
async function openReply(
  match: PathMatch<RestRoute>,
  spec: StreamSpec,
  request: ServerRequest,
  context: CallContext,
  parts: CallParts,
): Promise<{ readonly format: ReplyFormat; readonly messages: AsyncIterator<Message> }> {
  const passing = passGate(context, parts.gate);
  if (passing !== undefined) await passing;
  const format = negotiateReply(match.value, request.headers.accept);
  const input = readMessage(match, request, context, parts, format === "events");
  const { message } = await invokeStream(spec, context, input, parts.interceptors);
  return { format, messages: message[Symbol.asyncIterator]() };
}

/** Reads the request on demand, for the interceptors. */
async function* readMessage(
  match: PathMatch<RestRoute>,
  request: ServerRequest,
  context: CallContext,
  parts: CallParts,
  isResumable: boolean,
): AsyncGenerator<Message> {
  let message: Message;
  try {
    message = await decodeRequest(match, request, parts.limits);
  } catch (reason) {
    throw classify(reason);
  }
  if (isResumable) resume(match.value, message, request);
  context.call.isHandling = true;
  yield message;
}

/** Resumes the stream of a reconnecting EventSource, which sends its last event id. */
function resume(route: RestRoute, message: Message, request: ServerRequest): void {
  const id = request.headers["last-event-id"];
  if (typeof id !== "string" || id === "") return;
  // Browsers send UTF-8, which Node decodes as Latin-1.
  fillCursor(route.spec.method.input, message, Buffer.from(id, "latin1").toString("utf8"));
}
