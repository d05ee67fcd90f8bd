import { type Clock, startDeadline } from "../lifecycle/clock.ts";

/**
 * Runs a call that may hang: its signal fires after the time, and the result is not waited for any longer, since some
 * libraries take no signal.
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
