import { createClient } from "threshold-signing-client";
import { createWorkerEngine } from "threshold-signing-client/worker";

globalThis.makeClient = (options) => createClient({ ...options, engine: createWorkerEngine() });
