import type { HandlerContext } from "@connectrpc/connect";
import type { Limits } from "../limits.ts";
import { type ServerReply, writeHead } from "../node-http.ts";
import { isNotModified } from "./not-modified.ts";

/** The target of a reply, and the caller's method. */
export interface ReplyTarget {
  readonly reply: ServerReply;
  /** HEAD: the head of the reply to GET, without a body. */
  readonly isHead: boolean;
  readonly limits: Pick<Limits, "writeTimeoutMs">;
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
