import { type Message, toJson } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import type { CallContext } from "../calls/call-context.ts";
import { type ServerReply, writeHead } from "../http/node-http.ts";
import { sendBody } from "../http/send-body.ts";
import type { Limits } from "../limits.ts";
import { compressReply, isWorthCompressing, MEDIA_TYPES } from "./negotiate-reply.ts";
import type { RestRoute } from "./rest-routes.ts";

/** The target of a reply, and the caller's method. */
export interface ReplyTarget {
  readonly reply: ServerReply;
  /** HEAD: the head of the reply to GET, without a body. */
  readonly isHead: boolean;
  readonly limits: Limits;
}

/**
 * Answers 304 when the caller already has the version that the handler's `etag` names (RFC 9110, 13.1.2).
 * @returns whether the reply is finished
 */
export function replyNotModified({ reply }: ReplyTarget, context: HandlerContext, headers: Headers): boolean {
  const isRead = context.requestMethod === "GET" || context.requestMethod === "HEAD";
  if (!isRead || !isNotModified(context.requestHeader.get("if-none-match"), headers.get("etag")))
    return false;
  headers.delete("content-length");
  writeHead(reply, 304, headers);
  reply.end();
  return true;
}

/**
 * Writes the head.
 * @returns whether a body follows; otherwise the reply is finished
 */
export function beginBody({ reply, isHead }: ReplyTarget, status: number, headers: Headers): boolean {
  writeHead(reply, status, headers);
  if (isHead) reply.end();
  return !isHead;
}

/** Writes one message, or the field of it that the route names, as JSON with implicit fields. */
export function replyJson(
  target: ReplyTarget,
  context: CallContext,
  route: RestRoute,
  message: Message,
): void | Promise<void> {
  const text = bodyText(route, message);
  const sizeBytes = Buffer.byteLength(text);
  if (context.setHeaders !== undefined || isWorthCompressing(sizeBytes)) {
    return replyDecided(target, context, Buffer.from(text));
  }
  // A small reply without headers of its own needs no negotiation and goes out in one piece with its head.
  const { reply, isHead } = target;
  reply.writeHead(200, {
    "content-type": MEDIA_TYPES.json,
    "content-length": sizeBytes,
    "x-request-id": context.call.requestId,
  });
  reply.end(isHead ? undefined : text);
}

async function replyDecided(target: ReplyTarget, context: CallContext, json: Buffer): Promise<void> {
  const headers = new Headers(context.setHeaders);
  headers.set("x-request-id", context.call.requestId);
  const body = await compressReply(json, context.requestHeader.get("accept-encoding"), headers);
  headers.set("content-length", String(body.byteLength));
  headers.set("content-type", MEDIA_TYPES.json);
  if (replyNotModified(target, context, headers)) return;
  if (beginBody(target, 200, headers)) await sendBody(target.reply, body, target.limits);
}

/** Returns the JSON text of a route's reply: the whole message, or one field. `null` for an unset field. */
export function bodyText(route: RestRoute, message: Message): string {
  const json = toJson(route.spec.method.output, message, { ...route.json, alwaysEmitImplicit: true });
  if (route.reply.kind === "message") return JSON.stringify(json);
  return JSON.stringify((json as Record<string, unknown>)[route.reply.field.jsonName] ?? null);
}

/** Whether If-None-Match contains the entity tag, by weak comparison (RFC 9110, 13.1.2). */
export function isNotModified(ifNoneMatch: string | null, etag: string | null): boolean {
  if (ifNoneMatch === null || etag === null) return false;
  if (ifNoneMatch.trim() === "*") return true;
  const tags = ifNoneMatch.match(/(?:W\/)?"[^"]*"/g) ?? [];
  return tags.some((tag) => opaque(tag) === opaque(etag));
}

function opaque(tag: string): string {
  return tag.replace(/^W\//, "");
}
