import { type Message, toJson } from "@bufbuild/protobuf";
import type { CallContext } from "../call-context.ts";
import { sendBody } from "../send-body.ts";
import { compressReply, isWorthCompressing } from "./compress-reply.ts";
import { MEDIA_TYPES } from "./negotiate-reply.ts";
import { beginBody, type ReplyTarget, replyNotModified } from "./reply-head.ts";
import type { RestRoute } from "./rest-routes.ts";

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
