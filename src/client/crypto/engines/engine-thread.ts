import type { GrpcSession } from "../../../protocol/chain/native-grpc.ts";
import type { FromWorker, ToWorker } from "./engine-messages.ts";

/** The engine's handle of a worker. */
interface EngineThread {
  post(message: ToWorker, transfer: readonly Movable[]): void;
  /** Sets whether this worker keeps a Node process alive. Initially it does not. */
  hold(isHeld: boolean): void;
  /** Terminates the worker at once, even during a call. */
  terminate(): void;
}

interface EngineThreadEvents {
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

/**
 * Returns Node's threads, or undefined outside Node. Loads them from the running process instead of importing them, so
 * that bundlers for browsers see no Node module and need no configuration.
 */
export function nodeThreads(): NodeThreads | undefined {
  const load = globalThis.process?.getBuiltinModule;
  // A Node older than 20.16, or a browser.
  if (load === undefined) return undefined;
  const { Worker, parentPort } = load("node:worker_threads");
  // The types of browsers and of Node distinguish two kinds of port, which are the same at run time.
  const Narrow = Worker as unknown as NodeThreads["Worker"];
  return { Worker: Narrow, parentPort, parallelCount: load("node:os").availableParallelism() };
}

/** Returns Node's HTTP/2, or undefined outside Node; loaded like the threads. */
export function nodeHttp2(): NodeHttp2 | undefined {
  return globalThis.process?.getBuiltinModule?.("node:http2");
}

/** The part of Node's HTTP/2 that clients use. */
interface NodeHttp2 {
  connect(origin: string, options: object): GrpcSession;
}

/** A value that an engine transfers to a worker. */
export type Movable = ArrayBuffer | MessagePort;

interface NodeThreads {
  readonly Worker: new (source: URL | string, options?: { readonly eval?: boolean }) => NodeWorker;
  /** The parent's end in a worker, null on the main thread. */
  readonly parentPort: unknown;
  /** The number of threads that this machine runs in parallel. */
  readonly parallelCount: number;
}

/** The part of Node's `Worker` that engines use. */
interface NodeWorker {
  on(event: "message", listener: (message: unknown) => void): void;
  on(event: "error", listener: (cause: unknown) => void): void;
  on(event: "exit", listener: (code: number) => void): void;
  postMessage(message: unknown, transfer: readonly Movable[]): void;
  terminate(): Promise<number>;
  ref(): void;
  unref(): void;
}
