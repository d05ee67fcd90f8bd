import { absolute, bitLength, extendedGcd, floorDivide, floorMod, integerSquareRoot } from "./integers.ts";
import { gcdWithCofactor, partialEuclid } from "./partial-euclid.ts";

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
  /** The bound at which the partial Euclid of a composition stops: the fourth root of |discriminant| / 4. */
  readonly bound: bigint;
  readonly boundBits: number;
}

/** Prepares the class group of `discriminant`, which must be negative and 0 or 1 modulo 4 (RangeError). */
export function formGroup(discriminant: bigint): FormGroup {
  const parity = floorMod(discriminant, 4n);
  if (discriminant >= 0n || parity > 1n) throw new RangeError("not a negative discriminant");
  const bound = integerSquareRoot(integerSquareRoot(absolute(discriminant) / 4n));
  const identity = { a: 1n, b: parity, c: (parity - discriminant) / 4n };
  return { discriminant, identity, bound, boundBits: bitLength(bound) };
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
  let [ra, rb, rc] = [a, b, c];
  for (;;) {
    if (rb <= -ra || rb > ra) {
      const step = floorDivide(ra - rb, 2n * ra);
      rc += step * (rb + step * ra);
      rb += 2n * step * ra;
    }
    if (ra < rc || (ra === rc && rb >= 0n)) return { a: ra, b: rb, c: rc };
    [ra, rb, rc] = [rc, -rb, ra];
  }
}

/**
 * Returns the product of two classes. For coprime leading coefficients it never computes a1*a2.
 *
 * Dirichlet's composition (Cohen, Algorithm 5.4.7 with d = 1) is (a1*a2, b2 + 2*a2*u, ...) with
 * u = (b1 - b2) / (2*a2) mod a1. That is f2 on the lattice {(r, y) : r = u*y mod a1}, divided by a1, in the basis
 * (a1, 0), (u, 1). A partial Euclid finds a short basis of the same lattice, and f2 in that basis is nearly reduced:
 * the idea of Shanks' NUCOMP (Jacobson and van der Poorten, "Computational aspects of NUCOMP").
 */
export function composeForms(group: FormGroup, left: Form, right: Form): Form {
  if (left.a === 1n) return right;
  if (right.a === 1n) return left;
  const coprime = coprimeRepresentative(left.a, right);
  if (coprime === undefined) return composeFormsPlainly(group, left, right);
  const { form, inverse } = coprime;
  const root = floorMod(((left.b - form.b) / 2n) * inverse, left.a);
  const { r1, r2, y1, y2 } = partialEuclid(left.a, root, group.bound, group.boundBits);
  const g1 = form.a * r1 + form.b * y1;
  const c1 = form.c * y1;
  const a = (r1 * g1 + c1 * y1) / left.a;
  const b = (r2 * (g1 + form.a * r1) + y2 * (form.b * r1 + 2n * c1)) / left.a;
  const c = (r2 * (form.a * r2 + form.b * y2) + form.c * y2 * y2) / left.a;
  // A basis of negative orientation yields the opposite class; negating b corrects that.
  return reduceForm(a, r1 * y2 - r2 * y1 < 0n ? -b : b, c);
}

/**
 * Returns the square of a class, for gcd(a, b) = 1: with u = -c/b mod a the form (a^2, b + 2*a*u, ...) equals r^2 +
 * y*(b*r + c*y)/a on the lattice {(r, y) : r = u*y mod a}; a short basis comes from a partial Euclid (NUDUPL; Cohen,
 * Algorithm 5.4.8).
 */
export function squareForm(group: FormGroup, form: Form): Form {
  const { a, b, c } = form;
  if (a === 1n) return form;
  const residue = floorMod(b, a);
  if (residue === 0n) return composeFormsPlainly(group, form, form);
  const [gcd, inverse] = gcdWithCofactor(a, residue);
  if (gcd !== 1n) return composeFormsPlainly(group, form, form);
  const { r1, r2, y1, y2 } = partialEuclid(a, floorMod(-c * inverse, a), group.bound, group.boundBits);
  const e1 = (c * y1 + b * r1) / a;
  const e2 = (c * y2 + b * r2) / a;
  const middle = 2n * r1 * r2 + y1 * e2 + y2 * e1;
  return reduceForm(r1 * r1 + y1 * e1, r1 * y2 - r2 * y1 < 0n ? -middle : middle, r2 * r2 + y2 * e2);
}

/** Composes any two forms (Gauss; Cohen, Algorithm 5.4.7). Slow: {@link composeForms} falls back to it. */
export function composeFormsPlainly(group: FormGroup, left: Form, right: Form): Form {
  const half = (left.b + right.b) / 2n;
  const [gcd0, u, v] = extendedGcd(left.a, right.a);
  const [gcd, x, y] = extendedGcd(gcd0, half);
  const a = (left.a * right.a) / (gcd * gcd);
  const numerator =
    x * u * left.a * right.b + x * v * right.a * left.b + y * ((left.b * right.b + group.discriminant) / 2n);
  const b = floorMod(numerator / gcd, 2n * a);
  return reduceForm(a, b, (b * b - group.discriminant) / (4n * a));
}

/**
 * Returns a form equivalent to `form` whose leading coefficient is coprime to `modulus`, and that coefficient's
 * inverse. Tries eight candidates. A primitive form represents numbers coprime to any modulus, so rarely do all eight
 * fail; then the result is undefined.
 */
function coprimeRepresentative(modulus: bigint, form: Form): { form: Form; inverse: bigint } | undefined {
  const excluded = smallFactors(modulus);
  for (let candidate = 0; candidate < 8; candidate++) {
    const equivalent = representative(form, candidate);
    // Usually a small common factor rules a candidate out. Finding one needs no long division.
    if ((smallFactors(equivalent.a) & excluded) !== 0) continue;
    const residue = equivalent.a % modulus;
    if (residue === 0n) continue;
    const [gcd, inverse] = gcdWithCofactor(modulus, residue);
    if (gcd === 1n) return { form: equivalent, inverse };
  }
  return undefined;
}

/**
 * Returns form(x, y) for (1, 0), (0, 1), (1, 1), (1, -1), (1, 2), (1, -2), (-2, 1) and (2, 1), completed to a basis.
 */
function representative(form: Form, candidate: number): Form {
  const swapped = { a: form.c, b: -form.b, c: form.a };
  switch (candidate) {
    case 0:
      return form;
    case 1:
      return swapped;
    case 2:
      return shifted(form, 1n);
    case 3:
      return shifted(form, -1n);
    case 4:
      return shifted(form, 2n);
    case 5:
      return shifted(form, -2n);
    case 6:
      return shifted(swapped, 2n);
    default:
      return shifted(swapped, -2n);
  }
}

function shifted({ a, b, c }: Form, k: bigint): Form {
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
