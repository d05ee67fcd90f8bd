import type { Clock } from "../../src/service/platform/lifecycle/clock.ts";

/** A clock that stands still, with which a test follows a loop from one pause to the next. */
export interface PauseClock extends Clock {
  /** Resolves at the loop's next pause with its length in milliseconds, at once if the loop is pausing. */
  paused(): Promise<number>;
  /** Lets the pause pass, which advances the clock by its length. */
  elapse(): void;
}

/** Starts at 0. Serves one loop, which sets one timer at a time. */
export function createPauseClock(): PauseClock {
  let nowMs = 0;
  let pause: { readonly durationMs: number; readonly call: () => void } | undefined;
  let notice: () => void = () => {};
  return {
    now: () => nowMs,
    wallMs: () => nowMs,
    after(durationMs, call) {
      const own = { durationMs, call };
      pause = own;
      notice();
      return () => {
        if (pause === own) pause = undefined;
      };
    },
    async paused() {
      while (pause === undefined)
        await new Promise<void>((resolve) => {
          notice = resolve;
        });
      return pause.durationMs;
    },
    elapse() {
      const ended = pause;
      pause = undefined;
      nowMs += ended?.durationMs ?? 0;
      ended?.call();
    },
  };
}
