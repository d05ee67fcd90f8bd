import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import {
  createBackgroundLoop,
  type PassResult,
} from "../../../../../src/service/platform/lifecycle/background-loop.ts";
import { systemClock } from "../../../../../src/service/platform/lifecycle/clock.ts";
import { createManualClock } from "../../../../support/manual-clock.ts";
import { silentLog } from "../../../../support/silent-log.ts";

const NEVER_MS = 1_000_000;

it("a loop runs a pass at once, and one for each wake-up", async () => {
  const passes = countedPasses();
  const loop = createBackgroundLoop({
    clock: systemClock,
    name: "t",
    pass: passes.run,
    intervalMs: NEVER_MS,
    log: silentLog,
  });
  loop.start();
  await passes.reached(1);
  loop.wake();
  await passes.reached(2);
  await loop.stop();
  expect(passes.count()).toBe(2);
});

it("a loop is woken by its signal from its start to its stop", async () => {
  const passes = countedPasses();
  const listeners = new Set<() => void>();
  const loop = createBackgroundLoop({
    clock: systemClock,
    name: "t",
    pass: passes.run,
    intervalMs: NEVER_MS,
    log: silentLog,
    wakeOn(wake) {
      listeners.add(wake);
      return () => listeners.delete(wake);
    },
  });
  expect(listeners.size).toBe(0);
  loop.start();
  loop.start();
  await passes.reached(1);
  expect(listeners.size).toBe(1);
  for (const wake of listeners) wake();
  await passes.reached(2);
  await loop.stop();
  expect(listeners.size).toBe(0);
});

it("a loop runs without a pause while there is more to do", async () => {
  const passes = countedPasses((count) => count < 5);
  const loop = createBackgroundLoop({
    clock: systemClock,
    name: "t",
    pass: passes.run,
    intervalMs: NEVER_MS,
    log: silentLog,
  });
  loop.start();
  await passes.reached(5);
  await loop.stop();
});

it("a loop rests as long as its pass says, unless it is woken", async () => {
  const clock = createManualClock();
  const passes = countedPasses(() => ({ restMs: 5_000 }));
  const loop = createBackgroundLoop({ clock, name: "t", pass: passes.run, intervalMs: 10, log: silentLog });
  loop.start();
  await passes.reached(1);
  await nextTurn();
  clock.advance(4_999);
  expect(passes.count()).toBe(1);
  clock.advance(1);
  await passes.reached(2);
  loop.wake();
  await passes.reached(3);
  await loop.stop();
});

it("a loop does not lose a wake-up during a pass", async () => {
  let release: () => void = () => {};
  const passes = countedPasses(undefined, (count) =>
    count === 1
      ? new Promise<void>((resolve) => {
          release = resolve;
        })
      : Promise.resolve(),
  );
  const loop = createBackgroundLoop({
    clock: systemClock,
    name: "t",
    pass: passes.run,
    intervalMs: NEVER_MS,
    log: silentLog,
  });
  loop.start();
  await passes.reached(1);
  loop.wake();
  release();
  await passes.reached(2);
  await loop.stop();
});

it("a loop logs a failed pass and continues", async () => {
  const errors: object[] = [];
  const passes = countedPasses(undefined, async (count) => {
    if (count === 1) throw new Error("no");
  });
  const loop = createBackgroundLoop({
    clock: systemClock,
    name: "t",
    pass: passes.run,
    intervalMs: 1,
    log: { ...silentLog, error: (fields) => errors.push(fields) },
  });
  loop.start();
  await passes.reached(2);
  await loop.stop();
  expect(errors).toMatchObject([{ loop: "t", failedCount: 1 }]);
});

it("a loop that stops waits for the running pass, and starts no other", async () => {
  let isDone = false;
  let end: () => void = () => {};
  const passes = countedPasses(
    () => true,
    async () => {
      await new Promise<void>((resolve) => {
        end = resolve;
      });
      isDone = true;
    },
  );
  const loop = createBackgroundLoop({
    clock: systemClock,
    name: "t",
    pass: passes.run,
    intervalMs: 0,
    log: silentLog,
  });
  loop.start();
  await passes.reached(1);
  const stopped = loop.stop();
  end();
  await stopped;
  expect(isDone).toBe(true);
  expect(passes.count()).toBe(1);
});

it("a loop stops even if it never ran", async () => {
  await createBackgroundLoop({
    clock: systemClock,
    name: "t",
    pass: async () => false,
    intervalMs: 0,
    log: silentLog,
  }).stop();
});

function countedPasses(
  resultOf: (count: number) => PassResult = () => false,
  work: (count: number) => Promise<void> = async () => {},
) {
  let count = 0;
  const waiting: { readonly at: number; readonly resolve: () => void }[] = [];
  return {
    count: () => count,
    reached: (at: number) =>
      new Promise<void>((resolve) => {
        if (count >= at) resolve();
        else waiting.push({ at, resolve });
      }),
    async run() {
      const own = ++count;
      for (const waiter of waiting) if (own >= waiter.at) waiter.resolve();
      await work(own);
      return resultOf(own);
    },
  };
}
