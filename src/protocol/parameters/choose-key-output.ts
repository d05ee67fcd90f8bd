import { equalBytes } from "../bytes.ts";
import {
  decodeNetworkKeyOutput,
  encodeNetworkKeyOutput,
  UnsupportedOutputError,
} from "./network-key-output.ts";

/** Thrown where two outputs of one network key hold different shares or keys: one of them is not the key's. */
export class DifferingOutputsError extends Error {
  override readonly name = "DifferingOutputsError";
}

/**
 * What all readable outputs of one network key say, in the shortest form: version 2 without maps. It is the same for
 * every output of the key, whichever committee made it.
 *
 * `outputs`: the key's, the newest first. Throws UnsupportedOutputError, for the newest, where none can be read;
 * DifferingOutputsError; and for any that is malformed what `decodeNetworkKeyOutput` throws.
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
