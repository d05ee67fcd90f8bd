import { useEffect } from "preact/hooks";

/** Calls once when nobody has used the page for a time. A laptop that slept through it is noticed when it wakes. */
export function useIdle(idleMs: number, onIdle: () => void): void {
  useEffect(() => {
    let lastUse = Date.now();
    const use = (): void => {
      // After the bound, the first use is too late.
      if (Date.now() - lastUse < idleMs) lastUse = Date.now();
      else onIdle();
    };
    const timer = setInterval(() => {
      if (Date.now() - lastUse >= idleMs) onIdle();
    }, CHECK_MS);
    for (const event of EVENTS) addEventListener(event, use, { passive: true });
    return () => {
      clearInterval(timer);
      for (const event of EVENTS) removeEventListener(event, use);
    };
  }, [idleMs, onIdle]);
}

const CHECK_MS = 10_000;
const EVENTS = ["pointerdown", "keydown", "wheel", "touchstart"] as const;
