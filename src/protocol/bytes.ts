import { concatBytes, hexToBytes as decodeHex } from "@noble/hashes/utils.js";

/** Thrown for bytes or a hex string of the wrong shape. Never contains the bytes. */
export class MalformedBytesError extends Error {
  override readonly name = "MalformedBytesError";
}

/** Returns whether both byte strings are equal. Not constant-time: use it for public values only. */
export function equalBytes(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && left.every((byte, index) => byte === right[index]);
}

/** Reads hex of even length, either case, without a prefix. Throws {@link MalformedBytesError} on anything else. */
export function hexToBytes(hex: string): Uint8Array {
  // The library's own error quotes the wrong digit, which may belong to a secret.
  if (hex.length % 2 !== 0 || !/^[0-9a-fA-F]*$/.test(hex)) {
    throw new MalformedBytesError("expected an even number of hex digits");
  }
  return decodeHex(hex);
}

/**
 * Encodes `value` in `length` bytes, little-endian; negative values in two's complement. Throws a RangeError if the
 * value does not fit (for a negative one, if its sign bit would be lost).
 */
export function bigIntToLittleEndian(value: bigint, length: number): Uint8Array {
  const bits = 8 * length;
  const fits = value < 0n ? BigInt.asIntN(bits, value) === value : BigInt.asUintN(bits, value) === value;
  if (!fits) throw new RangeError(`integer does not fit in ${length} bytes`);
  // Eight bytes at a time, because shifting a long integer byte by byte is slow.
  const padded = new Uint8Array(Math.ceil(length / 8) * 8);
  const view = new DataView(padded.buffer);
  let rest = BigInt.asUintN(bits, value);
  for (let offset = 0; offset < padded.length; offset += 8) {
    view.setBigUint64(offset, BigInt.asUintN(64, rest), true);
    rest >>= 64n;
  }
  return padded.subarray(0, length);
}

/** Reads little-endian `bytes` as an unsigned integer. Empty input gives zero. */
export function bigIntFromLittleEndian(bytes: Uint8Array): bigint {
  const whole = bytes.length - (bytes.length % 8);
  let value = 0n;
  for (let index = bytes.length - 1; index >= whole; index--) value = (value << 8n) | BigInt(bytes[index]!);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let offset = whole - 8; offset >= 0; offset -= 8) {
    value = (value << 64n) | view.getBigUint64(offset, true);
  }
  return value;
}

/** Reads little-endian `bytes` as an integer in two's complement. */
export function signedBigIntFromLittleEndian(bytes: Uint8Array): bigint {
  return BigInt.asIntN(8 * bytes.length, bigIntFromLittleEndian(bytes));
}

/** Encodes `value` in `length` bytes, big-endian, unsigned. Throws a RangeError if it is negative or does not fit. */
export function bigIntToBigEndian(value: bigint, length: number): Uint8Array {
  if (value < 0n) throw new RangeError("integer is negative");
  // Reverses in place, because a copy of a secret would stay in memory.
  return bigIntToLittleEndian(value, length).reverse();
}

/** Reads big-endian `bytes` as an unsigned integer. Empty input gives zero. */
export function bigIntFromBigEndian(bytes: Uint8Array): bigint {
  const odd = bytes.length % 8;
  let value = 0n;
  for (let index = 0; index < odd; index++) value = (value << 8n) | BigInt(bytes[index]!);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let offset = odd; offset < bytes.length; offset += 8)
    value = (value << 64n) | view.getBigUint64(offset);
  return value;
}

/** Encodes `value` in four bytes, little-endian. Throws a RangeError outside 0..2^32-1. */
export function uint32ToLittleEndian(value: number): Uint8Array {
  if (!Number.isInteger(value) || value < 0 || value > 0xffff_ffff)
    throw new RangeError("not a 32-bit integer");
  return Uint8Array.of(value & 255, (value >>> 8) & 255, (value >>> 16) & 255, value >>> 24);
}

/** Encodes a length in ULEB128, as BCS writes it. Throws a RangeError outside 0..2^32-1. */
export function encodeUleb128(value: number): Uint8Array {
  if (!Number.isInteger(value) || value < 0 || value > 0xffff_ffff)
    throw new RangeError("not a 32-bit length");
  const bytes: number[] = [];
  let rest = value;
  while (rest > 127) {
    bytes.push((rest % 128) | 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
  return Uint8Array.from(bytes);
}

/** Encodes a BCS `vector<u8>`: the length in ULEB128, then the bytes. */
export function encodeVector(bytes: Uint8Array): Uint8Array {
  return concatBytes(encodeUleb128(bytes.length), bytes);
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
