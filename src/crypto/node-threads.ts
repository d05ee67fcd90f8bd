/** What an engine moves to a worker. */
export type Movable = ArrayBuffer | MessagePort;

export interface NodeThreads {
  readonly Worker: new (source: URL | string, options?: { readonly eval?: boolean }) => NodeWorker;
  /** The parent's end in a worker, null on the main thread. */
  readonly parentPort: unknown;
  /** How many threads this machine runs at once. */
  readonly parallelCount: number;
}

/** A worker of Node's. */
export interface NodeWorker {
  on(event: "message", listener: (message: unknown) => void): void;
  on(event: "error", listener: (cause: unknown) => void): void;
  on(event: "exit", listener: (code: number) => void): void;
  postMessage(message: unknown, transfer: readonly Movable[]): void;
  terminate(): Promise<number>;
  ref(): void;
  unref(): void;
}

/**
 * Node's threads, or undefined where this is no Node. Asked of the running program, not imported: bundlers for browsers
 * see no module of Node's, and need no configuration.
 */
export function nodeThreads(): NodeThreads | undefined {
  const load = globalThis.process?.getBuiltinModule;
  // Older than Node 20.16, or a browser.
  if (load === undefined) return undefined;
  const { Worker, parentPort } = load("node:worker_threads");
  // The ports that the types of browsers and of Node tell apart are the same here.
  const Narrow = Worker as unknown as NodeThreads["Worker"];
  return { Worker: Narrow, parentPort, parallelCount: load("node:os").availableParallelism() };
}
