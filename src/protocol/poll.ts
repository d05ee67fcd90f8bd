/** How a poll waits. */
export interface PollOptions {
  /** Ends the poll with {@link PollTimeoutError}; in milliseconds from now. */
  readonly timeoutMs: number;
  /** Wait after the first look; default 50 ms. */
  readonly initialIntervalMs?: number;
  /** The longest wait; default 500 ms. */
  readonly maxIntervalMs?: number;
  /** By how much each wait is longer than the last; default 1.5. */
  readonly backoffFactor?: number;
  /** Ends the poll with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Errors of a look for which it is worth looking again; default none. The last one is the time-out's cause. */
  readonly isTransient?: (error: unknown) => boolean;
}

/** Thrown when a poll's time is up. What was waited for may still happen. */
export class PollTimeoutError extends Error {
  override readonly name = "PollTimeoutError";
}

/**
 * Looks until `look` returns something other than undefined, and returns that at once. A look that throws ends the
 * poll at once too, which is how rejected states end it, unless the error is transient.
 * Each look gets a signal that aborts with the caller's signal or at the end of the time.
 */
export async function poll<T>(
  look: (signal: AbortSignal) => Promise<T | undefined>,
  options: PollOptions,
): Promise<T> {
  const deadline = performance.now() + options.timeoutMs;
  const maxIntervalMs = options.maxIntervalMs ?? 500;
  let intervalMs = Math.min(options.initialIntervalMs ?? 50, maxIntervalMs);
  let lastError: unknown;
  for (;;) {
    options.signal?.throwIfAborted();
    const remainingMs = deadline - performance.now();
    if (remainingMs <= 0) throw new PollTimeoutError("time is up", { cause: lastError });
    const timeout = AbortSignal.timeout(Math.ceil(remainingMs));
    const signal = options.signal === undefined ? timeout : AbortSignal.any([options.signal, timeout]);
    try {
      const found = await look(signal);
      if (found !== undefined) return found;
    } catch (error) {
      options.signal?.throwIfAborted();
      if (timeout.aborted) throw new PollTimeoutError("time is up", { cause: error });
      if (options.isTransient?.(error) !== true) throw error;
      lastError = error;
    }
    await sleep(Math.min(intervalMs, Math.max(0, deadline - performance.now())), options.signal);
    intervalMs = Math.min(intervalMs * (options.backoffFactor ?? 1.5), maxIntervalMs);
  }
}

/** Waits; an abort ends the wait at once with the signal's reason. */
export function sleep(durationMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(signal.reason);
      return;
    }
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, durationMs);
    signal?.addEventListener("abort", abort, { once: true });
  });
}
