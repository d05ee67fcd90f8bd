import { MalformedBytesError } from "./bytes.ts";

/** Opens a reader at the start of `bytes`; `what` names the value in error messages. */
export function byteReader(bytes: Uint8Array, what: string): ByteReader {
  let offset = 0;
  const fail = (problem: string): never => {
    throw new MalformedBytesError(`${what}: ${problem}`);
  };
  const take = (length: number): Uint8Array => {
    if (length > bytes.length - offset) {
      fail(`needs ${length} bytes at offset ${offset}, has ${bytes.length - offset}`);
    }
    offset += length;
    return bytes.subarray(offset - length, offset);
  };
  const uleb128 = (): number => {
    let value = 0;
    for (let position = 0; position < 5; position++) {
      const byte = take(1)[0]!;
      value += (byte & 127) * 2 ** (7 * position);
      if (byte < 128) {
        if (byte === 0 && position > 0) fail("length is not canonical ULEB128");
        if (value > 0xffff_ffff) break;
        return value;
      }
    }
    return fail("length exceeds 32 bits");
  };
  return {
    get offset() {
      return offset;
    },
    get remaining() {
      return bytes.length - offset;
    },
    uint8: () => take(1)[0]!,
    uint32: () => {
      const word = take(4);
      return new DataView(word.buffer, word.byteOffset, 4).getUint32(0, true);
    },
    uleb128,
    take,
    vector: (length) => {
      const actual = uleb128();
      if (length !== undefined && actual !== length)
        fail(`expected a vector of ${length} bytes, found ${actual}`);
      return take(actual);
    },
    end: () => {
      if (offset !== bytes.length) fail(`${bytes.length - offset} bytes too many`);
    },
  };
}

/**
 * A cursor over BCS bytes that never reads past the end.
 * Every method throws MalformedBytesError if the bytes are too short or not in canonical form.
 * Returned byte strings are views of the input, not copies.
 */
export interface ByteReader {
  /** The number of bytes read so far. */
  readonly offset: number;
  /** The number of bytes left. */
  readonly remaining: number;
  uint8(): number;
  /** Reads four bytes as a little-endian number. */
  uint32(): number;
  /** Reads a length in canonical ULEB128, below 2^32. */
  uleb128(): number;
  take(length: number): Uint8Array;
  /** Reads a `vector<u8>`. If `length` is given, the vector must have exactly that length. */
  vector(length?: number): Uint8Array;
  /** Checks that no bytes are left. */
  end(): void;
}
