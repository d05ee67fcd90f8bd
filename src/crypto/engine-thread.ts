import type { FromWorker, ToWorker } from "./engine-messages.ts";
import { type Movable, type NodeThreads, nodeThreads } from "./node-threads.ts";

/** A worker as its engine sees it. */
export interface EngineThread {
  post(message: ToWorker, transfer: readonly Movable[]): void;
  /** Whether a Node process stays alive for this worker. It does not at first. */
  hold(isHeld: boolean): void;
  /** Ends it at once, with whatever it does. */
  terminate(): void;
}

/** What an engine hears of a worker. */
export interface EngineThreadEvents {
  onMessage(message: FromWorker): void;
  /** It ended, or was never there. Nothing follows. */
  onEnd(cause: unknown): void;
}

/** Starts a worker. Throws where that is impossible; what turns out later is an `onEnd`. */
export type StartEngineThread = (events: EngineThreadEvents) => EngineThread;

/** How many workers are of use: two share an ECDSA half. */
export function usefulThreadCount(): number {
  const parallelCount = nodeThreads()?.parallelCount ?? globalThis.navigator?.hardwareConcurrency ?? 1;
  return Math.min(2, parallelCount);
}

/** A worker of Node's, of a module or of a program's text. */
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

/** A worker of a browser's. */
export function webEngineThread(start: () => Worker, { onMessage, onEnd }: EngineThreadEvents): EngineThread {
  if (typeof Worker === "undefined") throw new Error("there are no workers here");
  const worker = start();
  worker.onmessage = ({ data }: MessageEvent<FromWorker>) => onMessage(data);
  const end = (cause: unknown): void => {
    worker.onmessage = null;
    worker.terminate();
    onEnd(cause);
  };
  // An error that nobody caught does not end a browser's worker, and nobody knows what it does afterwards.
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
