import type { ContextValues } from "@connectrpc/connect";
import { callKey } from "./call.ts";
import type { Ending } from "./ending.ts";

/**
 * Returns a signal for streams that do not end on their own. It fires when the call ends, and also when the server is
 * about to close, with an error that asks the caller to reconnect. Without it, such a stream would hold up the drain
 * until its time-out.
 */
export function untilClosing(context: {
  readonly values: ContextValues;
  readonly signal: AbortSignal;
}): Ending {
  const call = context.values.get(callKey);
  if (call?.closing === undefined) return context.signal;
  if (call.context === undefined) return either(call.closing, context.signal);
  call.context.endWhenClosing(call.closing);
  return call.context.ending;
}

function either(closing: AbortSignal, signal: AbortSignal): AbortSignal {
  const first = new AbortController();
  const onClosing = () => first.abort(closing.reason);
  const onEnd = () => {
    closing.removeEventListener("abort", onClosing);
    first.abort(signal.reason);
  };
  closing.addEventListener("abort", onClosing, { once: true });
  signal.addEventListener("abort", onEnd, { once: true });
  if (closing.aborted) onClosing();
  if (signal.aborted) onEnd();
  return first.signal;
}
