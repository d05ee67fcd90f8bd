import { isMessage, type Message, toJson } from "@bufbuild/protobuf";
import type { ConnectError, HandlerContext } from "@connectrpc/connect";
import { type HttpBody, HttpBodySchema } from "../../../gen/proto/google/api/httpbody_pb.ts";
import { type ServerReply, writeChunk, writeHead } from "../node-http.ts";
import { statusJson } from "../status-json.ts";
import { isNotModified } from "./not-modified.ts";
import type { RestRoute } from "./rest-routes.ts";

/** Where a reply goes, and what the caller asked for. */
export interface ReplyTarget {
  readonly reply: ServerReply;
  /** HEAD: the head of the reply to GET and no body. */
  readonly isHead: boolean;
}

/** Writes the reply of a unary method: JSON with implicit fields, or the octets of a google.api.HttpBody. */
export function replyUnary(
  target: ReplyTarget,
  context: HandlerContext,
  route: RestRoute,
  message: Message,
): void {
  if (isMessage(message, HttpBodySchema)) {
    sendWhole(target, context, message.contentType, message.data);
    return;
  }
  const json = toJson(route.spec.method.output, message, { alwaysEmitImplicit: true });
  const { responseField } = route;
  const part =
    responseField === undefined ? json : ((json as Record<string, unknown>)[responseField.jsonName] ?? null);
  sendWhole(target, context, "application/json", Buffer.from(JSON.stringify(part)));
}

/** Writes the replies of a server stream: the octets of HttpBody messages as one body, else NDJSON. */
export async function replyStream(
  target: ReplyTarget,
  context: HandlerContext,
  route: RestRoute,
  messages: AsyncIterator<Message>,
  toError: (reason: unknown) => ConnectError,
): Promise<void> {
  try {
    // Failures before the first message still have a status of their own.
    const first = await messages.next();
    const isOctets = route.spec.method.output.typeName === HttpBodySchema.typeName;
    const contentType = isOctets ? contentTypeOf(first) : "application/x-ndjson";
    if (!isOctets) context.responseHeader.set("cache-control", "no-store");
    if (!beginBody(target, context, contentType)) return;
    const encode = (message: Message) =>
      isMessage(message, HttpBodySchema)
        ? message.data
        : `${JSON.stringify(toJson(route.spec.method.output, message, { alwaysEmitImplicit: true }))}\n`;
    for (let next = first; next.done !== true; next = await messages.next()) {
      const chunk = encode(next.value);
      if (chunk.length > 0) await writeChunk(target.reply, chunk);
    }
    target.reply.end();
  } catch (reason) {
    if (!target.reply.headersSent || target.reply.destroyed) throw reason;
    endBroken(target.reply, route, toError(reason));
    throw reason;
  } finally {
    messages.return?.().catch(() => {});
  }
}

/** Writes an error as google.rpc.Status. */
export function replyError(target: ReplyTarget, error: ConnectError, status: number): void {
  const body = Buffer.from(JSON.stringify(statusJson(error)));
  const headers = new Headers(error.metadata);
  headers.set("content-type", "application/json");
  headers.set("content-length", String(body.byteLength));
  writeHead(target.reply, status, headers);
  target.reply.end(target.isHead ? undefined : body);
}

function contentTypeOf(first: IteratorResult<Message>): string {
  return first.done !== true && isMessage(first.value, HttpBodySchema) ? typeOf(first.value) : OCTETS;
}

const OCTETS = "application/octet-stream";

function typeOf(body: HttpBody): string {
  return body.contentType === "" ? OCTETS : body.contentType;
}

function sendWhole(
  target: ReplyTarget,
  context: HandlerContext,
  contentType: string,
  body: Uint8Array,
): void {
  context.responseHeader.set("content-length", String(body.byteLength));
  if (!beginBody(target, context, contentType === "" ? OCTETS : contentType)) return;
  target.reply.end(body);
}

/** Writes the head. @returns whether a body follows; else the reply is ended */
function beginBody({ reply, isHead }: ReplyTarget, context: HandlerContext, contentType: string): boolean {
  const headers = new Headers(context.responseHeader);
  const isRead = context.requestMethod === "GET" || context.requestMethod === "HEAD";
  if (isRead && isNotModified(context.requestHeader.get("if-none-match"), headers.get("etag"))) {
    headers.delete("content-length");
    writeHead(reply, 304, headers);
    reply.end();
    return false;
  }
  headers.set("content-type", contentType);
  writeHead(reply, 200, headers);
  if (isHead) reply.end();
  return !isHead;
}

/** Tells the caller of a stream that broke after its head: NDJSON in-band, octets by cutting the connection. */
function endBroken(reply: ServerReply, route: RestRoute, error: ConnectError): void {
  if (route.spec.method.output.typeName === HttpBodySchema.typeName) {
    reply.destroy();
    return;
  }
  reply.end(`${JSON.stringify({ error: statusJson(error) })}\n`);
}
