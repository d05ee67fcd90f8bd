import { expect, test } from "vitest";
import { runYielding } from "../../../../src/client/crypto/engines/plain-calls.ts";

function* endless(): Generator<void, never, undefined> {
  for (;;) yield;
}

function* counted(count: number): Generator<void, number, undefined> {
  for (let index = 0; index < count; index++) yield;
  return count;
}

test("a computation returns its result in one slice or in many", async () => {
  await expect(runYielding(counted(5))).resolves.toBe(5);
  await expect(runYielding(counted(5), { sliceMs: 0 })).resolves.toBe(5);
});

test("a slice has as many steps as its time allows", async () => {
  let isInterrupted = false;
  setImmediate(() => {
    isInterrupted = true;
  });
  await runYielding(counted(1_000), { sliceMs: 1_000_000 });
  expect(isInterrupted).toBe(false);
  await runYielding(counted(1_000), { sliceMs: 0 });
  expect(isInterrupted).toBe(true);
});

test("an abort ends a computation between two slices, with the signal's reason", async () => {
  const abort = new AbortController();
  setImmediate(() => abort.abort(new Error("enough")));
  await expect(runYielding(endless(), { sliceMs: 0, signal: abort.signal })).rejects.toThrow("enough");
});

test("a computation that is aborted before its start runs no step", async () => {
  let steps = 0;
  const counting = (function* () {
    for (;;) {
      steps++;
      yield;
    }
  })();
  const signal = AbortSignal.abort(new Error("never"));
  await expect(runYielding(counting, { signal })).rejects.toThrow("never");
  expect(steps).toBe(0);
});

test("an aborted computation overwrites its secrets", async () => {
  const abort = new AbortController();
  const secret = Uint8Array.of(1, 2, 3);
  const holding = (function* (): Generator<void, never, undefined> {
    try {
      for (;;) yield;
    } finally {
      secret.fill(0);
    }
  })();
  setImmediate(() => abort.abort());
  await expect(runYielding(holding, { sliceMs: 0, signal: abort.signal })).rejects.toThrow();
  expect(secret).toEqual(new Uint8Array(3));
});

test("a computation waits for a promise that it yields, and an abort ends the wait", async () => {
  let arrive = (): void => {};
  let isArrived = false;
  const arrival = new Promise<void>((resolve) => {
    arrive = resolve;
  }).then(() => {
    isArrived = true;
  });
  const waiting = function* (promise: Promise<void>): Generator<Promise<void>, boolean, undefined> {
    yield promise;
    return isArrived;
  };
  setImmediate(arrive);
  await expect(runYielding(waiting(arrival))).resolves.toBe(true);
  const abort = new AbortController();
  setImmediate(() => abort.abort(new Error("enough")));
  const never = new Promise<void>(() => {});
  await expect(runYielding(waiting(never), { signal: abort.signal })).rejects.toThrow("enough");
});
