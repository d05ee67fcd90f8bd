import { EngineError } from "./engine.ts";
import type { CallMessage, FromWorker } from "./engine-messages.ts";
import type { StartEngineThread } from "./engine-thread.ts";
import type { Movable } from "./node-threads.ts";
import type { Method, OutputOf } from "./plain-data.ts";

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
      answer({ failure: new EngineError("a worker ended during the call", { cause }) });
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
      // This comes first: if the input cannot be sent, the worker stays idle.
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

/** One worker and its current call. */
export interface ThreadSlot {
  /** True once the worker has reported that it accepts calls. */
  readonly isReady: boolean;
  /** True if the worker is ready and runs no call. */
  readonly isIdle: boolean;
  /** Runs a call on an idle slot and calls `onAnswer` once with its outcome. Throws if the input cannot be sent. */
  run(message: CallMessage, transfer: readonly Movable[], onAnswer: (answer: ThreadAnswer) => void): void;
  /** Cancels the current call, if any. The worker continues with the next call; a worker that hangs is terminated. */
  cancel(): void;
  /** Keeps a Node process alive while a call runs or the caller waits for this worker. */
  hold(isAwaited: boolean): void;
  /** Lets the worker abort its call and overwrite its secrets, then terminates it. */
  close(): Promise<void>;
}

export type ThreadAnswer = { readonly output: OutputOf<Method> } | { readonly failure: Error };

export interface ThreadSlotEvents {
  onChange(): void;
  onEnd(cause: unknown): void;
}

/** The time limit for a worker's first message. */
const START_TIMEOUT_MS = 30_000;
/** The time limit for a worker to abort its call. The longest step takes a tenth of a second. */
const LEAVE_TIMEOUT_MS = 5_000;

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

/** Creates a timer. `start` restarts a running one. It does not keep a Node process alive. */
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
