import type { Message } from "@bufbuild/protobuf";
import type { ConnectError } from "@connectrpc/connect";
import type { CallContext } from "../call-context.ts";
import { writeHead } from "../node-http.ts";
import { statusJson } from "../status-json.ts";
import type { ReplyFormat } from "./negotiate-reply.ts";
import type { ReplyTarget } from "./reply-head.ts";
import { replyJson } from "./reply-json.ts";
import { encodeFailure, replyMessages } from "./reply-messages.ts";
import { replyOctets } from "./reply-octets.ts";
import type { RestRoute } from "./rest-routes.ts";

/** A call whose reply is to be written. */
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
 * format. A failure after the head is told in-band, or for octets by a cut.
 * @throws the failure, also when the caller was told
 */
export async function replyStream(
  { target, context, route, format }: Exchange,
  messages: AsyncIterator<Message>,
  toError: (reason: unknown) => ConnectError,
): Promise<void> {
  const { reply } = target;
  try {
    if (format === "ndjson" || format === "events") {
      await replyMessages(target, context, route, messages, format);
    } else {
      await replyOctets(target, context, route, messages);
    }
  } catch (reason) {
    if (!reply.headersSent || reply.destroyed || reply.writableEnded) throw reason;
    if (format === "ndjson" || format === "events") reply.end(encodeFailure(format, toError(reason)));
    else reply.destroy();
    throw reason;
  } finally {
    // Tells a handler that is not done that nobody reads on. It may be waiting for something that never comes, so its
    // end is not waited for.
    messages.return?.().catch(() => {});
  }
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
  // Caches keep some errors by themselves, such as 404.
  headers.set("cache-control", "no-store");
  writeHead(target.reply, status, headers);
  target.reply.end(target.isHead ? undefined : body);
}

async function* only(message: Message): AsyncGenerator<Message> {
  yield message;
}
