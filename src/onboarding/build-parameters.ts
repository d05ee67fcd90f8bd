import type { Worker } from "node:worker_threads";
import type { NetworkKey, NetworkReader } from "../chain/reader.ts";
import { createBackgroundLoop } from "../coordination/background-loop.ts";
import { startThread } from "../threads/start-thread.ts";
import type { ParameterStore, StoredParameters } from "./parameter-store.ts";
import type { BuiltParameters, ParametersWorkerData } from "./parameters-worker.ts";

/** What building works with. */
export interface ParameterBuilderOptions {
  readonly reader: Pick<NetworkReader, "networkKeys" | "networkDkgOutput">;
  readonly store: ParameterStore;
  /** The chain's integers, the first wanted first. */
  readonly curves: readonly number[];
  readonly log: {
    info(fields: object, message: string): void;
    warn(fields: object, message: string): void;
    error(fields: object, message: string): void;
  };
}

/** Parameters with the network key that they are of. */
export interface KeyParameters extends StoredParameters {
  readonly networkKeyId: string;
}

/** The parameters of all network keys, as they get ready. */
export interface ParameterBuilder {
  /** Those that are ready. */
  ready(): readonly KeyParameters[];
  /** Begins to build what is missing, those of the newest key first, and looks for newer keys now and then. */
  start(): void;
  /** Ends a build that is under way. */
  stop(): Promise<void>;
}

/** How often a newer network key is looked for. */
const INTERVAL_MS = 10_000;

/**
 * Builds compact protocol parameters from the network DKG's output, on a thread that is thrown away afterwards. What
 * was built before, in this folder, is not built again. A key that was reconfigured has another form of output, which
 * this cannot read: then nothing is served, and clients build parameters from the chain themselves.
 */
export function createParameterBuilder({
  reader,
  store,
  curves,
  log,
}: ParameterBuilderOptions): ParameterBuilder {
  const ready = new Map<string, StoredParameters[]>();
  let worker: Worker | undefined;
  const loop = createBackgroundLoop({ name: "protocol parameters", pass, intervalMs: INTERVAL_MS, log });
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
    if (key.isReconfigured) {
      if (ready.get(key.id)?.length !== 0) {
        log.warn(
          { networkEncryptionKeyId: key.id },
          "no parameters are served for a reconfigured network key",
        );
      }
      ready.set(key.id, []);
      return;
    }
    const known = ready.get(key.id) ?? (await store.find(key.id));
    ready.set(key.id, known);
    const missing = curves.filter((curve) => !known.some((parameters) => parameters.curve === curve));
    if (missing.length === 0) return;
    const data = { curves: missing, networkDkgOutput: await reader.networkDkgOutput(key.id) };
    if (signal.aborted) return;
    worker = startThread(import.meta.url, "./parameters-worker", data satisfies ParametersWorkerData);
    await collect(worker, async ({ curve, bytes }) => {
      const parameters = await store.put(key.id, curve, bytes);
      known.push(parameters);
      log.info({ ...parameters }, "protocol parameters are ready");
    });
  }
}

/** Takes what the thread posts until it ends; rejects when it ends with an error. */
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
