import { type CryptoEngine, EngineError } from "../engine.ts";
import { wipeSecrets } from "../plain-data.ts";
import { callsHere, closedEngine } from "./calls-here.ts";
import { engineOver, type PlainEngine } from "./engine-over.ts";
import { type StartEngineThread, usefulThreadCount } from "./engine-thread.ts";
import { createThreadCall, createThreadSlot, type ThreadCall, type ThreadSlot } from "./thread-call.ts";

/** Creates an engine on workers that `start` creates. Throws a RangeError for a count below 1. */
export function createWorkerEngineOn(start: StartEngineThread, options: WorkerEngineOptions): CryptoEngine {
  return engineOver(callsOnThreads({ start, ...threadsOf(options) }));
}

/**
 * Creates the same engine with a start that the first call loads. A start that cannot be loaded is one that fails.
 */
export function createLateWorkerEngine(
  load: () => Promise<StartEngineThread>,
  options: WorkerEngineOptions,
): CryptoEngine {
  const threads = threadsOf(options);
  const open = async (): Promise<PlainEngine> => {
    try {
      return callsOnThreads({ start: await load(), ...threads });
    } catch (cause) {
      return threads.onStartFailure(cause);
    }
  };
  return engineOver(callsLater(open));
}

function threadsOf({ workerCount = usefulThreadCount(), onFallback = () => {} }: WorkerEngineOptions) {
  if (!Number.isInteger(workerCount) || workerCount < 1)
    throw new RangeError("workerCount must be a whole number of at least 1");
  const onStartFailure = (cause: unknown): PlainEngine => {
    onFallback(cause);
    return callsHere();
  };
  return { workerCount, onStartFailure };
}

/** Runs an engine's calls on one that the first call opens. */
function callsLater(open: () => Promise<PlainEngine>): PlainEngine {
  let opening: Promise<PlainEngine> | undefined;
  let isClosed = false;
  const opened = async (): Promise<PlainEngine> => {
    if (isClosed) throw closedEngine();
    opening ??= open();
    return await opening;
  };
  return {
    ready: async () => await (await opened()).ready(),
    async run(method, input, signal) {
      const engine = await opened().catch((error: unknown) => {
        wipeSecrets(input);
        throw error;
      });
      return await engine.run(method, input, signal);
    },
    async close() {
      isClosed = true;
      await (await opening)?.close();
    },
  };
}

/** Options of an engine on workers. */
export interface WorkerEngineOptions {
  /** The maximum number of workers, at least 1. Default: two, or one on a machine with one processor. */
  readonly workerCount?: number | undefined;
  /**
   * Called once with the cause if no worker can be started. The engine then works on the caller's thread, in slices,
   * with the same results and the same checks.
   */
  readonly onFallback?: ((cause: unknown) => void) | undefined;
}

/** Runs an engine's calls on workers, in order of arrival. */
export function callsOnThreads({ start, workerCount, onStartFailure }: ThreadsOptions): PlainEngine {
  const waiting: ThreadCall[] = [];
  const running = new Set<ThreadCall>();
  const slots = new Set<ThreadSlot>();
  let slotMaxCount = workerCount;
  let fallback: PlainEngine | undefined;
  let isClosed = false;
  /** Called whenever the set of workers changes. */
  let watchers: (() => void)[] = [];

  return {
    async ready() {
      for (;;) {
        if (isClosed) throw closedEngine();
        if (fallback !== undefined) return await fallback.ready();
        startMissing();
        if (fallback !== undefined) continue;
        if ([...slots].every((slot) => slot.isReady)) return;
        await new Promise<void>((resolve) => {
          watchers.push(resolve);
          holdProcess();
        });
      }
    },
    async run(method, input, signal) {
      if (fallback !== undefined) return await fallback.run(method, input, signal);
      try {
        if (isClosed) throw closedEngine();
        signal?.throwIfAborted();
        if (waiting.length >= MAX_WAITING_COUNT)
          throw new EngineError(`more than ${MAX_WAITING_COUNT} calls wait for a worker`);
      } catch (error) {
        wipeSecrets(input);
        throw error;
      }
      const call = createThreadCall(method, input);
      const abort = (): void => {
        remove(call);
        call.fail(signal?.reason);
        holdProcess();
      };
      signal?.addEventListener("abort", abort);
      waiting.push(call);
      serve();
      try {
        return await call.output;
      } finally {
        running.delete(call);
        signal?.removeEventListener("abort", abort);
      }
    },
    async close() {
      isClosed = true;
      for (const call of waiting.splice(0)) call.fail(closedEngine());
      for (const call of running) call.fail(closedEngine());
      tellWatchers();
      await Promise.all([...[...slots].map((slot) => slot.close()), fallback?.close()]);
    },
  };

  function serve(): void {
    if (waiting.length > 0 && fallback === undefined && !isClosed) startMissing();
    for (;;) {
      const idle = [...slots].filter((slot) => slot.isIdle);
      const call = idle.length > 0 ? waiting.shift() : undefined;
      if (call === undefined) break;
      running.add(call);
      // Two workers share a call only if no other call waits: sharing repeats some work.
      call.runOn(call.isShareable && waiting.length === 0 ? idle.slice(0, 2) : idle.slice(0, 1));
    }
    holdProcess();
  }

  function startMissing(): void {
    while (slots.size < slotMaxCount) {
      try {
        const slot = createThreadSlot(start, {
          onChange() {
            serve();
            tellWatchers();
          },
          onEnd: (cause) => onSlotEnd(slot, cause),
        });
        slots.add(slot);
      } catch (cause) {
        onStartFailed(cause);
        return;
      }
    }
  }

  function onSlotEnd(slot: ThreadSlot, cause: unknown): void {
    slots.delete(slot);
    if (isClosed) return;
    if (slot.isReady) serve();
    else onStartFailed(cause);
    tellWatchers();
  }

  /** Continues with the running workers, or on the caller's thread if there are none. */
  function onStartFailed(cause: unknown): void {
    slotMaxCount = slots.size;
    if (slotMaxCount > 0) return;
    fallback ??= onStartFailure(cause);
    for (const call of waiting.splice(0)) call.runWith(fallback);
  }

  function remove(call: ThreadCall): void {
    const at = waiting.indexOf(call);
    if (at >= 0) waiting.splice(at, 1);
  }

  function tellWatchers(): void {
    const told = watchers;
    watchers = [];
    for (const tell of told) tell();
  }

  /** Lets the process exit while all workers are idle. */
  function holdProcess(): void {
    const isAwaited = waiting.length > 0 || watchers.length > 0;
    for (const slot of slots) slot.hold(isAwaited);
  }
}

interface ThreadsOptions {
  readonly start: StartEngineThread;
  readonly workerCount: number;
  /** Returns the engine to use when no worker can be started. */
  readonly onStartFailure: (cause: unknown) => PlainEngine;
}

const MAX_WAITING_COUNT = 1_000;
