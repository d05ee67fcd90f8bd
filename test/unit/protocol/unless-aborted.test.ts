import { getEventListeners } from "node:events";
import { expect, it } from "vitest";
import { unlessAborted } from "../../../src/protocol/unless-aborted.ts";

const reason = new Error("no more");
const never = new Promise<never>(() => {});

it("resolves and rejects like the promise, with and without a signal", async () => {
  const { signal } = new AbortController();
  const failure = new Error("failed");
  for (const given of [signal, undefined]) {
    expect(await unlessAborted(Promise.resolve(1), given)).toBe(1);
    await expect(unlessAborted(Promise.reject(failure), given)).rejects.toBe(failure);
  }
});

it("rejects with the signal's own reason, if it fires during the wait or before it", async () => {
  const controller = new AbortController();
  const waiting = unlessAborted(never, controller.signal);
  controller.abort(reason);
  await expect(waiting).rejects.toBe(reason);
  await expect(unlessAborted(never, controller.signal)).rejects.toBe(reason);
});

it("leaves no listener on a signal that outlives the wait", async () => {
  const { signal } = new AbortController();
  await unlessAborted(Promise.resolve(), signal);
  await expect(unlessAborted(Promise.reject(reason), signal)).rejects.toBe(reason);
  expect(getEventListeners(signal, "abort")).toEqual([]);
});
