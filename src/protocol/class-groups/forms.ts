import { gcdWithCofactor, type LatticeBasis, MAX_EUCLID_BITS, partialEuclid } from "./euclid.ts";
import { bitLength, floorDivide, floorMod } from "./integers.ts";

/**
 * A primitive positive definite binary quadratic form a*X^2 + b*X*Y + c*Y^2 in reduced form:
 * -a < b <= a <= c, and b >= 0 if a = c. Every class has exactly one reduced form, so equal classes have equal data.
 */
export interface Form {
  readonly a: bigint;
  readonly b: bigint;
  readonly c: bigint;
}

/** The class group of one negative discriminant, with precomputed values for its composition. */
export interface FormGroup {
  readonly discriminant: bigint;
  readonly identity: Form;
  /** The bits of a vector at which the partial Euclid of a composition stops: those of the fourth root. */
  readonly boundBits: number;
}

/**
 * Prepares the class group of `discriminant`, which must be negative, 0 or 1 modulo 4, and shorter than 3000 bits
 * (RangeError).
 */
export function formGroup(discriminant: bigint): FormGroup {
  const parity = floorMod(discriminant, 4n);
  const bits = bitLength(discriminant);
  if (discriminant >= 0n || parity > 1n) throw new RangeError("not a negative discriminant");
  // Longer operands would not fit into the limbs of Euclid's algorithm.
  if (bits >= MAX_EUCLID_BITS) throw new RangeError(`a discriminant is shorter than ${MAX_EUCLID_BITS} bits`);
  const identity = { a: 1n, b: parity, c: (parity - discriminant) / 4n };
  return { discriminant, identity, boundBits: (bits + 1) >> 2 };
}

/** Returns whether both forms are the same class. */
export function equalForms(left: Form, right: Form): boolean {
  return left.a === right.a && left.b === right.b;
}

/** Returns the inverse class (Cohen, section 5.2: the opposite form). */
export function invertForm(form: Form): Form {
  return reduceForm(form.a, -form.b, form.c);
}

/** Reduces a positive definite form (Gauss; Cohen, Algorithm 5.4.2). */
export function reduceForm(a: bigint, b: bigint, c: bigint): Form {
  const { a: ra, b: rb, c: rc } = reduceOn(a, b, c, NO_BASIS);
  return { a: ra, b: rb, c: rc };
}

/** A form, and the basis on which a longer computation has this quadratic form. */
export interface FormOnBasis extends Form, LatticeBasis {}

/** Reduces the form of a basis, and changes the basis with it. */
export function reduceOn(a: bigint, b: bigint, c: bigint, basis: LatticeBasis): FormOnBasis {
  let [ra, rb, rc] = [a, b, c];
  let { r1, r2, y1, y2 } = basis;
  for (;;) {
    if (rb <= -ra || rb > ra) {
      const step = floorDivide(ra - rb, 2n * ra);
      rc += step * (rb + step * ra);
      rb += 2n * step * ra;
      r2 += step * r1;
      y2 += step * y1;
    }
    if (ra < rc || (ra === rc && rb >= 0n)) return { a: ra, b: rb, c: rc, r1, r2, y1, y2 };
    [ra, rb, rc] = [rc, -rb, ra];
    [r1, r2, y1, y2] = [r2, -r1, y2, -y1];
  }
}

const NO_BASIS: LatticeBasis = { r1: 0n, r2: 0n, y1: 0n, y2: 0n };

/** Returns the product of two classes. */
export function composeForms(group: FormGroup, left: Form, right: Form): Form {
  if (left.a === 1n) return right;
  if (right.a === 1n) return left;
  const { form, inverse } = coprimeRepresentative(left.a, right);
  const { a, b, c } = composeCoprime(group, left, form, inverse);
  return { a, b, c };
}

/**
 * Composes two forms with coprime leading coefficients a1 > 1 and a2, given the inverse of a2 modulo a1. Never computes
 * a1*a2.
 *
 * Dirichlet's composition (Cohen, Algorithm 5.4.7 with d = 1) is (a1*a2, b2 + 2*a2*u, ...) with
 * u = (b1 - b2) / (2*a2) mod a1. That is f2 on the lattice {(r, y) : r = u*y mod a1}, divided by a1, in the basis
 * (a1, 0), (u, 1). A partial Euclid finds a short basis of the same lattice, and f2 in that basis is nearly reduced:
 * the idea of Shanks' NUCOMP (Jacobson and van der Poorten, "Computational aspects of NUCOMP").
 */
