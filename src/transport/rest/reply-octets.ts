import { isMessage, type Message } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import type { HandlerContext } from "@connectrpc/connect";
import { type HttpBody, HttpBodySchema } from "../../../gen/proto/google/api/httpbody_pb.ts";
import { TransportError } from "../calls/transport-error.ts";
import { writeChunk } from "../http/node-http.ts";
import { isReflectMessage } from "./field-path.ts";
import { checkOctets } from "./negotiate-reply.ts";
import { beginBody, type ReplyTarget, replyNotModified } from "./reply-head.ts";
import type { RestRoute } from "./rest-routes.ts";

/**
 * Writes google.api.HttpBody messages as one body with the first message's type. When the handler has set a
 * `content-length` and a strong `etag`, GET may ask for a range (RFC 9110, 14): the handler produces all octets up to
 * its end, and those before its start are dropped.
 * @throws Error when the handler produces more or fewer octets than announced; such a reply cannot be repaired
 */
export async function replyOctets(
  target: ReplyTarget,
  context: HandlerContext,
  route: RestRoute,
  messages: AsyncIterator<Message>,
): Promise<void> {
  // Failures before the first message still get their own status, and the handler may set headers until then.
  const first = await messages.next();
  const octets = first.done === true ? undefined : octetsOf(route, first.value);
  const headers = new Headers(context.responseHeader);
  headers.set("content-type", octets?.contentType || "application/octet-stream");
  if (octets !== undefined && route.spec.kind === "unary") {
    headers.set("content-length", String(octets.data.byteLength));
  }
  if (replyNotModified(target, context, headers)) return;
  checkOctets(headers.get("content-type") ?? "", context.requestHeader.get("accept"));
  const plan = beginOctets(target, context, headers);
  if (plan !== undefined) await writePart(target, plan, route, first, messages);
}

/** The part to send, and the total size if it was announced. */
interface Plan {
  readonly part: ByteRange;
  readonly sizeBytes: number | undefined;
}

/**
 * Writes the head.
 * @returns the octets to send; `undefined` when the reply is finished
 */
function beginOctets(target: ReplyTarget, context: HandlerContext, headers: Headers): Plan | undefined {
  const { requestHeader, requestMethod } = context;
  const sizeBytes = headers.has("content-length") ? Number(headers.get("content-length")) : undefined;
  const whole: Plan = { part: { start: 0, end: sizeBytes ?? Number.POSITIVE_INFINITY }, sizeBytes };
  const etag = headers.get("etag");
  const isRead = requestMethod === "GET" || requestMethod === "HEAD";
  if (sizeBytes === undefined || !etag?.startsWith('"') || !isRead) {
    return beginBody(target, 200, headers) ? whole : undefined;
  }
  headers.set("accept-ranges", "bytes");
  // Ranges apply only to GET (RFC 9110, 14.2).
  const asked = target.isHead ? null : requestHeader.get("range");
  const choice = chooseRange(asked, requestHeader.get("if-range"), etag, sizeBytes);
  switch (choice.kind) {
    case "whole":
      return beginBody(target, 200, headers) ? whole : undefined;
    case "unsatisfiable":
      target.reply.setHeader("content-range", `bytes */${sizeBytes}`);
      throw new TransportError("RANGE_NOT_SATISFIABLE", `the body has ${sizeBytes} bytes`);
    case "part": {
      const { start, end } = choice.range;
      headers.set("content-length", String(end - start));
      headers.set("content-range", `bytes ${start}-${end - 1}/${sizeBytes}`);
      return beginBody(target, 206, headers) ? { part: choice.range, sizeBytes } : undefined;
    }
  }
}

async function writePart(
  { reply, limits }: ReplyTarget,
  { part, sizeBytes }: Plan,
  route: RestRoute,
  first: IteratorResult<Message>,
  messages: AsyncIterator<Message>,
): Promise<void> {
  const isShort = sizeBytes !== undefined && part.end < sizeBytes;
  let at = 0;
  for (let next = first; next.done !== true; next = await messages.next()) {
    const { data } = octetsOf(route, next.value);
    const chunk = data.subarray(Math.max(part.start - at, 0), Math.max(part.end - at, 0));
    if (chunk.byteLength > 0) await writeChunk(reply, chunk, limits);
    at += data.byteLength;
    // Stops the handler after the requested part by closing its iterator.
    if (isShort && at >= part.end) break;
  }
  if (sizeBytes !== undefined && (isShort ? at < part.end : at !== sizeBytes)) {
    throw new Error(`the handler announced ${sizeBytes} octets and produced ${at}`);
  }
  reply.end();
}

/** Returns the HttpBody in a message: the message itself, or the route's field of it. */
function octetsOf(route: RestRoute, message: Message): Pick<HttpBody, "contentType" | "data"> {
  const { reply, spec } = route;
  const value = reply.kind === "message" ? message : reflect(spec.method.output, message).get(reply.field);
  const octets = isReflectMessage(value) ? value.message : value;
  if (!isMessage(octets, HttpBodySchema)) throw new Error("the reply is not an HttpBody");
  return octets;
}

/** A part of a body; `end` is exclusive. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** The result of a `range` header (RFC 9110, 14.2). */
export type RangeChoice = { kind: "whole" } | { kind: "part"; range: ByteRange } | { kind: "unsatisfiable" };

/**
 * Selects the part of a body to send. It ignores several ranges, other units and malformed headers, as the RFC permits.
 * @param etag of the current body; a caller with another one (`if-range`) gets the whole
 */
export function chooseRange(
  header: string | null,
  ifRange: string | null,
  etag: string,
  sizeBytes: number,
): RangeChoice {
  const match = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header ?? "");
  if (match === null || (ifRange !== null && ifRange.trim() !== etag)) return WHOLE;
  const [, first = "", last = ""] = match;
  if (first === "") return last === "" ? WHOLE : suffixOf(Number(last), sizeBytes);
  const start = Number(first);
  const end = last === "" ? sizeBytes : Math.min(Number(last) + 1, sizeBytes);
  if (last !== "" && Number(last) < start) return WHOLE;
  return start < sizeBytes ? { kind: "part", range: { start, end } } : { kind: "unsatisfiable" };
}

const WHOLE: RangeChoice = { kind: "whole" };

function suffixOf(lengthBytes: number, sizeBytes: number): RangeChoice {
  if (lengthBytes === 0) return { kind: "unsatisfiable" };
  // An empty body has no range that content-range could express.
  if (sizeBytes === 0) return WHOLE;
  return { kind: "part", range: { start: Math.max(sizeBytes - lengthBytes, 0), end: sizeBytes } };
}
