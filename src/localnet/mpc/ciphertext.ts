import type { ByteReader } from "../../protocol/byte-reader.ts";
import { concatBytes, encodeVector } from "../../protocol/bytes.ts";
import { decodeForm, encodeForm, FORM_BYTES } from "../../protocol/class-groups/class-group.ts";
import { multiPower } from "../../protocol/class-groups/exponentiation.ts";
import { equalForms, type Form } from "../../protocol/class-groups/forms.ts";
import type { Ciphertext } from "../../protocol/parameters/network-key-output.ts";
import type { Curve } from "../../protocol/proofs/curve.ts";

/** A ciphertext in the protocol's messages: two vectors of 256 bytes. */
export function encodeCiphertext(ciphertext: Ciphertext): Uint8Array {
  return concatBytes(...ciphertext.map((form) => encodeVector(encodeForm(form))));
}

/** Reads {@link encodeCiphertext}; throws InvalidFormError for forms that are not the group's. */
export function readCiphertext(curve: Curve, reader: ByteReader): Ciphertext {
  const form = (): Form => decodeForm(curve.group, reader.vector(FORM_BYTES));
  return [form(), form()];
}

/** The encryption of the sum of weight * plaintext: the scheme is linearly homomorphic. */
export function combineCiphertexts(
  curve: Curve,
  terms: readonly { readonly ciphertext: Ciphertext; readonly weight: bigint }[],
): Ciphertext {
  const combine = (part: 0 | 1): Form =>
    multiPower(
      curve.group,
      terms.map(({ ciphertext, weight }) => ({ base: ciphertext[part], exponent: weight })),
    );
  return [combine(0), combine(1)];
}

/** True if both are the same pair of classes. */
export function equalCiphertexts(left: Ciphertext, right: Ciphertext): boolean {
  return equalForms(left[0], right[0]) && equalForms(left[1], right[1]);
}
