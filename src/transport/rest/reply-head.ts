import type { HandlerContext } from "@connectrpc/connect";
import type { Limits } from "../limits.ts";
import { type ServerReply, writeHead } from "../node-http.ts";
import { isNotModified } from "./not-modified.ts";

/** Where a reply goes, and what the caller asked for. */
export interface ReplyTarget {
  readonly reply: ServerReply;
  /** HEAD: the head of the reply to GET and no body. */
  readonly isHead: boolean;
  readonly limits: Pick<Limits, "writeTimeoutMs">;
}

/**
 * Answers 304 where the caller has what the handler's `etag` names (RFC 9110, 13.1.2).
 * @returns whether the reply is ended
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

/** Writes the head. @returns whether a body follows; else the reply is ended */
export function beginBody({ reply, isHead }: ReplyTarget, status: number, headers: Headers): boolean {
  writeHead(reply, status, headers);
  if (isHead) reply.end();
  return !isHead;
}
