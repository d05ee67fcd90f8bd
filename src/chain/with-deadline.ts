/**
 * Runs a call that may hang: its signal fires after the time, and the result is not waited for any longer, since some
 * libraries take no signal.
 */
export async function withDeadline<T>(
  timeoutMs: number,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const signal = AbortSignal.timeout(timeoutMs);
  const late = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(new Error(`no answer within ${timeoutMs} ms`)), {
      once: true,
    });
  });
  return Promise.race([call(signal), late]);
}
