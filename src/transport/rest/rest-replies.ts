import type { Message } from "@bufbuild/protobuf";
import type { ConnectError } from "@connectrpc/connect";
import type { CallContext } from "../calls/call-context.ts";
import { addChallenge, statusJson } from "../calls/transport-error.ts";
import { writeHead } from "../http/node-http.ts";
import type { ReplyFormat } from "./negotiate-reply.ts";
import { type ReplyTarget, replyJson } from "./reply-head.ts";
import { encodeFailure, replyMessages } from "./reply-messages.ts";
import { replyOctets } from "./reply-octets.ts";
import type { RestRoute } from "./rest-routes.ts";

/** A call with a pending reply. */
export interface Exchange {
  readonly target: ReplyTarget;
  readonly context: CallContext;
  readonly route: RestRoute;
  readonly format: ReplyFormat;
}

/** Writes the reply of a unary method: JSON with implicit fields, or the octets of a google.api.HttpBody. */
export function replyUnary(
  { target, context, route, format }: Exchange,
  message: Message,
): void | Promise<void> {
  if (format === "octets") {
    context.responseHeader.set("x-request-id", context.call.requestId);
    return replyOctets(target, context, route, only(message));
  }
  return replyJson(target, context, route, message);
}

/**
 * Writes the replies of a server stream: the octets of google.api.HttpBody messages as one body, else JSON in the
 * format. A failure after the head is reported in-band, or for octets by a cut.
 * @throws the failure, even when it was reported
 */
export function replyStream(
  { target, context, route, format }: Exchange,
  messages: AsyncIterator<Message>,
  toError: (reason: unknown) => ConnectError,
): Promise<void> {
  const { reply } = target;
  const isJson = format === "ndjson" || format === "events";
  const leave = () => {
    // Tells an unfinished handler that the reader is gone. It may wait forever, so its end is not awaited.
    messages.return?.().catch(() => {});
  };
  const writing = isJson
    ? replyMessages(target, context, route, messages, format)
    : replyOctets(target, context, route, messages);
  return writing.then(leave, (reason: unknown) => {
    try {
      if (!reply.headersSent || reply.destroyed || reply.writableEnded) throw reason;
      if (isJson) reply.end(encodeFailure(format, toError(reason)));
      else reply.destroy();
      throw reason;
    } finally {
      leave();
    }
  });
}

/** Writes an error as google.rpc.Status. */
export function replyError(
  target: Pick<ReplyTarget, "reply" | "isHead">,
  error: ConnectError,
  status: number,
): void {
  const body = Buffer.from(JSON.stringify(statusJson(error)));
  const headers = new Headers(error.metadata);
  headers.set("content-type", "application/json");
  headers.set("content-length", String(body.byteLength));
  // Caches store some errors by default, such as 404.
  headers.set("cache-control", "no-store");
  addChallenge(status, headers);
  writeHead(target.reply, status, headers);
  target.reply.end(target.isHead ? undefined : body);
}

async function* only(message: Message): AsyncGenerator<Message> {
  yield message;
}
