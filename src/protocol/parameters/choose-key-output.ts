import { equalBytes } from "../bytes.ts";
import {
  decodeNetworkKeyOutput,
  encodeNetworkKeyOutput,
  UnsupportedOutputError,
} from "./network-key-output.ts";

/**
 * Returns the common content of all readable outputs of one network key in the shortest form: version 2 without maps.
 * Every output of the key has the same content, whichever committee made it.
 *
 * `outputs` are those of the key, the newest first. Throws UnsupportedOutputError for the newest if none is readable,
 * DifferingOutputsError, and the errors of `decodeNetworkKeyOutput` for a malformed output.
 */
export function chooseKeyOutput(outputs: readonly Uint8Array[]): Uint8Array {
  let chosen: Uint8Array | undefined;
  let unsupported: UnsupportedOutputError | undefined;
  for (const output of outputs) {
    try {
      const found = encodeNetworkKeyOutput(decodeNetworkKeyOutput(output));
      if (chosen !== undefined && !equalBytes(chosen, found))
        throw new DifferingOutputsError("the network key's outputs hold different shares or keys");
      chosen ??= found;
    } catch (error) {
      if (!(error instanceof UnsupportedOutputError)) throw error;
      unsupported ??= error;
    }
  }
  if (chosen !== undefined) return chosen;
  throw unsupported ?? new Error("a network key without an output");
}

/** Thrown if two outputs of one network key contain different shares or keys: one of them belongs to another key. */
export class DifferingOutputsError extends Error {
  override readonly name = "DifferingOutputsError";
}
