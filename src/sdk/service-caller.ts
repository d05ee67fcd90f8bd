import { type CallOptions, ConnectError } from "@connectrpc/connect";
import { sleep } from "../protocol/poll.ts";
import type { Action } from "./action.ts";
import { fromConnectError, isAnswer, isTransportFailure } from "./errors.ts";

/**
 * Creates the function that makes a client's unary calls. It repeats a call while the service asks for it, and while
 * the service is unreachable: a few times, or for `reconnectTimeoutMs` if the service has answered this client. A
 * replica that stops, or that a balancer still chooses for a while, then costs no action. The action's deadline bounds
 * both.
 *
 * Use it only for calls that are safe to repeat: reads, calls with an identity of their own, and ReserveSign under an
 * idempotency key.
 */
export function createServiceCaller(reconnectTimeoutMs = RECONNECT_TIMEOUT_MS): ServiceCaller {
  let hasAnswered = false;
  return async (action, perform, headers = {}) => {
    let failureCount = 0;
    let firstFailure = 0;
    for (;;) {
      try {
        const timeoutMs = Math.min(Math.ceil(action.remainingMs()), CALL_TIMEOUT_MS);
        const reply = await perform({
          ...{ signal: action.signal, timeoutMs, headers: { ...action.headers, ...headers } },
        });
        hasAnswered = true;
        return reply;
      } catch (cause) {
        action.signal.throwIfAborted();
        const error = ConnectError.from(cause);
        const failure = fromConnectError(error);
        if (!isTransportFailure(error)) {
          failureCount = 0;
          hasAnswered ||= isAnswer(error);
          // A wait beyond the deadline would hide the reason behind a time-out.
          if (failure.retryAfterMs === undefined || failure.retryAfterMs >= action.remainingMs())
            throw failure;
          await sleep(Math.max(50, failure.retryAfterMs), action.signal);
          continue;
        }
        failureCount++;
        if (failureCount === 1) firstFailure = performance.now();
        const patienceMs = hasAnswered ? reconnectTimeoutMs : 0;
        const isOver = failureCount >= MIN_ATTEMPTS && performance.now() - firstFailure >= patienceMs;
        // A socket that was idle during a computation is often dead afterwards, so the first retry follows at once.
        // The others differ between callers, so that those of one outage do not return together.
        const backoffMs = Math.min(50 * 2 ** failureCount, MAX_PAUSE_MS) * (0.75 + Math.random() / 4);
        const pauseMs = Math.max(failureCount === 1 ? 0 : backoffMs, failure.retryAfterMs ?? 0);
        if (isOver || pauseMs >= action.remainingMs()) throw failure;
        await sleep(pauseMs, action.signal);
      }
    }
  };
}

/** Makes one unary call of an action, and repeats it. */
export type ServiceCaller = <T>(
  action: Action,
  perform: (options: CallOptions) => Promise<T>,
  headers?: Record<string, string>,
) => Promise<T>;

/** Longer than a balancer needs to notice a stopped replica. */
const RECONNECT_TIMEOUT_MS = 30_000;
const CALL_TIMEOUT_MS = 60_000;
/** The number of attempts when the service has not answered yet. They take about 1.5 s. */
const MIN_ATTEMPTS = 5;
const MAX_PAUSE_MS = 2_000;
