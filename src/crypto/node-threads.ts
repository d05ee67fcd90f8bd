import type { GrpcSession } from "../protocol/native-grpc.ts";

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
export interface NodeHttp2 {
  connect(origin: string, options: object): GrpcSession;
}

/** A value that an engine transfers to a worker. */
export type Movable = ArrayBuffer | MessagePort;

export interface NodeThreads {
  readonly Worker: new (source: URL | string, options?: { readonly eval?: boolean }) => NodeWorker;
  /** The parent's end in a worker, null on the main thread. */
  readonly parentPort: unknown;
  /** The number of threads that this machine runs in parallel. */
  readonly parallelCount: number;
}

/** The part of Node's `Worker` that engines use. */
export interface NodeWorker {
  on(event: "message", listener: (message: unknown) => void): void;
  on(event: "error", listener: (cause: unknown) => void): void;
  on(event: "exit", listener: (code: number) => void): void;
  postMessage(message: unknown, transfer: readonly Movable[]): void;
  terminate(): Promise<number>;
  ref(): void;
  unref(): void;
}
