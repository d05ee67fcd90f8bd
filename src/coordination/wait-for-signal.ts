import type { Clock } from "../lifecycle/clock.ts";
import type { Signals } from "./signals.ts";

/**
 * Waits for the next notification of the topic, at most `timeoutMs`. Runs `listening` after it has registered its
 * listener: `listening` sees every earlier change of the row, and every later one wakes the caller. Resolves with the
 * result of `listening` if that is defined, else with undefined after the wait.
 */
export async function waitForSignal<T>(
  signals: Pick<Signals, "subscribe">,
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
