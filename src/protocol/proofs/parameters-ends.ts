import { concatBytes } from "@noble/hashes/utils.js";

/** A group element at the end of the parameters: a, b and c in 256 bytes each, then sizes and its discriminant. */
const INTEGER_BYTES = 2 + 256;
/** How long that element is. */
export const ELEMENT_BYTES = 3 * INTEGER_BYTES + 4 + 2 * INTEGER_BYTES + 4;
/** Two points and two ciphertexts at the start of the parameters, where points are longest. */
const HEAD_BYTES = 2 * 34 + 4 * INTEGER_BYTES;

/**
 * A curve's protocol parameters without the tables between their ends: some kilobytes, from which `readNetworkKeyParts`
 * reads the same.
 */
export function withoutTables(parameters: Uint8Array): Uint8Array {
  if (parameters.length <= HEAD_BYTES + ELEMENT_BYTES) return parameters;
  return concatBytes(parameters.subarray(0, HEAD_BYTES), parameters.subarray(-ELEMENT_BYTES));
}
