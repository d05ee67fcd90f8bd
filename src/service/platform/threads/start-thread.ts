import { readlinkSync } from "node:fs";
import { constants, setPriority } from "node:os";
import { type ResourceLimits, Worker } from "node:worker_threads";

/**
 * Starts a module on a new thread: through tsx when running from source, compiled in the published package.
 * @param importer `import.meta.url` of the caller
 * @param module the module next to the caller, without its extension, such as `./network-mpc-worker`
 * @param workerData the module's `workerData`
 * @param resourceLimits memory limits; default: Node's limits
 */
export function startThread(
  importer: string,
  module: string,
  workerData: unknown,
  resourceLimits: ResourceLimits = {},
): Worker {
  const options = { workerData, resourceLimits };
  if (!importer.endsWith(".ts")) return new Worker(new URL(`${module}.js`, importer), options);
  // `--import tsx` registers on the main thread only. tsx's API registers on the calling thread.
  const register = `import { register } from ${JSON.stringify(import.meta.resolve("tsx/esm/api"))}; register();`;
  const execArgv = ["--import", `data:text/javascript,${encodeURIComponent(register)}`];
  return new Worker(new URL(`${module}.ts`, importer), { ...options, execArgv });
}

/**
 * Gives this thread a lower priority than the other threads of the process. Use it for long computations: on a machine
 * with few cores the event loops would otherwise wait for them. Works on Linux, where each thread has its own priority;
 * does nothing elsewhere.
 */
export function lowerPriority(): void {
  const threadId = linuxThreadId();
  if (threadId !== undefined) setPriority(threadId, constants.priority.PRIORITY_LOW);
}

/** `/proc/thread-self` points to `<process>/task/<thread>` (proc(5)). */
function linuxThreadId(): number | undefined {
  try {
    return Number(readlinkSync("/proc/thread-self").split("/").at(-1));
  } catch {
    return undefined;
  }
}
