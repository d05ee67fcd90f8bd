import { equalBytes } from "../../../protocol/bytes.ts";
import { isEcdsa } from "../../../protocol/signatures/signature-forms.ts";
import { EngineError } from "../engine.ts";
import type { Part } from "../part-split.ts";
import { type InputOf, type Method, type OutputOf, wipeOutput, wipeSecrets } from "../plain-data.ts";
import { buffersOf, type CallMessage, type FromWorker } from "./engine-messages.ts";
import type { PlainEngine } from "./engine-over.ts";
import type { Movable, StartEngineThread } from "./engine-thread.ts";

/** Creates a call with the promise of its output. */
export function createThreadCall<M extends Method>(
  method: M,
  input: InputOf<M>,
): ThreadCall & { readonly output: Promise<OutputOf<M>> } {
  let resolve: (output: OutputOf<M>) => void;
  let reject: (cause: unknown) => void;
  const output = new Promise<OutputOf<M>>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  let isBegun = false;
  let isOver = false;
  let running: readonly ThreadSlot[] = [];
  const here = new AbortController();
  const outputs: OutputOf<Method>[] = [];

  function fail(cause: unknown): void {
    if (isOver) return;
    isOver = true;
    // After the transfer the worker owns the input and overwrites it.
    if (!isBegun) wipeSecrets(input);
    for (const found of outputs) wipeOutput(found);
    for (const slot of running) slot.cancel();
    here.abort(cause);
    reject(cause);
  }

  function onAnswer(answer: ThreadAnswer): void {
    if ("failure" in answer) {
      fail(answer.failure);
    } else if (isOver) {
      // The call was aborted while the output was in transit.
      wipeOutput(answer.output);
    } else {
      outputs.push(answer.output);
      if (outputs.length === running.length) finish();
    }
  }

  function finish(): void {
    if (!areEqual(outputs)) {
      fail(new EngineError("sign message: two workers computed different halves; nothing was sent"));
      return;
    }
    isOver = true;
    // The worker ran this method, so the output has its type.
    resolve(outputs[0] as OutputOf<M>);
  }

  return {
    output,
    isShareable: "triple" in input && isEcdsa(input.triple.signatureAlgorithm),
    runOn(slots) {
      isBegun = true;
      running = slots;
      const { port1, port2 } = new MessageChannel();
      const inputs = [input, ...(slots.length > 1 ? [copyOf(input)] : [])];
      for (const [index, slot] of slots.entries()) {
        const own = inputs[index]!;
        const call = { kind: "call", id: ++lastId, method, input: own } as const;
        const port = index === 0 ? port1 : port2;
        try {
          if (slots.length === 1) slot.run(call, buffersOf(own), onAnswer);
          else
            slot.run({ ...call, peer: { part: index as Part, port } }, [...buffersOf(own), port], onAnswer);
        } catch (cause) {
          for (const left of inputs.slice(index)) wipeSecrets(left);
          fail(new EngineError("the call could not be sent to a worker", { cause }));
          break;
        }
      }
      if (slots.length === 1) port1.close();
    },
    runWith(engine) {
      isBegun = true;
      engine.run(method, input, here.signal).then(resolve, reject);
    },
    fail,
  };
}

/** A call that waits for a worker or runs on one or two. */
export interface ThreadCall {
  /** True if two workers can share the call. */
  readonly isShareable: boolean;
  /** Runs the call on one worker or on two. */
  runOn(slots: readonly ThreadSlot[]): void;
  /** Runs the call on another engine, if there are no workers. */
  runWith(engine: PlainEngine): void;
  /** Fails the call, whether it waits or runs. */
  fail(cause: unknown): void;
}

let lastId = 0;

/** Returns whether two workers that share a half returned the same whole half. */
function areEqual([first, second]: readonly OutputOf<Method>[]): boolean {
  if (second === undefined) return true;
  return first instanceof Uint8Array && second instanceof Uint8Array && equalBytes(first, second);
}

function copyOf<Input extends object>(input: Input): Input {
  const entries = Object.entries(input) as [string, unknown][];
  return Object.fromEntries(
    entries.map(([name, value]) => [name, value instanceof Uint8Array ? Uint8Array.from(value) : value]),
  ) as Input;
}

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

type ThreadAnswer = { readonly output: OutputOf<Method> } | { readonly failure: Error };

interface ThreadSlotEvents {
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
