import { concatBytes } from "@noble/hashes/utils.js";
import type { ByteReader } from "../byte-reader.ts";
import { encodeVector } from "../bytes.ts";
import { decodeForm, encodeForm, FORM_BYTES } from "../class-groups/class-group.ts";
import { multiPower } from "../class-groups/exponentiation.ts";
import { equalForms, type Form } from "../class-groups/forms.ts";
import type { Ciphertext } from "../parameters/network-key-output.ts";
import type { CurveArithmetic } from "./curve.ts";

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
