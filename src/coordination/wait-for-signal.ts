import type { Clock } from "../lifecycle/clock.ts";
import type { Signals } from "./signals.ts";

/**
 * Waits for the next notification of the topic, for `timeoutMs` at the longest. `listening` is run once the listener
 * stands, to look at the row again: what changed before it is seen by it, what changes after it wakes.
 * Resolves with what `listening` found, as soon as that is not undefined; else undefined after the wait.
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
