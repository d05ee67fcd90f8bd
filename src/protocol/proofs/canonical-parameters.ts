import { bytesToHex } from "@noble/hashes/utils.js";
import { bigIntToLittleEndian } from "../bytes.ts";
import { encodeForm } from "../class-groups/class-group.ts";
import type { Form } from "../class-groups/forms.ts";
import type { Ciphertext } from "../parameters/network-key-output.ts";
import { type CurveArithmetic, pointJson, scalarJson } from "./curve.ts";

/**
 * Public parameters in the canonical form that transcripts absorb. The protocol fixes the order and the spelling of the
 * JSON's keys, so do not rename or reorder anything here. The form excludes exponentiation tables.
 */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** The bounds of the integers used as encryption randomness. */
export const RANDOMNESS_SPACE = { order_bits: 1536, sample_bits: 749, upper_bound_bits: 1278 } as const;

/** Describes the integers modulo the curve's order. */
export function scalarGroupJson(curve: CurveArithmetic): Json {
  return {
    name: "The finite field of integers modulo prime q $\\mathbb{Z}_q$",
    order: bytesToHex(bigIntToLittleEndian(curve.order, 32)),
    generator: scalarJson(curve, 1n),
  };
}

/** Describes the curve's group of points. */
export function pointGroupJson(curve: CurveArithmetic): Json {
  const { constants } = curve;
  return {
    name: constants.name,
    curve_type: constants.equation,
    order: bytesToHex(bigIntToLittleEndian(curve.order, 32)),
    modulus: bytesToHex(constants.modulus),
    generator: pointJson(curve, curve.base),
    curve_equation_a: bytesToHex(constants.coefficientA),
    curve_equation_b: bytesToHex(constants.coefficientB),
  };
}

/** Describes `size` copies of a group. */
export function productJson(group: Json, size: number): Json {
  return { canonical_public_parameters: group, size };
}

/** Describes the group of ciphertexts: pairs of forms. */
export function ciphertextGroupJson(curve: CurveArithmetic): Json {
  const discriminant = bigIntToLittleEndian(curve.group.discriminant, 256);
  return productJson({ discriminant: bytesToHex(discriminant) }, 2);
}

/** Describes the encryption scheme under one encryption key. */
export function encryptionSchemeJson(curve: CurveArithmetic, encryptionKey: Form): Json {
  const { q, p, h } = curve.group;
  return {
    canonical_setup_parameters: {
      canonical_groups_public_parameters: {
        canonical_plaintext_space_public_parameters: scalarGroupJson(curve),
        canonical_randomness_space_public_parameters: RANDOMNESS_SPACE,
        canonical_ciphertext_space_public_parameters: ciphertextGroupJson(curve),
      },
      canonical_decryption_key_public_parameters: RANDOMNESS_SPACE,
      class_group_parameters: {
        q: bytesToHex(bigIntToLittleEndian(q, 32)),
        k: 1,
        p: bytesToHex(bigIntToLittleEndian(p, 192)),
        computational_security_parameter: 112,
      },
      h: formJson(h),
      large_message_variant: false,
    },
    encryption_key: formJson(encryptionKey),
  };
}

/** Describes the witness and statement spaces of a proof's language. */
export function languageGroupsJson(witness: Json, statement: Json): Json {
  return {
    canonical_witness_space_public_parameters: witness,
    canonical_statement_space_public_parameters: statement,
  };
}

/** Encodes a form, as the hex of its 256 bytes. */
export function formJson(form: Form): string {
  return bytesToHex(encodeForm(form));
}

/** Encodes both forms of a ciphertext. */
export function ciphertextJson(ciphertext: Ciphertext): string[] {
  return ciphertext.map(formJson);
}
