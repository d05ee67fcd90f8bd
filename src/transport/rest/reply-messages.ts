import type { Message } from "@bufbuild/protobuf";
import type { ConnectError, HandlerContext } from "@connectrpc/connect";
import { writeChunk } from "../node-http.ts";
import { statusJson } from "../status-json.ts";
import { EVENTS_PREAMBLE, encodeEvent, encodeEventError } from "./encode-event.ts";
import { MEDIA_TYPES } from "./negotiate-reply.ts";
import { beginBody, type ReplyTarget } from "./reply-head.ts";
import { bodyText } from "./reply-json.ts";
import type { RestRoute } from "./rest-routes.ts";

/** The formats of a stream of JSON. */
export type StreamFormat = "ndjson" | "events";

/** Writes a stream's messages in JSON as they come, as lines or as server-sent events. */
export async function replyMessages(
  target: ReplyTarget,
  context: HandlerContext,
  route: RestRoute,
  messages: AsyncIterator<Message>,
  format: StreamFormat,
): Promise<void> {
  // Failures before the first message still have a status of their own.
  let next = await messages.next();
  const headers = new Headers(context.responseHeader);
  headers.delete("content-length");
  headers.set("cache-control", "no-store");
  if (next.done === true && format === "events") {
    // Tells an EventSource not to come back (HTML, 9.2.3).
    if (beginBody(target, 204, headers)) target.reply.end();
    return;
  }
  headers.set("content-type", MEDIA_TYPES[format]);
  headers.set("x-accel-buffering", "no");
  if (!beginBody(target, 200, headers)) return;
  const encode = format === "events" ? encodeEvent : encodeLine;
  let text = format === "events" ? EVENTS_PREAMBLE : "";
  for (; next.done !== true; next = await messages.next()) {
    await writeChunk(target.reply, text + encode(route, next.value), target.limits);
    text = "";
  }
  target.reply.end();
}

/** What ends a stream that fails after its head. */
export function encodeFailure(format: StreamFormat, error: ConnectError): string {
  return format === "events" ? encodeEventError(error) : `${JSON.stringify({ error: statusJson(error) })}\n`;
}

function encodeLine(route: RestRoute, message: Message): string {
  return `${bodyText(route, message)}\n`;
}
