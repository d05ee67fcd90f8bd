import type { ConnectError } from "@connectrpc/connect";
import type { CallContext } from "./call-context.ts";
import type { CallParts } from "./call-parts.ts";
import { classify } from "./guard-call.ts";

/** Ends a failed call: maps the reason, aborts the handler, reports the end and sends the error by `exchange`. */
export function failCall(
  reason: unknown,
  context: CallContext,
  exchange: { fail(error: ConnectError): void },
  parts: Pick<CallParts, "errors" | "onError">,
): void {
  const { call } = context;
  const error = parts.errors.toConnectError(call.isHandling ? reason : classify(reason), call);
  context.abort(error);
  call.end(error);
  try {
    exchange.fail(error);
  } catch (cause) {
    parts.onError(cause);
  }
}
