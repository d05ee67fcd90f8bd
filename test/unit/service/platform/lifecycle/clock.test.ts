import { expect, it } from "vitest";
import {
  every,
  pause,
  startDeadline,
  systemClock,
} from "../../../../../src/service/platform/lifecycle/clock.ts";
import { createManualClock } from "../../../../support/manual-clock.ts";

it("a sleep lasts at least its full time", async () => {
  const clock = createManualClock();
  let isAwake = false;
  const sleeping = pause(clock, 100).then(() => {
    isAwake = true;
  });
  clock.advance(99);
  await Promise.resolve();
  expect(isAwake).toBe(false);
  clock.advance(1);
  await sleeping;
  expect(isAwake).toBe(true);
});

it("a sleep ends with the signal's reason once it fires, and leaves no timer", async () => {
  const clock = createManualClock();
  const gone = new AbortController();
  const sleeping = pause(clock, 100, gone.signal);
  gone.abort(new Error("gone"));
  await expect(sleeping).rejects.toThrow("gone");
  await expect(pause(clock, 100, gone.signal)).rejects.toThrow("gone");
  expect(clock.timerCount).toBe(0);
});

it("a deadline fires when its time has passed, unless it was cleared before", () => {
  const clock = createManualClock();
  const [kept, cleared] = [startDeadline(clock, 100), startDeadline(clock, 100)];
  cleared.clear();
  clock.advance(100);
  expect([kept.signal.aborted, cleared.signal.aborted]).toEqual([true, false]);
  expect((kept.signal.reason as Error).name).toBe("TimeoutError");
});

it("the system's clock makes a call after the time, unless the call was cancelled", async () => {
  const calls: string[] = [];
  const beganMs = systemClock.now();
  await new Promise<void>((resolve) => {
    // Timers with the same duration fire in the order in which they were set.
    const cancel = systemClock.after(2, () => calls.push("cancelled"));
    systemClock.after(2, () => {
      calls.push("called");
      resolve();
    });
    cancel();
  });
  expect(calls).toEqual(["called"]);
  expect(systemClock.now()).toBeGreaterThan(beganMs);
});

it("a repeated call runs until it is cancelled, even if it cancels itself", () => {
  const clock = createManualClock();
  const atMs: number[] = [];
  const cancel = every(clock, 10, () => {
    atMs.push(clock.now());
    if (atMs.length === 3) cancel();
  });
  clock.advance(100);
  expect(atMs).toEqual([10, 20, 30]);
  expect(clock.timerCount).toBe(0);
});
