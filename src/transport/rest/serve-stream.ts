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
import { negotiateReply } from "./negotiate-reply.ts";
import type { PathMatch } from "./path-router.ts";
import type { ReplyTarget } from "./reply-head.ts";
import { replyStream } from "./rest-replies.ts";
import type { RestRoute } from "./rest-routes.ts";

/** Serves one call of a server-streaming method. Rejects with what the caller was not told, or could only be told in-band. */
export async function serveStream(
  match: PathMatch<RestRoute>,
  spec: StreamSpec,
  request: ServerRequest,
  target: ReplyTarget,
  call: Call,
  parts: CallParts,
): Promise<void> {
  const timeoutMs = restDeadlineOf(request.headers, false, parts.limits);
  target.reply.setHeader("x-request-id", call.requestId);
  // Node's object of HTTP/2 is a hash table, and a copy is not; a stream keeps it for as long as it lasts.
  const head = {
    protocolName: "rest",
    requestMethod: request.method ?? "",
    target: request.url ?? "",
    headers: { ...request.headers },
  };
  const context = new CallContext(spec.method, call, head, timeoutMs);
  target.reply.once("close", () => context.abandon());
  parts.live.add(context);
  const toError = (reason: unknown) =>
    parts.errors.toConnectError(call.isHandling ? reason : classify(reason), call);
  try {
    const passing = parts.gate?.(context);
    if (passing !== undefined) await context.untilAborted(passing);
    const route = match.value;
    const format = negotiateReply(route, request.headers.accept);
    const input = readMessage(match, request, context, parts, format === "events");
    const { message } = await invokeStream(spec, context, input, parts.interceptors);
    await replyStream({ target, context, route, format }, message[Symbol.asyncIterator](), toError);
    context.finish();
    call.end();
  } catch (reason) {
    const error = toError(reason);
    context.abort(error);
    throw error;
  } finally {
    parts.live.delete(context);
  }
}

/** The request as interceptors see it, read when it is asked for. */
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

/** An EventSource that comes back says where it left off. */
function resume(route: RestRoute, message: Message, request: ServerRequest): void {
  const id = request.headers["last-event-id"];
  if (typeof id !== "string" || id === "") return;
  // Browsers send UTF-8, which Node reads byte by byte.
  fillCursor(route.spec.method.input, message, Buffer.from(id, "latin1").toString("utf8"));
}
