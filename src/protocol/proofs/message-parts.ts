import { concatBytes } from "@noble/hashes/utils.js";
import { type ByteReader, bigIntFromLittleEndian, byteReader, encodeVector } from "../bytes.ts";
import { decodeForm, encodeForm, FORM_BYTES } from "../class-groups/class-group.ts";
import { multiPower } from "../class-groups/exponentiation.ts";
import { equalForms, type Form } from "../class-groups/forms.ts";
import type { Ciphertext } from "../parameters/network-key-output.ts";
import type { CurveArithmetic } from "./curve.ts";
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

/** Encodes a ciphertext as in the protocol's messages: two vectors of 256 bytes. */
export function encodeCiphertext(ciphertext: Ciphertext): Uint8Array {
  return concatBytes(...ciphertext.map((form) => encodeVector(encodeForm(form))));
}

/** Reads the output of {@link encodeCiphertext}. Throws InvalidFormError for forms outside the group. */
export function readCiphertext(curve: CurveArithmetic, reader: ByteReader): Ciphertext {
  const form = (): Form => decodeForm(curve.group, reader.vector(FORM_BYTES));
  return [form(), form()];
}

/** A summand of a linear combination. */
export interface CiphertextTerm {
  readonly ciphertext: Ciphertext;
  readonly weight: bigint;
}

/** Returns the encryption of the sum of weight * plaintext: the scheme is linearly homomorphic. */
export function combineCiphertexts(curve: CurveArithmetic, terms: readonly CiphertextTerm[]): Ciphertext {
  return [combineParts(curve, terms, 0), combineParts(curve, terms, 1)];
}

/** Returns one of the two forms of {@link combineCiphertexts}. */
export function combineParts(curve: CurveArithmetic, terms: readonly CiphertextTerm[], part: 0 | 1): Form {
  return multiPower(
    curve.group,
    terms.map(({ ciphertext, weight }) => ({ base: ciphertext[part], exponent: weight })),
  );
}

/** Returns whether both are the same pair of classes. */
export function equalCiphertexts(left: Ciphertext, right: Ciphertext): boolean {
  return equalForms(left[0], right[0]) && equalForms(left[1], right[1]);
}
