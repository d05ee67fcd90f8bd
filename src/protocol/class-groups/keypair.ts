import { chacha20 } from "@noble/ciphers/chacha.js";
import { concatBytes } from "@noble/hashes/utils.js";
import {
  bigIntFromLittleEndian,
  bigIntToLittleEndian,
  byteReader,
  encodeVector,
  MalformedBytesError,
} from "../bytes.ts";
import { type ClassGroup, classGroupOfCurve, decodeForm, encodeForm, FORM_BYTES } from "./class-group.ts";
import { powerForm } from "./exponentiation.ts";
import type { Form } from "./forms.ts";

/** A class-groups key pair, encoded as the chain and ika-wasm do. */
export interface ClassGroupsKeypair {
  /** The versioned encryption key h^dk, as registered on the chain: 261 bytes. */
  readonly encryptionKey: Uint8Array;
  /** The decryption key dk: 194 bytes. Secret. */
  readonly decryptionKey: Uint8Array;
}

/**
 * Derives the same key pair as ika-wasm 0.2.1 from the same seed (`createClassGroupsKeypair` of the Ika SDK), in about
 * one fiftieth of its time. Not constant-time. Throws a RangeError for an unknown curve or a seed that is not 32 bytes.
 */
export function deriveClassGroupsKeypair(curve: number, seed: Uint8Array): ClassGroupsKeypair {
  const group = classGroupOfCurve(curve);
  const exponent = deriveDecryptionExponent(seed);
  return {
    encryptionKey: encodeEncryptionKey(powerForm(group, group.h, exponent)),
    decryptionKey: encodeVector(bigIntToLittleEndian(exponent, 192)),
  };
}

/** Encodes an encryption key as the chain does: version 0, then a vector that contains the vector of the form. */
export function encodeEncryptionKey(key: Form): Uint8Array {
  return concatBytes(Uint8Array.of(0), encodeVector(encodeVector(encodeForm(key))));
}

/** Decodes the output of {@link encodeEncryptionKey}. Throws MalformedBytesError or InvalidFormError. */
export function decodeEncryptionKey(group: ClassGroup, bytes: Uint8Array): Form {
  const outer = byteReader(bytes, "encryption key");
  const version = outer.uint8();
  const inner = byteReader(outer.vector(), "encryption key");
  outer.end();
  if (version !== 0) throw new MalformedBytesError(`encryption key: unknown version ${version}`);
  const form = decodeForm(group, inner.vector(FORM_BYTES));
  inner.end();
  return form;
}

/**
 * Draws a uniform number below 2^749 from ChaCha20's key stream. It draws the highest word first, masks the bits beyond
 * the length of the bound, and repeats while the word exceeds the highest word of the bound. Then it draws the 92 lower
 * bytes. If the number reaches the bound, it starts over. 2^749 is the statistical bound on the group's order below
 * which the protocol samples keys and randomisers.
 */
export function deriveDecryptionExponent(seed: Uint8Array): bigint {
  const stream = byteReader(chacha20KeyStream(seed, KEY_STREAM_BYTES), "key stream");
  for (;;) {
    let high = stream.uint32() & HIGH_WORD_MASK;
    while (high > HIGH_WORD_OF_BOUND) high = stream.uint32() & HIGH_WORD_MASK;
    const value = (BigInt(high) << 736n) | bigIntFromLittleEndian(stream.take(92));
    if (value < EXPONENT_BOUND) return value;
  }
}

/** Throws a RangeError if the key has another length than 32 bytes. */
function chacha20KeyStream(key: Uint8Array, length: number): Uint8Array {
  if (key.length !== 32) throw new RangeError("a ChaCha20 key has 32 bytes");
  return chacha20(key, NONCE, new Uint8Array(length));
}

const NONCE = new Uint8Array(12);
/** Each retry has probability below one half, so this much key stream is never used up in practice. */
const KEY_STREAM_BYTES = 4_096;
const EXPONENT_BOUND = 1n << 749n;
const HIGH_WORD_OF_BOUND = 0x2000;
const HIGH_WORD_MASK = 0x3fff;
