import type { MpcOutcome, NetworkDkgInput, NetworkPresignInput, NetworkSignInput } from "./engine.ts";

export interface MpcWorkerData {
  readonly seed: Uint8Array;
  readonly cacheDirectory: string | undefined;
}

/** One call. The worker answers calls in order with one message each. */
export type MpcJob =
  | { readonly method: "networkDkgPublicOutput" }
  | { readonly method: "dkg"; readonly input: NetworkDkgInput }
  | { readonly method: "presign"; readonly input: NetworkPresignInput }
  | { readonly method: "sign"; readonly input: NetworkSignInput };

/** An outcome, or an error of the worker's own code. */
export type MpcAnswer = MpcOutcome | { readonly kind: "failed"; readonly message: string };