export function composeCoprime(
  { discriminant, boundBits }: FormGroup,
  left: Form,
  right: Form,
  inverse: bigint,
): FormOnBasis {
  const modulus = left.a;
  const root = floorMod(((left.b - right.b) / 2n) * inverse, modulus);
  const basis = oriented(partialEuclid(modulus, root, boundBits));
  const { r1, r2, y1, y2 } = basis;
  // The gradient of f2 at the first vector. Its product with a vector is twice f2's bilinear form.
  const p = 2n * right.a * r1 + right.b * y1;
  const q = right.b * r1 + 2n * right.c * y1;
  const a = (r1 * p + y1 * q) / (2n * modulus);
  // r2*p + y2*q = modulus*b, and r1*y2 - r2*y1 = modulus. Solving both for p gives a shorter division.
  const b = y1 === 0n ? (r2 * p + y2 * q) / modulus : (2n * a * y2 - p) / y1;
  return reduceOn(a, b, (b * b - discriminant) / (4n * a), basis);
}

/**
 * Squares a form (a, b, c). Returns undefined if a and b have a common divisor. With u = -c/b mod a the form
 * (a^2, b + 2*a*u, ...) equals r^2 + y*(b*r + c*y)/a on the lattice {(r, y) : r = u*y mod a}; a short basis comes from a
 * partial Euclid (NUDUPL; Cohen, Algorithm 5.4.8).
 */
export function squareCoprime({ boundBits }: FormGroup, { a, b, c }: Form): FormOnBasis | undefined {
  const residue = floorMod(b, a);
  if (residue === 0n) return a === 1n ? { a, b, c, r1: 1n, r2: 0n, y1: 0n, y2: 1n } : undefined;
  const [gcd, inverse] = gcdWithCofactor(a, residue);
  if (gcd !== 1n) return undefined;
  const basis = oriented(partialEuclid(a, floorMod(-c * inverse, a), boundBits));
  const { r1, r2, y1, y2 } = basis;
  const e1 = (c * y1 + b * r1) / a;
  // With e2 likewise, r1*e2 - r2*e1 = c and y2*e1 - y1*e2 = b.
  const e2 = (c + r2 * e1) / r1;
  return reduceOn(r1 * r1 + y1 * e1, 2n * (r1 * r2 + y1 * e2) + b, r2 * r2 + y2 * e2, basis);
}

/** Returns the basis with r1*y2 > r2*y1. A basis of the other orientation yields the opposite class. */
export function oriented(basis: LatticeBasis): LatticeBasis {
  const { r1, r2, y1, y2 } = basis;
  return y2 > y1 ? basis : { r1, r2: -r2, y1, y2: -y2 };
}

/**
 * Returns a form equivalent to `form` whose leading coefficient is coprime to `modulus`, that coefficient's inverse, and
 * the first vector of the new basis. Tries the vectors (1, 0), (0, 1), (1, 1), (-1, 1), (1, -1), (1, 1) and so on:
 * modulo every prime, one of these values of a primitive form is not zero. Except for (1, 0), the coefficient is no
 * multiple of the prime `avoided` either. Throws a RangeError if 1,000 vectors fail, as all of them may do for a form
 * that is not primitive.
 */
export function coprimeRepresentative(modulus: bigint, form: Form, avoided?: bigint): Representative {
  const excluded = smallFactors(modulus);
  const swapped = { a: form.c, b: -form.b, c: form.a };
  for (let candidate = 0; candidate < 1000; candidate++) {
    const isSwapped = candidate % 2 === 1;
    const distance = (candidate + 2) >> 2;
    const k = BigInt((candidate >> 1) % 2 === 1 ? distance : -distance);
    const equivalent = shifted(isSwapped ? swapped : form, k);
    // Usually a small common factor rules a candidate out. Finding one needs no long division.
    if ((smallFactors(equivalent.a) & excluded) !== 0) continue;
    if (candidate > 0 && avoided !== undefined && equivalent.a % avoided === 0n) continue;
    const residue = equivalent.a % modulus;
    if (residue === 0n && modulus !== 1n) continue;
    const [gcd, inverse] = residue === 0n ? [1n, 0n] : gcdWithCofactor(modulus, residue);
    if (gcd === 1n) return { form: equivalent, inverse, x: isSwapped ? -k : 1n, y: isSwapped ? 1n : k };
  }
  throw new RangeError("the form is not primitive");
}

/** See {@link coprimeRepresentative}. */
export interface Representative {
  readonly form: Form;
  readonly inverse: bigint;
  readonly x: bigint;
  readonly y: bigint;
}

/** Returns the form on the basis (1, k), (0, 1). */
function shifted(form: Form, k: bigint): Form {
  if (k === 0n) return form;
  const { a, b, c } = form;
  return { a: a + k * (b + k * c), b: b + 2n * k * c, c };
}

const ODD_PRIMES = [3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43];
/** Their product, which a double holds. */
const PRIMORIAL = BigInt(ODD_PRIMES.reduce((product, prime) => product * prime, 1));

/** Returns a bit mask of the primes from 2 to 43 that divide a number. */
function smallFactors(value: bigint): number {
  const residue = Number(value % PRIMORIAL);
  let factors = Number(BigInt.asUintN(1, value)) ^ 1;
  for (let index = 0; index < ODD_PRIMES.length; index++) {
    if (residue % ODD_PRIMES[index]! === 0) factors |= 2 << index;
  }
  return factors;
}
