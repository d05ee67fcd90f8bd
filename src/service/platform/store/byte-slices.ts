/**
 * Joins byte strings into one parameter of a statement. The driver sends it in binary, but writes an array of byte
 * strings as text. `substring(bytes FROM at FOR length)` is a slice.
 *
 * @example
 * const { bytes, slices } = joinSlices([Uint8Array.of(1, 2), Uint8Array.of(3)]);
 * // slices is [{ at: 1, length: 2 }, { at: 3, length: 1 }]
 */
export function joinSlices(parts: readonly Uint8Array[]): {
  readonly bytes: Uint8Array;
  readonly slices: readonly ByteSlice[];
} {
  let next = 1;
  const slices = parts.map(({ length }) => {
    const at = next;
    next += length;
    return { at, length };
  });
  return { bytes: Buffer.concat(parts), slices };
}

/** The place of a byte string in the joined bytes, counted from 1, and its length. */
interface ByteSlice {
  readonly at: number;
  readonly length: number;
}
