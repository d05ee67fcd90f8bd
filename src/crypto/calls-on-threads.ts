import { closedEngine } from "./calls-here.ts";
import { EngineError } from "./engine.ts";
import type { PlainEngine } from "./engine-over.ts";
import type { StartEngineThread } from "./engine-thread.ts";
import { wipeSecrets } from "./plain-data.ts";
import { createThreadCall, type ThreadCall } from "./thread-call.ts";
import { createThreadSlot, type ThreadSlot } from "./thread-slot.ts";

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

export interface ThreadsOptions {
  readonly start: StartEngineThread;
  readonly workerCount: number;
  /** Returns the engine to use when no worker can be started. */
  readonly onStartFailure: (cause: unknown) => PlainEngine;
}

const MAX_WAITING_COUNT = 1_000;
