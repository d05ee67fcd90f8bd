import type { CryptoEngine } from "../engine.ts";
import { nodeEngineThread, nodeThreads, type StartEngineThread, webEngineThread } from "./engine-thread.ts";
import {
  createLateWorkerEngine,
  createWorkerEngineOn,
  type WorkerEngineOptions,
} from "./worker-engine-on.ts";

/**
 * Creates an engine on workers, for Node (`worker_threads`) and browsers (Web Worker). The caller's thread stays free.
 * The engine returns the same bytes as {@link createInlineEngine}. Workers start at the first call. Each runs one call
 * at a time, in order; up to 1,000 calls wait. Two idle workers share an ECDSA half and must arrive at the same bytes.
 *
 * An aborted call rejects at once, and its worker continues with the next call. If a worker crashes, its call rejects
 * and the next call gets a new worker. Idle workers do not keep a Node process alive. If no worker can be started (an
 * old runtime, a content security policy), the engine works on the caller's thread.
 *
 * A page starts the workers from a `blob:` URL, which a content security policy allows with `worker-src blob:`. With
 * `programUrl` it starts them from a file of its own site instead.
 *
 * The engine copies a secret and transfers the copy to the worker, which overwrites it when the call ends. It does not
 * overwrite numbers that the computation derived from the secret, nor the memory of a crashed or terminated worker.
 *
 * @throws {RangeError} when `workerCount` is not an integer of at least 1.
 *
 * @example
 * const engine = createWorkerEngine({ workerCount: 4 });
 * const client = createClient({ baseUrl, apiKey, network, engine });
 */
export function createWorkerEngine(
  options: WorkerEngineOptions & {
    /**
     * The URL of the workers' program, the package's file `worker-program.js`, for a page that forbids `blob:`. Default:
     * the text of the program, which this package contains.
     */
    readonly programUrl?: string | URL | undefined;
  } = {},
): CryptoEngine {
  const { programUrl } = options;
  if (programUrl !== undefined)
    return createWorkerEngineOn(startEngineThread(absoluteUrl(programUrl)), options);
  // 150 kB of text: a bundler makes a chunk of it, which a page loads with the first call.
  const load = async () => {
    const { ENGINE_WORKER_PROGRAM } = await import("./engine-worker-program.ts");
    return startEngineThread(ENGINE_WORKER_PROGRAM);
  };
  return createLateWorkerEngine(load, options);
}

/** Starts workers from the URL of a module or from the text of a script. Nothing is started before the first call. */
export function startEngineThread(program: URL | string): StartEngineThread {
  let url = typeof program === "string" ? undefined : program.href;
  return (events) => {
    const threads = nodeThreads();
    if (threads !== undefined) return nodeEngineThread(threads, program, events);
    url ??= URL.createObjectURL(new Blob([program as string], { type: "text/javascript" }));
    const place = url;
    return webEngineThread(() => new Worker(place), events);
  };
}

/** A page may give a path of its own site. Throws a TypeError for a text that is no URL. */
function absoluteUrl(url: string | URL): URL {
  return new URL(url, globalThis.location?.href);
}
