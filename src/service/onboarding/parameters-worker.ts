import { parentPort, workerData } from "node:worker_threads";
import { buildProtocolParameters } from "../../protocol/parameters/build-protocol-parameters.ts";
import { lowerPriority } from "../platform/threads/start-thread.ts";

/** The data that the thread starts with. */
export interface ParametersWorkerData {
  /** The chain's integers, in the order of their priority. */
  readonly curves: readonly number[];
  readonly networkKeyOutput: Uint8Array;
}

/** The message that the thread posts for each curve. */
export interface BuiltParameters {
  readonly curve: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

lowerPriority();
const { curves, networkKeyOutput } = workerData as ParametersWorkerData;
for (const curve of curves) {
  const bytes = new Uint8Array(buildProtocolParameters(curve, networkKeyOutput));
  parentPort?.postMessage({ curve, bytes } satisfies BuiltParameters, [bytes.buffer]);
}
