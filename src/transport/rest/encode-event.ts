import type { Message } from "@bufbuild/protobuf";
import type { ConnectError } from "@connectrpc/connect";
import { statusJson } from "../status-json.ts";
import { cursorOf, isHeartbeat } from "./event-cursor.ts";
import { bodyText } from "./reply-json.ts";
import type { RestRoute } from "./rest-routes.ts";

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
