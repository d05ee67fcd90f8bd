import { concatBytes } from "@noble/hashes/utils.js";

/**
 * Returns a curve's protocol parameters without the tables in the middle: a few kilobytes. `readNetworkKeyParts`
 * returns the same for them.
 */
export function withoutTables(parameters: Uint8Array): Uint8Array {
  if (parameters.length <= HEAD_BYTES + ELEMENT_BYTES) return parameters;
  return concatBytes(parameters.subarray(0, HEAD_BYTES), parameters.subarray(-ELEMENT_BYTES));
}

/** A group element at the end of the parameters: a, b and c in 256 bytes each, then sizes and its discriminant. */
const INTEGER_BYTES = 2 + 256;
/** The length of that element. */
export const ELEMENT_BYTES = 3 * INTEGER_BYTES + 4 + 2 * INTEGER_BYTES + 4;
/**
 * The length of the two points and two ciphertexts at the start of the parameters, on the curves with longer points.
 */
const HEAD_BYTES = 2 * 34 + 4 * INTEGER_BYTES;
