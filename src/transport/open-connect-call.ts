import type { DescMethod } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Call } from "./calls/call.ts";
import { CallContext } from "./calls/call-context.ts";
import { deadlineOf } from "./calls/deadline.ts";
import type { ServerReply, ServerRequest } from "./http/node-http.ts";
import type { Limits } from "./limits.ts";

/** Creates the context of a Connect call, and ends it when its caller leaves. */
export function openConnectCall(
  method: DescMethod,
  request: ServerRequest,
  reply: ServerReply,
  call: Call,
  limits: Limits,
): OpenConnectCall {
  const { headers } = request;
  const isUnary = method.methodKind === "unary";
  const text = headers["connect-timeout-ms"];
  const timeout = deadlineOf(text === undefined ? undefined : String(text), isUnary, limits);
  const defaultMs = isUnary ? limits.defaultDeadlineMs : undefined;
  const head = { protocolName: "connect", requestMethod: "POST", target: request.url ?? "", headers };
  const context = new CallContext(method, call, head, timeout === "malformed" ? defaultMs : timeout);
  reply.on("close", () => context.abandon());
  const refusal =
    timeout === "malformed"
      ? new ConnectError(
          `protocol error: invalid connect timeout value: ${String(text)}`,
          Code.InvalidArgument,
        )
      : undefined;
  return { context, refusal };
}

export interface OpenConnectCall {
  readonly context: CallContext;
  /** The error in the head, if any, which is reported after the gate. */
  readonly refusal: ConnectError | undefined;
}
