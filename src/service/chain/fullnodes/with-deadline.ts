import { type Clock, startDeadline } from "../../platform/lifecycle/clock.ts";

/**
 * Runs a call with a time limit. At the limit its signal fires and this function rejects, because some libraries ignore
 * signals.
 */
export async function withDeadline<T>(
  clock: Clock,
  timeoutMs: number,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { signal, clear } = startDeadline(clock, timeoutMs);
  const late = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(new Error(`no answer within ${timeoutMs} ms`)), {
      once: true,
    });
  });
  try {
    return await Promise.race([call(signal), late]);
  } finally {
    clear();
  }
}

/** Resolves like the promise, or rejects when the signal fires. */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason as Error);
  });
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
