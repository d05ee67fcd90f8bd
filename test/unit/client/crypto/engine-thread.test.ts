/** Which threads an engine finds on this platform. */
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { afterEach, describe, expect, test, vi } from "vitest";
import {
  nodeHttp2,
  nodeThreads,
  usefulThreadCount,
  webEngineThread,
} from "../../../../src/client/crypto/engines/engine-thread.ts";
import { startEngineThread } from "../../../../src/client/crypto/engines/worker-engine.ts";

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

describe("in Node", () => {
  test("the threads are those of the running process", () => {
    const parallelCount = availableParallelism();
    expect(nodeThreads()).toMatchObject({ Worker, parallelCount });
    expect(usefulThreadCount()).toBe(Math.min(2, parallelCount));
    expect(nodeHttp2()).toHaveProperty("connect");
  });
});

describe("elsewhere, or in a Node that cannot tell its modules", () => {
  test.each([
    ["no process", undefined],
    ["an old process", {}],
  ])("with %s there are no threads of Node, and up to two workers", (_, process) => {
    vi.stubGlobal("process", process);
    expect([nodeThreads(), nodeHttp2()]).toEqual([undefined, undefined]);
    for (const [navigator, count] of [
      [undefined, 1],
      [{}, 1],
      [{ hardwareConcurrency: 1 }, 1],
      [{ hardwareConcurrency: 8 }, 2],
    ]) {
      vi.stubGlobal("navigator", navigator);
      expect(usefulThreadCount()).toBe(count);
    }
  });
});

describe("a browser's worker", () => {
  function started() {
    const posted: unknown[] = [];
    const worker = {
      postMessage: (...message: unknown[]) => void posted.push(message),
      terminate: vi.fn(),
      onmessage: null as ((event: { data: unknown }) => void) | null,
      onerror: null as ((event: { message?: string; preventDefault: () => void }) => void) | null,
      onmessageerror: null as (() => void) | null,
    };
    vi.stubGlobal("Worker", class {});
    const events = { onMessage: vi.fn(), onEnd: vi.fn() };
    const thread = webEngineThread(() => worker as never, events);
    return { worker, posted, thread, events };
  }

  test("gets messages with what they transfer, and its own reach the engine", () => {
    const { worker, posted, thread, events } = started();
    const buffer = new ArrayBuffer(1);
    thread.post({ kind: "close" }, [buffer]);
    thread.hold(true);
    expect(posted).toEqual([[{ kind: "close" }, [buffer]]]);
    worker.onmessage!({ data: { kind: "ready" } });
    expect(events.onMessage.mock.calls).toEqual([[{ kind: "ready" }]]);
  });

  test.each([
    ["an error", "boom", (worker: Made) => worker.onerror!({ message: "boom", preventDefault })],
    [
      "an error without a text",
      "a worker could not be loaded",
      (worker: Made) => worker.onerror!({ preventDefault }),
    ],
    [
      "an unreadable message",
      "a worker's message could not be read",
      (worker: Made) => worker.onmessageerror!(),
    ],
    ["its termination", "a worker was ended", (_: Made, thread: Thread) => thread.terminate()],
  ])("is terminated and heard no more after %s", (_, text, end) => {
    const { worker, thread, events } = started();
    preventDefault.mockClear();
    end(worker, thread);
    expect(preventDefault).toHaveBeenCalledTimes(text === "boom" || text.endsWith("loaded") ? 1 : 0);
    expect(worker.terminate).toHaveBeenCalledOnce();
    expect(worker.onmessage).toBeNull();
    expect(events.onEnd.mock.calls.map(String)).toEqual([`Error: ${text}`]);
  });

  test("is started from the text of the program by one blob for all, or from the program's URL", () => {
    const made: unknown[] = [];
    vi.stubGlobal("process", undefined);
    vi.stubGlobal(
      "Worker",
      class {
        constructor(url: unknown) {
          made.push(url);
        }
      },
    );
    const createObjectURL = vi.spyOn(URL, "createObjectURL").mockReturnValue("blob:1");
    const events = { onMessage() {}, onEnd() {} };
    const fromText = startEngineThread("a program");
    expect([made, createObjectURL.mock.calls]).toEqual([[], []]);
    fromText(events);
    fromText(events);
    startEngineThread(new URL("https://site.example/worker-program.js"))(events);
    expect(made).toEqual(["blob:1", "blob:1", "https://site.example/worker-program.js"]);
    expect(createObjectURL).toHaveBeenCalledOnce();
    expect(createObjectURL.mock.lastCall![0]).toMatchObject({ type: "text/javascript", size: 9 });
  });

  test("is not started where there are none", () => {
    vi.stubGlobal("Worker", undefined);
    const events = { onMessage() {}, onEnd() {} };
    const start = vi.fn();
    expect(() => webEngineThread(start, events)).toThrow("no workers");
    expect(start).not.toHaveBeenCalled();
  });

  type Made = ReturnType<typeof started>["worker"];
  type Thread = ReturnType<typeof webEngineThread>;
  const preventDefault = vi.fn();
});
