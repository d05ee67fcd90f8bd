/** The program of a `createWorkerEngine` worker, in Node and in browsers. */
import { nodeThreads } from "./engine-thread.ts";
import { type EnginePort, serveEngine } from "./serve-engine.ts";

const port = nodeThreads()?.parentPort ?? globalThis;
serveEngine(port as EnginePort);
