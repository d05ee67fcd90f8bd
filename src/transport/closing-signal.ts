import { type ContextValues, createContextKey } from "@connectrpc/connect";

/** The context value that fires when the server is about to close, long before calls under way are cut. */
export const closingKey = createContextKey<AbortSignal | undefined>(undefined, { description: "closing" });

/**
 * The signal for streams that end only when they are told to: fires when the call is over, and also when the server is
 * about to close, with an error that tells the caller to come back. Without it such a stream would hold up the drain
 * until its time-out.
 */
export function untilClosing(context: {
  readonly values: ContextValues;
  readonly signal: AbortSignal;
}): AbortSignal {
  const { signal } = context;
  const closing = context.values.get(closingKey);
  if (closing === undefined) return signal;
  const either = new AbortController();
  const onClosing = () => either.abort(closing.reason);
  const onEnd = () => {
    closing.removeEventListener("abort", onClosing);
    either.abort(signal.reason);
  };
  closing.addEventListener("abort", onClosing, { once: true });
  signal.addEventListener("abort", onEnd, { once: true });
  if (closing.aborted) onClosing();
  if (signal.aborted) onEnd();
  return either.signal;
}
