/**
 * Time as the service sees it. Loops, waits and deadlines take it as an argument, so that a simulation can decide when
 * it is what time. Times of rows are PostgreSQL's own and do not come from here.
 */
export interface Clock {
  /** Milliseconds that only grow, of any origin. */
  now(): number;
  /** Calls `call` once when the time is over. The returned function cancels it. */
  after(durationMs: number, call: () => void): () => void;
}

/** The time of this machine. A process has one place that hands it out: its composition root. */
export const systemClock: Clock = {
  now: () => performance.now(),
  after(durationMs, call) {
    const timer = setTimeout(call, durationMs);
    return () => clearTimeout(timer);
  },
};

/** Waits for the time. Rejects with the signal's reason as soon as that fires. */
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

/** Calls `call` each time that so much time has passed, until the returned function is called. */
export function every(clock: Clock, intervalMs: number, call: () => void): () => void {
  let cancel = clock.after(intervalMs, again);
  return () => cancel();
  function again(): void {
    cancel = clock.after(intervalMs, again);
    call();
  }
}

/** A time limit that runs. */
export interface Deadline {
  /** Fires when the time is over. */
  readonly signal: AbortSignal;
  /** Ends the limit when nobody needs it any more; the signal does not fire after that. */
  clear(): void;
}

/** Begins a time limit. */
export function startDeadline(clock: Clock, durationMs: number): Deadline {
  const late = new AbortController();
  const cancel = clock.after(durationMs, () =>
    late.abort(new DOMException(`no answer within ${durationMs} ms`, "TimeoutError")),
  );
  return { signal: late.signal, clear: cancel };
}
