import { bytesToHex, concatBytes } from "@noble/hashes/utils.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  bigIntFromBigEndian,
  bigIntFromLittleEndian,
  bigIntToBigEndian,
  bigIntToLittleEndian,
  byteReader,
  encodeUleb128,
  encodeVector,
  equalBytes,
  hexToBytes,
  MalformedBytesError,
  signedBigIntFromLittleEndian,
  uint32ToLittleEndian,
} from "../../../src/protocol/bytes.ts";

const bytes = fc.uint8Array({ maxLength: 300 });

describe("bytes", () => {
  it("are read back from hex that equals Buffer's", () => {
    fc.assert(
      fc.property(bytes, (value) => {
        const hex = bytesToHex(value);
        expect(hex).toBe(Buffer.from(value).toString("hex"));
        expect(equalBytes(hexToBytes(hex.toUpperCase()), value)).toBe(true);
      }),
    );
  });

  it.each(["0", "0x00", "zz", " 00", "00 "])("are not read from %j", (text) => {
    expect(() => hexToBytes(text)).toThrow(MalformedBytesError);
  });
});

describe("integers in bytes", () => {
  it("are read back in either byte order, from any number of bytes", () => {
    fc.assert(
      fc.property(bytes, (value) => {
        const integer = bigIntFromLittleEndian(value);
        expect(bigIntToLittleEndian(integer, value.length)).toEqual(value);
        expect(integer).toBe(BigInt(`0x0${Buffer.from(value).reverse().toString("hex")}`));
        const big = bigIntFromBigEndian(value);
        expect(big).toBe(BigInt(`0x0${bytesToHex(value)}`));
        expect(bigIntToBigEndian(big, value.length)).toEqual(value);
      }),
    );
  });

  it("keep their sign in two's complement", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(1n << 511n), max: (1n << 511n) - 1n }), (value) => {
        expect(signedBigIntFromLittleEndian(bigIntToLittleEndian(value, 64))).toBe(value);
      }),
    );
  });

  it("are refused if they do not fit", () => {
    expect(() => bigIntToLittleEndian(256n, 1)).toThrow(RangeError);
    expect(() => bigIntToLittleEndian(-129n, 1)).toThrow(RangeError);
    expect(() => bigIntToBigEndian(-1n, 4)).toThrow(RangeError);
    expect(() => uint32ToLittleEndian(2 ** 32)).toThrow(RangeError);
    expect(() => encodeUleb128(-1)).toThrow(RangeError);
  });
});

describe("a byte reader", () => {
  it("reads back lengths, vectors and words", () => {
    fc.assert(
      fc.property(fc.nat(0xffff_ffff), bytes, (word, vector) => {
        const written = concatBytes(encodeUleb128(word), uint32ToLittleEndian(word), encodeVector(vector));
        const reader = byteReader(written, "value");
        expect(reader.uleb128()).toBe(word);
        expect(reader.uint32()).toBe(word);
        expect(reader.vector()).toEqual(vector);
        expect(reader.remaining).toBe(0);
        reader.end();
      }),
    );
  });

  it("throws a typed error instead of reading past the end", () => {
    fc.assert(
      fc.property(bytes, fc.nat(400), (value, more) => {
        const reader = byteReader(value, "value");
        expect(() => reader.take(value.length + 1 + more)).toThrow(MalformedBytesError);
        expect(() => byteReader(encodeVector(value).subarray(0, -1), "value").vector()).toThrow(
          MalformedBytesError,
        );
      }),
    );
  });

  it.each([
    ["a length that is not in its shortest form", [0x80, 0x00]],
    ["a length beyond 32 bits", [0xff, 0xff, 0xff, 0xff, 0x10]],
    ["a length that never ends", [0x80, 0x80, 0x80, 0x80, 0x80, 0x80]],
    ["a length that is cut off", [0x80]],
  ])("refuses %s", (_, value) => {
    expect(() => byteReader(Uint8Array.from(value), "value").uleb128()).toThrow(MalformedBytesError);
  });

  it("refuses a vector of a wrong length, and trailing bytes", () => {
    expect(() => byteReader(Uint8Array.of(2, 1, 1), "value").vector(3)).toThrow(
      "expected a vector of 3 bytes",
    );
    expect(() => byteReader(Uint8Array.of(1), "value").end()).toThrow("1 bytes too many");
  });
});
