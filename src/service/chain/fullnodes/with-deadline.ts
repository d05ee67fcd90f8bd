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
