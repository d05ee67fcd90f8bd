import { type CallOptions, ConnectError } from "@connectrpc/connect";
import { sleep } from "../protocol/poll.ts";
import type { Action } from "./action.ts";
import { fromConnectError, isTransportFailure } from "./errors.ts";

/**
 * Makes one unary call. Retries while the service asks for it and the action's deadline allows it, and a few times when
 * the service is unreachable. Use it only for calls that are safe to repeat: reads, calls with an identity of their
 * own, and ReserveSign under an idempotency key.
 *
 * A socket that was idle during a computation is often dead afterwards, so the first retry follows at once.
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
      // A wait beyond the deadline would hide the reason behind a time-out.
      if (failure.retryAfterMs === undefined || failure.retryAfterMs >= action.remainingMs()) throw failure;
      await sleep(Math.max(50, failure.retryAfterMs), action.signal);
    }
  }
}

const CALL_TIMEOUT_MS = 60_000;
/** The number of attempts when the service is unreachable. */
const MAX_TRANSPORT_ATTEMPTS = 5;
