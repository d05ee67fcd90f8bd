import type { FromWorker, ToWorker } from "./engine-messages.ts";
import { type Movable, type NodeThreads, nodeThreads } from "./node-threads.ts";

/** The engine's handle of a worker. */
export interface EngineThread {
  post(message: ToWorker, transfer: readonly Movable[]): void;
  /** Sets whether this worker keeps a Node process alive. Initially it does not. */
  hold(isHeld: boolean): void;
  /** Terminates the worker at once, even during a call. */
  terminate(): void;
}

export interface EngineThreadEvents {
  onMessage(message: FromWorker): void;
  /** The worker ended or failed to start. This is the last event. */
  onEnd(cause: unknown): void;
}

/** Starts a worker. Throws if that is impossible; reports later failures through `onEnd`. */
export type StartEngineThread = (events: EngineThreadEvents) => EngineThread;

/**
 * Returns the default number of workers: two, which can share an ECDSA half, or one on a machine with one processor.
 */
export function usefulThreadCount(): number {
  const parallelCount = nodeThreads()?.parallelCount ?? globalThis.navigator?.hardwareConcurrency ?? 1;
  return Math.min(2, parallelCount);
}

/** Starts a Node worker from a module's URL or from the text of a program. */
export function nodeEngineThread(
  { Worker }: NodeThreads,
  source: URL | string,
  { onMessage, onEnd }: EngineThreadEvents,
): EngineThread {
  const worker = new Worker(source, { eval: typeof source === "string" });
  let failure: unknown;
  worker.on("message", (message) => onMessage(message as FromWorker));
  worker.on("error", (cause) => {
    failure = cause;
  });
  worker.on("exit", (code) => onEnd(failure ?? new Error(`a worker ended with code ${code}`)));
  worker.unref();
  return {
    post: (message, transfer) => worker.postMessage(message, transfer),
    hold: (isHeld) => (isHeld ? worker.ref() : worker.unref()),
    terminate: () => void worker.terminate(),
  };
}

/** Starts a browser's worker. */
export function webEngineThread(start: () => Worker, { onMessage, onEnd }: EngineThreadEvents): EngineThread {
  if (typeof Worker === "undefined") throw new Error("this platform has no workers");
  const worker = start();
  worker.onmessage = ({ data }: MessageEvent<FromWorker>) => onMessage(data);
  const end = (cause: unknown): void => {
    worker.onmessage = null;
    worker.terminate();
    onEnd(cause);
  };
  // An uncaught error does not end a browser's worker, but leaves it in an unknown state.
  worker.onerror = (event) => {
    event.preventDefault();
    end(new Error(event.message ?? "a worker could not be loaded"));
  };
  worker.onmessageerror = () => end(new Error("a worker's message could not be read"));
  return {
    post: (message, transfer) => worker.postMessage(message, [...transfer]),
    hold: () => {},
    terminate: () => end(new Error("a worker was ended")),
  };
}
