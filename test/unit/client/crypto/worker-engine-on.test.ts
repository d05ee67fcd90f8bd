/** How an engine on workers starts, uses and ends them, over workers that the test impersonates. */
import { describe, expect, test, vi } from "vitest";
import type { CallMessage, ToWorker } from "../../../../src/client/crypto/engines/engine-messages.ts";
import type { StartEngineThread } from "../../../../src/client/crypto/engines/engine-thread.ts";
import {
  callsOnThreads,
  createLateWorkerEngine,
  createWorkerEngineOn,
} from "../../../../src/client/crypto/engines/worker-engine-on.ts";
import { ALGORITHM_TRIPLES } from "../../../../src/protocol/algorithms.ts";

const seedInput = () => ({ curve: "ED25519", seed: new Uint8Array(32).fill(7) }) as const;
const triple = ALGORITHM_TRIPLES.find(({ signatureAlgorithm }) => signatureAlgorithm === "ECDSASecp256k1")!;
const halfInput = () => ({ triple, userSecretKeyShare: new Uint8Array(3).fill(7) }) as never;
const outcome = (promise: Promise<unknown>) => promise.catch((cause: unknown) => String(cause));
/** Lets all promises that can settle do so. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

interface Worker {
  readonly events: Parameters<StartEngineThread>[0];
  readonly sent: ToWorker[];
  isHeld: boolean;
}

/** An engine with fallback calls that the test answers. `startable` workers start, and more do not. */
function played({ workerCount = 2, startable = Number.POSITIVE_INFINITY } = {}) {
  const workers: Worker[] = [];
  const start: StartEngineThread = (events) => {
    if (workers.length >= startable) throw new Error("no more workers");
    const worker: Worker = { events, sent: [], isHeld: false };
    workers.push(worker);
    return {
      post: (message) => void worker.sent.push(message),
      hold(isHeld) {
        worker.isHeld = isHeld;
      },
      terminate: () => events.onEnd(new Error("terminated")),
    };
  };
  const fallback = {
    ready: vi.fn(async () => {}),
    run: vi.fn(async () => "here"),
    close: vi.fn(async () => {}),
  };
  const onStartFailure = vi.fn((_cause: unknown) => fallback as never);
  const engine = callsOnThreads({ start, workerCount, onStartFailure });
  const ready = (index: number): void => workers[index]!.events.onMessage({ kind: "ready" });
  const callsOf = (index: number) =>
    workers[index]!.sent.filter((message): message is CallMessage => message.kind === "call");
  const answer = (index: number, output: unknown = "there"): void => {
    const { id } = callsOf(index).at(-1)!;
    workers[index]!.events.onMessage({ kind: "result", id, output: output as never });
  };
  const derive = (signal?: AbortSignal) => outcome(engine.run("deriveUserKeys", seedInput(), signal));
  return { engine, workers, fallback, onStartFailure, ready, callsOf, answer, derive };
}

describe("an engine on workers", () => {
  test("starts its workers with the first call, and each call goes to one that is idle", async () => {
    const { workers, ready, callsOf, answer, derive } = played();
    expect(workers).toHaveLength(0);
    const [first, second, third] = [derive(), derive(), derive()];
    expect(workers).toHaveLength(2);
    ready(1);
    expect([callsOf(0).length, callsOf(1).length]).toEqual([0, 1]);
    answer(1, "first");
    expect(await first).toBe("first");
    expect(callsOf(1)).toHaveLength(2);
    ready(0);
    answer(0, "third");
    answer(1, "second");
    expect([await second, await third]).toEqual(["second", "third"]);
    expect(workers).toHaveLength(2);
  });

  test("is ready when all workers are, and keeps the process alive until then", async () => {
    const { engine, workers, ready } = played();
    const onReady = vi.fn();
    void engine.ready().then(onReady);
    await settle();
    expect(workers.map(({ isHeld }) => isHeld)).toEqual([true, true]);
    ready(0);
    await settle();
    expect(onReady).not.toHaveBeenCalled();
    ready(1);
    await settle();
    expect(onReady).toHaveBeenCalledOnce();
    await engine.ready();
    expect(workers).toHaveLength(2);
  });

  test("keeps the process alive for calls that wait or run, and for no idle worker", async () => {
    const { workers, ready, answer, derive } = played({ workerCount: 1 });
    const calls = [derive(), derive()];
    const isHeld = () => workers[0]!.isHeld;
    expect(isHeld()).toBe(true);
    ready(0);
    expect(isHeld()).toBe(true);
    answer(0);
    expect(isHeld()).toBe(true);
    answer(0);
    expect(isHeld()).toBe(false);
    await Promise.all(calls);
    const abort = new AbortController();
    const aborted = derive(abort.signal);
    expect(isHeld()).toBe(true);
    abort.abort(new Error("enough"));
    expect([await aborted, isHeld()]).toEqual(["Error: enough", false]);
  });

  test("replaces a worker that ended with the next call, and not before", async () => {
    const { workers, ready, answer, derive } = played();
    const first = derive();
    ready(0);
    ready(1);
    answer(0);
    await first;
    workers[0]!.events.onEnd(new Error("killed"));
    expect(workers).toHaveLength(2);
    const second = derive();
    expect(workers).toHaveLength(3);
    answer(1);
    expect(await second).toBe("there");
  });

  test("shares an ECDSA half among two workers only if they are idle and no other call waits", async () => {
    const { engine, ready, callsOf, answer, derive } = played();
    const [half, other] = [outcome(engine.run("createSignMessage", halfInput(), undefined)), derive()];
    ready(0);
    ready(1);
    expect(callsOf(0)[0]!.peer).toBeUndefined();
    answer(0, Uint8Array.of(9));
    answer(1, "other");
    expect([await half, await other]).toEqual([Uint8Array.of(9), "other"]);
    const shared = outcome(engine.run("createSignMessage", halfInput(), undefined));
    expect([0, 1].map((index) => callsOf(index).at(-1)!.peer?.part)).toEqual([0, 1]);
    for (const index of [0, 1]) {
      callsOf(index).at(-1)!.peer!.port.close();
      answer(index, Uint8Array.of(8));
    }
    expect(await shared).toEqual(Uint8Array.of(8));
  });

  test("leaves out a call that was aborted before it began, with its secrets overwritten", async () => {
    const { engine, workers, ready, callsOf } = played({ workerCount: 1 });
    const abort = new AbortController();
    const inputs = [seedInput(), seedInput()];
    const calls = inputs.map((input) => outcome(engine.run("deriveUserKeys", input, abort.signal)));
    abort.abort(new Error("enough"));
    const late = seedInput();
    calls.push(outcome(engine.run("deriveUserKeys", late, abort.signal)));
    expect(await Promise.all(calls)).toEqual(Array(3).fill("Error: enough"));
    for (const { seed } of [...inputs, late]) expect(seed).toEqual(new Uint8Array(32));
    ready(0);
    expect([workers.length, callsOf(0)]).toEqual([1, []]);
  });
});

