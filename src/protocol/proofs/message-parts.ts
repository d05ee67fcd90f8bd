import { concatBytes } from "@noble/hashes/utils.js";
import { type ByteReader, byteReader } from "../byte-reader.ts";
import { bigIntFromLittleEndian, encodeVector } from "../bytes.ts";
import { rejectUnless } from "./rejected-input.ts";

/** Opens a versioned value of version 1, which BCS numbers 0: the tag, then a vector that holds the body. */
export function openVersion0(bytes: Uint8Array, what: string): ByteReader {
  const outer = byteReader(bytes, what);
  const version = outer.uint8();
  rejectUnless(version === 0, `${what}: unknown version ${version}`);
  const body = outer.vector();
  outer.end();
  return byteReader(body, what);
}

/** Encodes a body for {@link openVersion0}: 00 | vec(body). */
export function encodeVersion0(...body: readonly Uint8Array[]): Uint8Array {
  return concatBytes(Uint8Array.of(0), encodeVector(concatBytes(...body)));
}

/** Reads a 128-bit challenge. */
export function readUint128(reader: ByteReader): bigint {
  return bigIntFromLittleEndian(reader.vector(16));
}

/** Reads a proof's response for encryption randomness: 24 words, below the protocol's bound of 1278 bits. */
export function readRandomnessResponse(reader: ByteReader): bigint {
  const response = bigIntFromLittleEndian(reader.vector(192));
  rejectUnless(response >> 1278n === 0n, "randomness response exceeds 1278 bits");
  return response;
}
