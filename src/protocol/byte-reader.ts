import { MalformedBytesError } from "./bytes.ts";

/**
 * A cursor over BCS bytes that never reads past the end.
 * Every method throws MalformedBytesError when the bytes are too short or are not in canonical form.
 * What is returned are views on the input, not copies.
 */
export interface ByteReader {
  /** How many bytes were read so far. */
  readonly offset: number;
  /** How many bytes are left. */
  readonly remaining: number;
  /** The next byte. */
  uint8(): number;
  /** The next four bytes as a little-endian number. */
  uint32(): number;
  /** The next ULEB128 length, canonical and below 2^32. */
  uleb128(): number;
  /** The next `length` bytes. */
  take(length: number): Uint8Array;
  /** The next `vector<u8>`. With `length`, its length must be exactly that. */
  vector(length?: number): Uint8Array;
  /** Checks that nothing is left: trailing bytes are malformed. */
  end(): void;
}

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
