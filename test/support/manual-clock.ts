import type { Clock } from "../../src/service/platform/lifecycle/clock.ts";

/** A clock that the test moves. */
export interface ManualClock extends Clock {
  /** Advances time and fires due timers in order. */
  advance(durationMs: number): void;
  /** Advances time to the next timer and fires only that one. Returns false if there is none. */
  callNext(): boolean;
  readonly timerCount: number;
}

/**
 * Starts at 0. Among several timers of one moment, listed in the order in which they were set, `pick` returns the index
 * of the one to call first; default the first.
 */
export function createManualClock(pick: (count: number) => number = () => 0): ManualClock {
  let nowMs = 0;
  const timers = new Set<{ readonly dueMs: number; readonly call: () => void }>();
  const nextMs = () => [...timers].reduce((ms, { dueMs }) => Math.min(ms, dueMs), Number.POSITIVE_INFINITY);
  return {
    now: () => nowMs,
    wallMs: () => nowMs,
    after(durationMs, call) {
      const timer = { dueMs: nowMs + Math.max(0, durationMs), call };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    advance(durationMs) {
      const endMs = nowMs + durationMs;
      while (nextMs() <= endMs) callNext();
      nowMs = endMs;
    },
    callNext,
    get timerCount() {
      return timers.size;
    },
  };

  function callNext(): boolean {
    const atMs = nextMs();
    const due = [...timers].filter(({ dueMs }) => dueMs === atMs);
    const timer = due[pick(due.length)];
    if (timer === undefined) return false;
    timers.delete(timer);
    nowMs = timer.dueMs;
    timer.call();
    return true;
  }
}
