import { concatBytes } from "@noble/hashes/utils.js";
import { bigIntFromLittleEndian, bigIntToLittleEndian, signedBigIntFromLittleEndian } from "../bytes.ts";
import {
  type ClassGroupConstants,
  CURVE25519_CONSTANTS,
  SECP256K1_CONSTANTS,
  SECP256R1_CONSTANTS,
} from "./constants.ts";
import { type Form, type FormGroup, formGroup } from "./forms.ts";
import { floorMod, invertMod, jacobiSymbol } from "./integers.ts";
import type { OrderGroup } from "./maximal-order.ts";

/** A class group in which one curve's scalars are encrypted (CL15 with k = 1, BICYCL's CL_HSMqk). */
export interface ClassGroup extends OrderGroup {
  /** Which of the three groups: "secp256k1", "secp256r1" or "curve25519". */
  readonly name: string;
  /** The order of the plaintext space: the curve's order. */
  readonly q: bigint;
  /** The prime with discriminant = -p*q^3. */
  readonly p: bigint;
  /** The base of encryption keys and randomisers. */
  readonly h: Form;
}

/** Thrown for bytes that do not encode a form of the expected group. */
export class InvalidFormError extends Error {
  override readonly name = "InvalidFormError";
}

/** The length of an encoded form: see {@link encodeForm}. */
export const FORM_BYTES = 256;

/**
 * Returns the class group of a curve by its chain number (0 SECP256K1, 1 SECP256R1, 2 ED25519, 3 RISTRETTO). Throws a
 * RangeError for another number.
 */
export function classGroupOfCurve(curve: number): ClassGroup {
  const group = GROUP_OF_CURVE[curve];
  if (group === undefined) throw new RangeError(`unknown curve ${curve}`);
  return group;
}

/** Encodes a form as the protocol does: a in 128 little-endian bytes, then b in 128 bytes in two's complement. */
export function encodeForm(form: Form): Uint8Array {
  return concatBytes(bigIntToLittleEndian(form.a, 128), bigIntToLittleEndian(form.b, 128));
}

/**
 * Decodes the output of {@link encodeForm}.
 * Throws InvalidFormError unless the form is reduced, positive definite, primitive and of the group's discriminant.
 */
export function decodeForm(group: ClassGroup, bytes: Uint8Array): Form {
  if (bytes.length !== FORM_BYTES)
    throw new InvalidFormError(`a form has ${FORM_BYTES} bytes, not ${bytes.length}`);
  const a = bigIntFromLittleEndian(bytes.subarray(0, 128));
  const form = completeForm(group, a, signedBigIntFromLittleEndian(bytes.subarray(128)));
  // Only q can divide all three coefficients of a form of discriminant -p*q^3. Such a form is not in the group.
  if (form.a % group.q === 0n && form.b % group.q === 0n && form.c % group.q === 0n)
    throw new InvalidFormError("the form is not primitive");
  return form;
}

/**
 * Returns the form with these leading coefficients. Throws InvalidFormError unless it is reduced and of this
 * discriminant.
 */
export function completeForm(group: FormGroup, a: bigint, b: bigint): Form {
  if (a <= 0n) throw new InvalidFormError("the form is not positive definite");
  const dividend = b * b - group.discriminant;
  const c = dividend / (4n * a);
  if (c * 4n * a !== dividend) throw new InvalidFormError("the form has another discriminant");
  if (b <= -a || b > a || a > c || (a === c && b < 0n)) throw new InvalidFormError("the form is not reduced");
  return { a, b, c };
}

/**
 * Returns whether the class is a square. All keys and ciphertexts are, because f and h are. Half of all classes are
 * not: a square times the only class of order two, that of p*X^2 + p*X*Y + ... A class is a square if the numbers that
 * its forms represent are squares modulo p (genus theory; Cox, "Primes of the form x^2 + n y^2", section 6).
 */
export function isSquare({ p }: ClassGroup, { a, c }: Form): boolean {
  // If p divides a, it divides b, and so not c.
  return jacobiSymbol(a % p === 0n ? c : a, p) === 1;
}

/**
 * Returns f^m, the encoding of a scalar in the subgroup of order q where logarithms are easy (BICYCL, Algorithm Solve).
 */
export function scalarToForm(group: ClassGroup, scalar: bigint): Form {
  const m = floorMod(scalar, group.q);
  if (m === 0n) return group.identity;
  // b = u*q with u = 1/m must have the parity of the discriminant, which is odd.
  const inverse = invertMod(m, group.q);
  const b = (inverse % 2n === 1n ? inverse : inverse - group.q) * group.q;
  return completeForm(group, group.q * group.q, b);
}

/** Returns the scalar m of f^m. Throws InvalidFormError if the form is not a power of f. */
export function formToScalar(group: ClassGroup, form: Form): bigint {
  if (form.a === 1n) return 0n;
  if (form.a !== group.q * group.q || form.b % group.q !== 0n) {
    throw new InvalidFormError("the form is not in the subgroup of encoded scalars");
  }
  return invertMod(form.b / group.q, group.q);
}

function classGroup(name: string, { q, discriminant, h }: ClassGroupConstants): ClassGroup {
  const group = formGroup(discriminant);
  const maximal = formGroup(discriminant / q ** 2n);
  return { ...group, maximal, name, q, p: -discriminant / q ** 3n, h: completeForm(group, h.a, h.b) };
}

const CURVE25519 = classGroup("curve25519", CURVE25519_CONSTANTS);
const GROUP_OF_CURVE = [
  classGroup("secp256k1", SECP256K1_CONSTANTS),
  classGroup("secp256r1", SECP256R1_CONSTANTS),
  CURVE25519,
  CURVE25519,
] as const;
