import type { Clock } from "../lifecycle/clock.ts";

/**
 * Signals between the parts of a service, across replicas if Redis is configured. A signal is a hint that a row has
 * changed. It may be lost or duplicated, so every waiter also polls the row.
 */
export interface Signals {
  /** Wakes all current waiters of the topic. Never throws. */
  notify(topic: string): void;
  /** Calls `listener` for every notification until the returned function is called. */
  subscribe(topic: string, listener: () => void): () => void;
  /**
   * Calls `listener` with the subject for every notification of this kind of topic, until the returned function is
   * called.
   */
  subscribeKind(kind: string, listener: (subject: string) => void): () => void;
  /** True if no other process can change the database. This process then receives every signal. */
  isComplete(): boolean;
  close(): Promise<void>;
}

/**
 * Returns the pause of a loop that has nothing to do and that a signal wakes: the loop's own interval, or longer if
 * signals are complete. Work that was not announced is found after this time.
 */
export function idleRestMs(signals: Signals, intervalMs: number): number {
  return signals.isComplete() ? Math.max(intervalMs, IDLE_REST_MS) : intervalMs;
}

const IDLE_REST_MS = 30_000;

/**
 * Waits for the next notification of the topic, at most `timeoutMs`. Runs `listening` after it has registered its
 * listener: `listening` sees every earlier change of the row, and every later one wakes the caller. Resolves with the
 * result of `listening` if that is defined, else with undefined after the wait.
 */
export async function waitForSignal<T>(
  signals: Signals,
  topic: string,
  options: { readonly clock: Clock; readonly timeoutMs: number; readonly signal?: AbortSignal },
  listening: () => Promise<T | undefined>,
): Promise<T | undefined> {
  let wake: () => void = () => {};
  const woken = new Promise<void>((resolve) => {
    wake = resolve;
  });
  const unsubscribe = signals.subscribe(topic, wake);
  options.signal?.addEventListener("abort", wake, { once: true });
  let cancel: () => void = () => {};
  try {
    const found = await listening();
    if (found !== undefined || options.signal?.aborted) return found;
    cancel = options.clock.after(options.timeoutMs, wake);
    await woken;
    return undefined;
  } finally {
    cancel();
    unsubscribe();
    options.signal?.removeEventListener("abort", wake);
  }
}