describe("an engine of which a worker does not start", () => {
  test("works with those that do", async () => {
    const { engine, workers, onStartFailure, ready, answer, derive } = played({ startable: 1 });
    const call = derive();
    ready(0);
    answer(0);
    expect(await call).toBe("there");
    await engine.ready();
    expect([workers.length, onStartFailure.mock.calls.length]).toEqual([1, 0]);
  });

  test("works on another engine if none does, also for the calls that wait", async () => {
    const { engine, workers, fallback, onStartFailure, derive } = played();
    const waiting = [derive(), derive()];
    for (const { events } of [...workers]) events.onEnd(new Error("not found"));
    expect(await Promise.all(waiting)).toEqual(["here", "here"]);
    expect(await derive()).toBe("here");
    await engine.ready();
    expect(onStartFailure.mock.calls.map(String)).toEqual(["Error: not found"]);
    expect([fallback.run.mock.calls.length, fallback.ready.mock.calls.length]).toEqual([3, 1]);
    await engine.close();
    expect(fallback.close).toHaveBeenCalledOnce();
  });

  test("is ready without one, too", async () => {
    const { engine, fallback } = played({ startable: 0 });
    await engine.ready();
    expect(fallback.ready).toHaveBeenCalledOnce();
  });
});

describe("a closed engine", () => {
  const CLOSED = "EngineError: the engine is closed";

  test("fails the calls that wait and run and whoever waits for its workers, and ends when these have", async () => {
    const { engine, workers, ready, derive } = played({ workerCount: 1 });
    const awaited = outcome(engine.ready());
    const calls = [derive(), derive()];
    ready(0);
    const closed = vi.fn();
    void engine.close().then(closed);
    expect(await Promise.all(calls)).toEqual([CLOSED, CLOSED]);
    expect([undefined, CLOSED]).toContain(await awaited);
    await settle();
    expect(closed).not.toHaveBeenCalled();
    expect(workers[0]!.sent.map(({ kind }) => kind)).toEqual(["call", "cancel", "close"]);
    workers[0]!.events.onMessage({ kind: "closed" });
    await settle();
    expect(closed).toHaveBeenCalledOnce();
  });

  test("refuses calls with their secrets overwritten, and starts nothing", async () => {
    const { engine, workers, fallback } = played();
    await engine.close();
    const input = seedInput();
    expect(await outcome(engine.run("deriveUserKeys", input, undefined))).toBe(CLOSED);
    expect(await outcome(engine.ready())).toBe(CLOSED);
    expect(input.seed).toEqual(new Uint8Array(32));
    expect([workers.length, fallback.ready.mock.calls]).toEqual([0, []]);
  });
});

describe("an engine whose start is loaded with the first call", () => {
  const load = vi.fn(async (): Promise<StartEngineThread> => {
    throw new Error("no chunk");
  });

  test("loads it once, and tells a failure once", async () => {
    const onFallback = vi.fn();
    const engine = createLateWorkerEngine(load, { workerCount: 1, onFallback });
    expect(load).not.toHaveBeenCalled();
    await Promise.all([engine.ready(), engine.ready()]);
    expect([load.mock.calls.length, onFallback.mock.calls.map(String)]).toEqual([1, ["Error: no chunk"]]);
    await engine.close();
    await expect(engine.ready()).rejects.toThrow("the engine is closed");
    load.mockClear();
  });

  test("loads nothing if it is closed before", async () => {
    const engine = createLateWorkerEngine(load, {});
    await engine.close();
    const call = engine.deriveUserKeys({ curve: "ED25519", seed: new Uint8Array(32) });
    await expect(call).rejects.toThrow("the engine is closed");
    expect(load).not.toHaveBeenCalled();
  });
});

test.each([0, -1, 1.5, Number.NaN])("an engine has no %s workers", (workerCount) => {
  const start = () => Promise.reject(new Error("unused"));
  expect(() => createLateWorkerEngine(start, { workerCount })).toThrow(RangeError);
  expect(() => createWorkerEngineOn(start as never, { workerCount })).toThrow(RangeError);
});
