import type { Message } from "@bufbuild/protobuf";
import type { ConnectError } from "@connectrpc/connect";
import type { Call } from "../call.ts";
import { CallContext } from "../call-context.ts";
import type { CallParts } from "../call-parts.ts";
import { restDeadlineOf } from "../deadline.ts";
import type { ServerRequest } from "../node-http.ts";
import type { UnarySpec } from "../unary/invoke-unary.ts";
import { runUnary, type UnaryExchange } from "../unary/run-unary.ts";
import { decodeRequest } from "./decode-request.ts";
import { negotiateReply, type ReplyFormat } from "./negotiate-reply.ts";
import type { PathMatch } from "./path-router.ts";
import type { ReplyTarget } from "./reply-head.ts";
import { replyError, replyUnary } from "./rest-replies.ts";
import type { RestRoute } from "./rest-routes.ts";

/** Serves one unary call. Rejects only for an invalid head. */
export function serveUnary(
  match: PathMatch<RestRoute>,
  spec: UnarySpec,
  request: ServerRequest,
  target: ReplyTarget,
  call: Call,
  parts: CallParts,
): Promise<void> {
  const timeoutMs = restDeadlineOf(request.headers, true, parts.limits) ?? parts.limits.defaultDeadlineMs;
  const { headers, method = "", url = "" } = request;
  const head = { protocolName: "rest", requestMethod: method, target: url, headers };
  const context = new CallContext(spec.method, call, head, timeoutMs);
  target.reply.on("close", () => context.abandon());
  return runUnary(spec, context, new RestExchange(match, request, target, context, parts), parts);
}

class RestExchange implements UnaryExchange {
  readonly #match: PathMatch<RestRoute>;
  readonly #request: ServerRequest;
  readonly #target: ReplyTarget;
  readonly #context: CallContext;
  readonly #parts: CallParts;
  #format: ReplyFormat = "json";

  constructor(
    match: PathMatch<RestRoute>,
    request: ServerRequest,
    target: ReplyTarget,
    context: CallContext,
    parts: CallParts,
  ) {
    this.#match = match;
    this.#request = request;
    this.#target = target;
    this.#context = context;
    this.#parts = parts;
  }

  receive(): Message | Promise<Message> {
    this.#format = negotiateReply(this.#match.value, this.#request.headers.accept);
    const decoding = decodeRequest(this.#match, this.#request, this.#parts.limits);
    return decoding instanceof Promise ? this.#context.untilAborted(decoding) : decoding;
  }

  reply(output: Message): void | Promise<void> {
    const route = this.#match.value;
    return replyUnary({ target: this.#target, context: this.#context, route, format: this.#format }, output);
  }

  fail(error: ConnectError): void {
    const { reply } = this.#target;
    if (reply.destroyed || reply.headersSent) {
      if (!reply.writableEnded) reply.destroy();
      return;
    }
    this.#context.setHeaders?.forEach((value, name) => {
      if (!error.metadata.has(name)) error.metadata.set(name, value);
    });
    reply.setHeader("x-request-id", this.#context.call.requestId);
    replyError(this.#target, error, this.#parts.errors.httpStatus(error));
  }
}
