import { useEffect, useState } from "preact/hooks";

/** Returns the browser's time in milliseconds since 1970, anew every `everyMs`; once if that is undefined. */
export function useNow(everyMs: number | undefined): number {
  const [nowMs, setNowMs] = useState(() => Date.now());
  useEffect(() => {
    if (everyMs === undefined) return undefined;
    const timer = setInterval(() => setNowMs(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return nowMs;
}
