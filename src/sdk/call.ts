import { type CallOptions, ConnectError } from "@connectrpc/connect";
import { sleep } from "../protocol/poll.ts";
import type { Action } from "./action.ts";
import { fromConnectError, isTransportFailure } from "./errors.ts";

/** The longest that one call may take before it is tried again. */
const CALL_TIMEOUT_MS = 60_000;
/** How often a call is tried when the service cannot be reached. */
const MAX_TRANSPORT_ATTEMPTS = 5;

/**
 * Makes one unary call, and makes it again when the service says that this helps, for as long as the action may
 * take, or when the service was not reached, a few times. Use it only for calls whose repeat is harmless: reads, calls
 * with an identity of their own, and ReserveSign under an idempotency key.
 *
 * A socket that was idle while the thread computed is often dead afterwards, so the first repeat follows at once.
 */
export async function call<T>(
  action: Action,
  perform: (options: CallOptions) => Promise<T>,
  headers: Record<string, string> = {},
): Promise<T> {
  let transportFailureCount = 0;
  for (;;) {
    try {
      const timeoutMs = Math.min(Math.ceil(action.remainingMs()), CALL_TIMEOUT_MS);
      return await perform({ signal: action.signal, timeoutMs, headers: { ...action.headers, ...headers } });
    } catch (cause) {
      action.signal.throwIfAborted();
      const error = ConnectError.from(cause);
      const failure = fromConnectError(error);
      if (isTransportFailure(error)) {
        transportFailureCount++;
        if (transportFailureCount >= MAX_TRANSPORT_ATTEMPTS) throw failure;
        await sleep(transportFailureCount === 1 ? 0 : 50 * 2 ** transportFailureCount, action.signal);
        continue;
      }
      // A wait that outlasts the action would only hide the reason behind a time-out.
      if (failure.retryAfterMs === undefined || failure.retryAfterMs >= action.remainingMs()) throw failure;
      await sleep(Math.max(50, failure.retryAfterMs), action.signal);
    }
  }
}
