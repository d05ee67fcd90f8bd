import { EngineError } from "./engine.ts";
import type { CallMessage, FromWorker } from "./engine-messages.ts";
import type { StartEngineThread } from "./engine-thread.ts";
import type { Movable } from "./node-threads.ts";
import type { Method, OutputOf } from "./plain-data.ts";

/** One worker with the call that it is at. */
export interface ThreadSlot {
  /** It has answered, so it takes calls. */
  readonly isReady: boolean;
  /** It is ready, and at no call. */
  readonly isIdle: boolean;
  /** Runs a call, whose outcome `onAnswer` is told once. Only while the slot is idle. Throws for what cannot be sent. */
  run(message: CallMessage, transfer: readonly Movable[], onAnswer: (answer: ThreadAnswer) => void): void;
  /** Ends the call that runs, if one does. The worker goes on with the next one; a worker that hangs is ended. */
  cancel(): void;
  /** Keeps a Node process alive while a call runs, or while the caller waits for this worker. */
  hold(isAwaited: boolean): void;
  /** Has the worker leave its call and overwrite what it holds, and ends it. */
  close(): Promise<void>;
}

/** What became of a call. */
export type ThreadAnswer = { readonly output: OutputOf<Method> } | { readonly failure: Error };

/** What the owner of a slot hears. */
export interface ThreadSlotEvents {
  /** It became ready or idle. */
  onChange(): void;
  /** The worker is gone. */
  onEnd(cause: unknown): void;
}

/** How long a worker may take until its first message. */
const START_TIMEOUT_MS = 30_000;
/** How long a worker may take to leave its call: its longest step takes a tenth of a second. */
const LEAVE_TIMEOUT_MS = 5_000;

/** Starts a worker. Throws as `start` does. */
export function createThreadSlot(start: StartEngineThread, events: ThreadSlotEvents): ThreadSlot {
  let isReady = false;
  let isEnded = false;
  let current: Current | undefined;
  let tellEnded = (): void => {};
  const ended = new Promise<void>((resolve) => {
    tellEnded = resolve;
  });
  const thread = start({
    onMessage(message) {
      if (message.kind === "closed") return thread.terminate();
      if (message.kind === "ready") isReady = true;
      else if (message.id !== current?.id) return;
      patience.stop();
      if (message.kind !== "ready") answer(answerOf(message));
      events.onChange();
    },
    onEnd(cause) {
      if (isEnded) return;
      isEnded = true;
      patience.stop();
      answer({ failure: new EngineError("a worker ended in the middle of the call", { cause }) });
      tellEnded();
      events.onEnd(cause);
    },
  });
  const patience = createTimer(() => thread.terminate());
  patience.start(START_TIMEOUT_MS);

  function answer(outcome: ThreadAnswer): void {
    const call = current;
    current = undefined;
    call?.onAnswer(outcome);
  }

  return {
    get isReady() {
      return isReady;
    },
    get isIdle() {
      return isReady && !isEnded && current === undefined;
    },
    run(message, transfer, onAnswer) {
      // First: an input that cannot be sent leaves the worker free.
      thread.post(message, transfer);
      current = { id: message.id, onAnswer, isCancelled: false };
    },
    cancel() {
      if (current === undefined || current.isCancelled) return;
      current.isCancelled = true;
      thread.post({ kind: "cancel", id: current.id }, []);
      patience.start(LEAVE_TIMEOUT_MS);
    },
    hold: (isAwaited) => thread.hold(isAwaited || current?.isCancelled === false),
    async close() {
      if (isEnded) return;
      thread.hold(true);
      if (isReady) {
        thread.post({ kind: "close" }, []);
        patience.start(LEAVE_TIMEOUT_MS);
      } else thread.terminate();
      await ended;
    },
  };
}

interface Current {
  readonly id: number;
  readonly onAnswer: (answer: ThreadAnswer) => void;
  isCancelled: boolean;
}

type Answer = Extract<FromWorker, { readonly id: number }>;

function answerOf(message: Answer): ThreadAnswer {
  if (message.kind === "result") return { output: message.output };
  const { reason } = message;
  return { failure: message.kind === "refused" ? new EngineError(reason) : new Error(reason) };
}

/** One timer at a time, for which no Node process stays alive. */
function createTimer(onTime: () => void): { start(ms: number): void; stop(): void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    start(ms) {
      clearTimeout(timer);
      timer = setTimeout(onTime, ms);
      // A browser's timer is a number.
      if (typeof timer === "object") timer.unref();
    },
    stop: () => clearTimeout(timer),
  };
}
