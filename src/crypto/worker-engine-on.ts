import { callsHere, closedEngine } from "./calls-here.ts";
import { callsOnThreads } from "./calls-on-threads.ts";
import type { CryptoEngine } from "./engine.ts";
import { engineOver, type PlainEngine } from "./engine-over.ts";
import { type StartEngineThread, usefulThreadCount } from "./engine-thread.ts";
import { wipeSecrets } from "./plain-data.ts";

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
