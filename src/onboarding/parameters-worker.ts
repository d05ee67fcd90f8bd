import { parentPort, workerData } from "node:worker_threads";
import { buildProtocolParameters } from "../protocol/parameters/build-protocol-parameters.ts";
import { lowerPriority } from "../threads/lower-priority.ts";

/** What the thread is started with. */
export interface ParametersWorkerData {
  /** The chain's integers, in the order in which they are wanted. */
  readonly curves: readonly number[];
  readonly networkKeyOutput: Uint8Array;
}

/** What the thread posts, once for each curve. */
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
