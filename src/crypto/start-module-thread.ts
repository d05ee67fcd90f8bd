import { nodeEngineThread, type StartEngineThread, webEngineThread } from "./engine-thread.ts";
import { nodeThreads } from "./node-threads.ts";

/** Starts workers from a module beside this one. Bundlers recognize the form of its URL. */
export const startModuleThread: StartEngineThread = (events) => {
  const threads = nodeThreads();
  if (threads !== undefined) return nodeEngineThread(threads, nodeWorkerUrl(), events);
  return webEngineThread(
    () => new Worker(new URL("./engine-worker.js", import.meta.url), { type: "module" }),
    events,
  );
};

/**
 * Returns the URL of Node's worker. When the code runs from source, it is a module that first loads TypeScript support.
 */
function nodeWorkerUrl(): URL {
  const name = import.meta.url.endsWith(".ts") ? "./engine-worker-from-source.mjs" : "./engine-worker.js";
  return new URL(name, import.meta.url);
}
