import { expect, it } from "vitest";
import { createLocalSignals } from "../../../../../src/service/platform/coordination/local-coordination.ts";
import { waitForSignal } from "../../../../../src/service/platform/coordination/signals.ts";
import { systemClock } from "../../../../../src/service/platform/lifecycle/clock.ts";

const NEVER_MS = 1_000_000;

it("a wait returns at once if the value is there", async () => {
  const found = await waitForSignal(
    createLocalSignals(),
    "a",
    { clock: systemClock, timeoutMs: NEVER_MS },
    async () => 7,
  );
  expect(found).toBe(7);
});

it("a wait sees a notification that arrives while it reads", async () => {
  const signals = createLocalSignals();
  const found = await waitForSignal(signals, "a", { clock: systemClock, timeoutMs: NEVER_MS }, async () => {
    signals.notify("a");
    await new Promise((resolve) => setImmediate(resolve));
    return undefined;
  });
  expect(found).toBeUndefined();
});

it("a wait ends at the deadline, and when the caller leaves", async () => {
  const signals = createLocalSignals();
  await waitForSignal(signals, "a", { clock: systemClock, timeoutMs: 1 }, async () => undefined);
  const caller = new AbortController();
  const waiting = waitForSignal(
    signals,
    "a",
    { clock: systemClock, timeoutMs: NEVER_MS, signal: caller.signal },
    async () => undefined,
  );
  caller.abort();
  await waiting;
});

it("a wait leaves no listener", async () => {
  let listenerCount = 0;
  const signals = {
    ...createLocalSignals(),
    subscribe() {
      listenerCount++;
      return () => void listenerCount--;
    },
  };
  await waitForSignal(signals, "a", { clock: systemClock, timeoutMs: 1 }, async () => undefined);
  await expect(
    waitForSignal(signals, "a", { clock: systemClock, timeoutMs: 1 }, async () => {
      throw new Error("no");
    }),
  ).rejects.toThrow("no");
  expect(listenerCount).toBe(0);
});
