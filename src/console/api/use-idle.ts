import { useEffect } from "preact/hooks";

/** Calls `onIdle` after `idleMs` without input, or when a laptop wakes after sleeping longer. */
export function useIdle(idleMs: number, onIdle: () => void): void {
  useEffect(() => {
    let lastUse = Date.now();
    const use = (): void => {
      // Input after the time limit does not extend it.
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
