import type { Worker } from "node:worker_threads";
import { UnsupportedOutputError } from "../../protocol/parameters/network-key-output.ts";
import type { NetworkKey, NetworkReader } from "../chain/reader.ts";
import { createBackgroundLoop } from "../platform/lifecycle/background-loop.ts";
import type { Clock } from "../platform/lifecycle/clock.ts";
import type { Log } from "../platform/telemetry/logger.ts";
import { startThread } from "../platform/threads/start-thread.ts";
import type { ParameterStore, StoredParameters } from "./parameter-store.ts";
import type { BuiltParameters, ParametersWorkerData } from "./parameters-worker.ts";

/**
 * Builds compact protocol parameters from a network key's outputs, on a thread that ends afterwards. Does not rebuild
 * parameters that this folder has, because reconfigurations do not change them. Serves nothing for a key with
 * unreadable outputs until the network writes a readable one.
 */
export function createParameterBuilder({
  reader,
  store,
  curves,
  intervalMs = DEFAULT_INTERVAL_MS,
  clock,
  log,
}: ParameterBuilderOptions): ParameterBuilder {
  const ready = new Map<string, StoredParameters[]>();
  const unreadable = new Set<string>();
  let worker: Worker | undefined;
  const loop = createBackgroundLoop({ name: "protocol parameters", pass, intervalMs, clock, log });
  return {
    ready: () =>
      [...ready].flatMap(([networkKeyId, known]) =>
        known.map((parameters) => ({ ...parameters, networkKeyId })),
      ),
    start: () => loop.start(),
    async stop() {
      const stopped = loop.stop();
      await worker?.terminate();
      await stopped;
    },
  };

  async function pass(signal: AbortSignal): Promise<undefined> {
    const keys = await reader.networkKeys();
    for (const key of [...keys].reverse()) await build(key, signal);
  }

  async function build(key: NetworkKey, signal: AbortSignal): Promise<void> {
    const known = ready.get(key.id) ?? (await store.find(key.id));
    ready.set(key.id, known);
    const missing = curves.filter((curve) => !known.some((parameters) => parameters.curve === curve));
    if (missing.length === 0) return;
    const networkKeyOutput = await readable(key);
    if (signal.aborted || networkKeyOutput === undefined) return;
    const data = { curves: missing, networkKeyOutput };
    worker = startThread(import.meta.url, "./parameters-worker", data satisfies ParametersWorkerData);
    await collect(worker, async ({ curve, bytes }) => {
      const parameters = await store.put(key.id, curve, bytes);
      known.push(parameters);
      log.info({ ...parameters }, "protocol parameters are ready");
    });
  }

  /** Returns the key's output, or undefined if it is not readable. Logs that once. */
  async function readable(key: NetworkKey): Promise<Uint8Array | undefined> {
    try {
      return await reader.networkKeyOutput(key.id);
    } catch (error) {
      if (!(error instanceof UnsupportedOutputError)) throw error;
      if (!unreadable.has(key.id))
        log.warn(
          { networkEncryptionKeyId: key.id, version: error.version },
          "a network key has no readable output; not serving its parameters",
        );
      unreadable.add(key.id);
      return undefined;
    }
  }
}

export interface ParameterBuilderOptions {
  readonly reader: Pick<NetworkReader, "networkKeys" | "networkKeyOutput">;
  readonly store: ParameterStore;
  /** The chain's integers, in the order of their priority. */
  readonly curves: readonly number[];
  readonly clock: Clock;
  /** The interval between checks for a newer network key. Default 10 s. */
  readonly intervalMs?: number;
  readonly log: Log;
}

export interface KeyParameters extends StoredParameters {
  readonly networkKeyId: string;
}

/** The parameters of all network keys, as they become ready. */
export interface ParameterBuilder {
  ready(): readonly KeyParameters[];
  /** Builds missing parameters, those of the newest key first, and checks for newer keys at intervals. */
  start(): void;
  /** Stops a running build. */
  stop(): Promise<void>;
}

const DEFAULT_INTERVAL_MS = 10_000;

/** Handles the thread's messages until it ends. Rejects if it ends with an error. */
async function collect(worker: Worker, take: (built: BuiltParameters) => Promise<void>): Promise<void> {
  let taken: Promise<void> = Promise.resolve();
  await new Promise<void>((resolve, reject) => {
    worker.on("message", (built: BuiltParameters) => {
      taken = taken.then(() => take(built));
      taken.catch(reject);
    });
    worker.on("error", reject);
    worker.on("exit", () => resolve());
  });
  await taken;
}
