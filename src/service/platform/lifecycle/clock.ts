/**
 * The service's clock. Loops, waits and deadlines take it as an argument, so that a simulation controls time. The times
 * of rows come from PostgreSQL.
 */
export interface Clock {
  /** A monotonic time in milliseconds, from any origin. */
  now(): number;
  /** The time of day, in milliseconds since the epoch. It may jump. Measure durations with {@link now}. */
  wallMs(): number;
  /** Calls `call` once after this time. The returned function cancels the call. */
  after(durationMs: number, call: () => void): () => void;
}

/** The machine's clock. Only the composition root passes it on. */
export const systemClock: Clock = {
  now: () => performance.now(),
  wallMs: () => Date.now(),
  after(durationMs, call) {
    const timer = setTimeout(call, durationMs);
    return () => clearTimeout(timer);
  },
};

/** Waits for a duration. Rejects with the signal's reason if the signal fires first. */
export function pause(clock: Clock, durationMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const cancel = clock.after(durationMs, () => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    });
    signal?.addEventListener("abort", onAbort, { once: true });
    function onAbort(): void {
      cancel();
      reject(signal?.reason);
    }
  });
}

/** Calls `call` at an interval until the returned function is called. */
export function every(clock: Clock, intervalMs: number, call: () => void): () => void {
  let cancel = clock.after(intervalMs, again);
  return () => cancel();
  function again(): void {
    cancel = clock.after(intervalMs, again);
    call();
  }
}

export interface Deadline {
  /** Fires when the time limit expires. */
  readonly signal: AbortSignal;
  /** Cancels the limit. The signal does not fire afterwards. */
  clear(): void;
}

/** Starts a time limit. */
export function startDeadline(clock: Clock, durationMs: number): Deadline {
  const late = new AbortController();
  const cancel = clock.after(durationMs, () =>
    late.abort(new DOMException(`no answer within ${durationMs} ms`, "TimeoutError")),
  );
  return { signal: late.signal, clear: cancel };
}

/** An hour in milliseconds. */
export const HOUR_MS = 3_600_000;
/** A day of 24 hours in milliseconds. */
export const DAY_MS = 24 * HOUR_MS;
