import type { IncomingHttpHeaders } from "node:http";
import type { DescMethod } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Call } from "./call.ts";
import { CallContext } from "./call-context.ts";
import { deadlineOf } from "./deadline.ts";
import type { Limits } from "./limits.ts";
import type { ServerReply, ServerRequest } from "./node-http.ts";

/** A call of the Connect protocol that has begun. */
export interface OpenConnectCall {
  readonly context: CallContext;
  /** What is wrong with the head, to be said after the gate. */
  readonly refusal: ConnectError | undefined;
}

/** Makes the context of a call of the Connect protocol, and has it end when its caller leaves. */
export function openConnectCall(
  method: DescMethod,
  request: ServerRequest,
  headers: IncomingHttpHeaders,
  reply: ServerReply,
  call: Call,
  limits: Limits,
): OpenConnectCall {
  const isUnary = method.methodKind === "unary";
  const text = headers["connect-timeout-ms"];
  const timeout = deadlineOf(text === undefined ? undefined : String(text), isUnary, limits);
  const defaultMs = isUnary ? limits.defaultDeadlineMs : undefined;
  const head = { protocolName: "connect", requestMethod: "POST", target: request.url ?? "", headers };
  const context = new CallContext(method, call, head, timeout === "malformed" ? defaultMs : timeout);
  reply.once("close", () => context.abandon());
  const refusal =
    timeout === "malformed"
      ? new ConnectError(
          `protocol error: invalid connect timeout value: ${String(text)}`,
          Code.InvalidArgument,
        )
      : undefined;
  return { context, refusal };
}
