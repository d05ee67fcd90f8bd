import type { Message } from "@bufbuild/protobuf";
import type { Call } from "../call.ts";
import { CallContext } from "../call-context.ts";
import type { CallParts } from "../call-parts.ts";
import { restDeadlineOf } from "../deadline.ts";
import { classify } from "../guard-call.ts";
import type { ServerRequest } from "../node-http.ts";
import { invokeStream, type StreamSpec } from "../streaming/invoke-stream.ts";
import { decodeRequest } from "./decode-request.ts";
import { fillCursor } from "./event-cursor.ts";
import { negotiateReply, type ReplyFormat } from "./negotiate-reply.ts";
import type { PathMatch } from "./path-router.ts";
import type { ReplyTarget } from "./reply-head.ts";
import { replyStream } from "./rest-replies.ts";
import type { RestRoute } from "./rest-routes.ts";

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
  context.throwIfEnded();
  const passing = parts.gate?.(context);
  if (passing !== undefined) await context.untilAborted(passing);
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
