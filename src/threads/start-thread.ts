import { type ResourceLimits, Worker } from "node:worker_threads";

/**
 * Starts a module on a thread of its own, from source through tsx and from the published package as compiled.
 * @param importer `import.meta.url` of the caller
 * @param module the module beside it, without its ending, like `./network-mpc-worker`
 * @param workerData what the module finds as its `workerData`
 * @param resourceLimits how much memory it may use; default: Node's own limits
 */
export function startThread(
  importer: string,
  module: string,
  workerData: unknown,
  resourceLimits: ResourceLimits = {},
): Worker {
  const options = { workerData, resourceLimits };
  if (!importer.endsWith(".ts")) return new Worker(new URL(`${module}.js`, importer), options);
  // `--import tsx` registers on a main thread only; its API registers on the thread that calls it.
  const register = `import { register } from ${JSON.stringify(import.meta.resolve("tsx/esm/api"))}; register();`;
  const execArgv = ["--import", `data:text/javascript,${encodeURIComponent(register)}`];
  return new Worker(new URL(`${module}.ts`, importer), { ...options, execArgv });
}
