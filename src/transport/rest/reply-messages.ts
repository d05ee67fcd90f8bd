import { type DescField, type DescMessage, type Message, ScalarType } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import type { ConnectError } from "@connectrpc/connect";
import type { CallContext } from "../calls/call-context.ts";
import { statusJson } from "../calls/transport-error.ts";
import { writeChunk } from "../http/node-http.ts";
import { MEDIA_TYPES } from "./negotiate-reply.ts";
import { beginBody, bodyText, type ReplyTarget } from "./reply-head.ts";
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

/** Encodes a message as an unnamed event whose id is the message's cursor, and a heartbeat as a comment. */
export function encodeEvent(route: RestRoute, message: Message): string {
  const { output } = route.spec.method;
  if (isHeartbeat(output, message)) return ": heartbeat\n\n";
  return `${idLine(cursorOf(output, message))}data: ${bodyText(route, message)}\n\n`;
}

/** The start of a stream of server-sent events (HTML, 9.2): the reconnection delay in milliseconds. */
export const EVENTS_PREAMBLE = "retry: 2000\n\n";

/** Encodes a failure as an event named `error` whose data is a google.rpc.Status. */
export function encodeEventError(error: ConnectError): string {
  return `event: error\ndata: ${JSON.stringify(statusJson(error))}\n\n`;
}

/** An id cannot contain line breaks or NUL. */
function idLine(cursor: string): string {
  return cursor === "" || /[\0\r\n]/.test(cursor) ? "" : `id: ${cursor}\n`;
}

/**
 * Returns the field that resumes a stream: a string named `cursor`, in the stream's messages and in its request.
 * Returns `undefined` when there is none.
 */
export function cursorField(desc: DescMessage): (DescField & { fieldKind: "scalar" }) | undefined {
  const field = desc.fields.find(({ name }) => name === "cursor");
  return field?.fieldKind === "scalar" && field.scalar === ScalarType.STRING ? field : undefined;
}

/** Returns the cursor of a message; empty when it has none. */
export function cursorOf(desc: DescMessage, message: Message): string {
  const field = cursorField(desc);
  return field === undefined ? "" : String(reflect(desc, message).get(field));
}

/** Sets the cursor of a request that has such a field and arrived without one. */
export function fillCursor(desc: DescMessage, message: Message, cursor: string): void {
  const field = cursorField(desc);
  if (field !== undefined && cursorOf(desc, message) === "") reflect(desc, message).set(field, cursor);
}

/** Whether a message is a heartbeat: its type has a cursor, and no field is set except that and `time`. */
export function isHeartbeat(desc: DescMessage, message: Message): boolean {
  if (cursorField(desc) === undefined) return false;
  const reflected = reflect(desc, message);
  return desc.fields.every(
    (field) => field.name === "cursor" || field.name === "time" || !reflected.isSet(field),
  );
}
