import type { Message } from "@bufbuild/protobuf";
import type { ConnectError } from "@connectrpc/connect";
import type { CallContext } from "../call-context.ts";
import { writeChunk } from "../node-http.ts";
import { statusJson } from "../status-json.ts";
import { EVENTS_PREAMBLE, encodeEvent, encodeEventError } from "./encode-event.ts";
import { MEDIA_TYPES } from "./negotiate-reply.ts";
import { beginBody, type ReplyTarget } from "./reply-head.ts";
import { bodyText } from "./reply-json.ts";
import type { RestRoute } from "./rest-routes.ts";

/** Writes a stream's messages as JSON when they arrive, as lines or as server-sent events. */
export async function replyMessages(
  target: ReplyTarget,
  context: CallContext,
  route: RestRoute,
  messages: AsyncIterator<Message>,
  format: StreamFormat,
): Promise<void> {
  // Failures before the first message still get their own status.
  let next: IteratorResult<Message> | undefined = await messages.next();
  if (!beginMessages(target, context, format, next.done === true)) return;
  const encode = format === "events" ? encodeEvent : encodeLine;
  let text = format === "events" ? EVENTS_PREAMBLE : "";
  while (next.done !== true) {
    const writing = writeChunk(target.reply, text + encode(route, next.value), target.limits);
    // Drops the last message while the stream waits for the next one.
    next = undefined;
    text = "";
    await writing;
    next = await messages.next();
  }
  target.reply.end();
}

/** The formats of a stream of JSON. */
export type StreamFormat = "ndjson" | "events";

/**
 * Writes the head.
 * @returns whether messages follow; otherwise the reply is finished
 */
function beginMessages(
  target: ReplyTarget,
  context: CallContext,
  format: StreamFormat,
  isEmpty: boolean,
): boolean {
  const headers = new Headers(context.responseHeader);
  context.forgetHead();
  headers.delete("content-length");
  headers.set("cache-control", "no-store");
  // Tells an EventSource not to reconnect (HTML, 9.2.3).
  if (isEmpty && format === "events") {
    if (beginBody(target, 204, headers)) target.reply.end();
    return false;
  }
  headers.set("content-type", MEDIA_TYPES[format]);
  headers.set("x-accel-buffering", "no");
  return beginBody(target, 200, headers);
}

/** Returns the text that ends a stream which fails after its head. */
export function encodeFailure(format: StreamFormat, error: ConnectError): string {
  return format === "events" ? encodeEventError(error) : `${JSON.stringify({ error: statusJson(error) })}\n`;
}

function encodeLine(route: RestRoute, message: Message): string {
  return `${bodyText(route, message)}\n`;
}
