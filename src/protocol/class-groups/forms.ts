import { absolute, bitLength, extendedGcd, floorDivide, floorMod, integerSquareRoot } from "./integers.ts";

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

/**
 * Euclid's algorithm on the leading bits of the operands, many quotients at a time (Lehmer's idea: Knuth, TAOCP 2,
 * 4.5.2, Algorithm L; the test for a certain quotient is due to Collins and Jebelean). A step works in floating point
 * on the leading 53 bits, then on 53 bits of the remainder of the leading 106. It applies its matrix to the long
 * integers once, which replaces about thirty divisions. A product of forms spends most of its time here.
 */

/**
 * Starts from the basis (modulus, 0), (root, 1) of the lattice {(r, y) : r = root*y mod modulus} and runs Euclid on
 * the first coordinates until r2 <= bound. Near the square root of the modulus both vectors are short
 * (Jacobson and van der Poorten, "Computational aspects of NUCOMP", section 3). r1*y2 - r2*y1 = +modulus or -modulus.
 */
export function partialEuclid(modulus: bigint, root: bigint, bound: bigint, boundBits: number): LatticeBasis {
  let [r1, r2, y1, y2] = [modulus, root, 0n, 1n];
  let bits = bitLength(r1);
  while (r2 > bound) {
    if (lehmer(r1, r2, bits, boundBits)) {
      const [a, b, c, d] = [BigInt(stepA), BigInt(stepB), BigInt(stepC), BigInt(stepD)];
      [r1, r2] = [a * r1 + b * r2, c * r1 + d * r2];
      [y1, y2] = [a * y1 + b * y2, c * y1 + d * y2];
      bits = stepBits;
      continue;
    }
    const quotient = r1 / r2;
    [r1, r2] = [r2, r1 - quotient * r2];
    [y1, y2] = [y2, y1 - quotient * y2];
    bits = bitLength(r1);
  }
  return { r1, r2, y1, y2 };
}

/** Returns [gcd(left, right), v] with v*right = gcd (mod left), for left > right > 0. */
export function gcdWithCofactor(left: bigint, right: bigint): readonly [bigint, bigint] {
  let [r0, r1, v0, v1] = [left, right, 0n, 1n];
  let bits = bitLength(r0);
  while (r1 !== 0n) {
    if (bits <= 53) return finishGcd(Number(r0), Number(r1), v0, v1);
    if (lehmer(r0, r1, bits, 0)) {
      const [a, b, c, d] = [BigInt(stepA), BigInt(stepB), BigInt(stepC), BigInt(stepD)];
      [r0, r1] = [a * r0 + b * r1, c * r0 + d * r1];
      [v0, v1] = [a * v0 + b * v1, c * v0 + d * v1];
      bits = stepBits;
      continue;
    }
    const quotient = r0 / r1;
    [r0, r1] = [r1, r0 - quotient * r1];
    [v0, v1] = [v1, v0 - quotient * v1];
    bits = bitLength(r0);
  }
  return [r0, v0];
}

/** Finishes {@link gcdWithCofactor} in doubles: neither operands nor cofactors exceed 53 bits. */
function finishGcd(left: number, right: number, v0: bigint, v1: bigint): readonly [bigint, bigint] {
  let [x, y] = [left, right];
  let [a, b, c, d] = [1, 0, 0, 1];
  while (y !== 0) {
    const quotient = Math.floor(x / y);
    [x, y] = [y, x - quotient * y];
    [a, c] = [c, a - quotient * c];
    [b, d] = [d, b - quotient * d];
  }
  return [BigInt(x), BigInt(a) * v0 + BigInt(b) * v1];
}

/** Two vectors (r1, y1), (r2, y2): see {@link partialEuclid}. */
export interface LatticeBasis {
  readonly r1: bigint;
  readonly r2: bigint;
  readonly y1: bigint;
  readonly y2: bigint;
}

// A step stores its matrix and a bound on the bits of its larger remainder in module variables, because allocating an
// array per step would double the time.
let stepA = 1;
let stepB = 0;
let stepC = 0;
let stepD = 1;
let stepBits = 0;

/**
 * Finds the matrix of as many certain quotients of (x, y) as possible, with entries below 2^53. `bits` is the bit
 * length of x, or one more. Continues while the smaller remainder certainly has more than `endBits` bits. Returns false
 * if no quotient is certain.
 */
function lehmer(x: bigint, y: bigint, bits: number, endBits: number): boolean {
  const shift = bits - 53;
  if (shift <= 0) return false;
  const lead = BigInt(shift);
  const y0 = Number(y >> lead);
  if (y0 === 0 || !run(Number(x >> lead), y0, endBits - shift, 1)) return false;
  [stepA, stepB, stepC, stepD] = [runA, runB, runC, runD];
  stepBits = shift + bitLengthOfNumber(runX) + 1;
  if (shift < 53) return true;

  // Applies the same matrix to the next 53 bits, in the bits that the double has left. The error is below 4.
  const below = BigInt(shift - 53);
  const [xLow, yLow] = [Number(BigInt.asUintN(53, x >> below)), Number(BigInt.asUintN(53, y >> below))];
  const room = 53 - bitLengthOfNumber(runX);
  const [up, down] = [2 ** room, 2 ** (room - 53)];
  const x1 = runX * up + Math.floor((stepA * xLow + stepB * yLow) * down);
  const y1 = runY * up + Math.floor((stepC * xLow + stepD * yLow) * down);
  if (y1 <= 0 || y1 >= x1 || !run(x1, y1, endBits - shift + room, 4)) return true;
  const [a, b, c, d] = [stepA, stepB, stepC, stepD];
  stepA = runA * a + runB * c;
  stepB = runA * b + runB * d;
  stepC = runC * a + runD * c;
  stepD = runC * b + runD * d;
  stepBits = shift - room + bitLengthOfNumber(runX) + 1;
  return true;
}

let runA = 1;
let runB = 0;
let runC = 0;
let runD = 1;
let runX = 0;
let runY = 0;

const MAX_COFACTOR = 2 ** 26 - 1;

/**
 * Runs Euclid on (x, y), the leading bits of the long integers with an error below `error` units. Continues while the
 * quotients certainly equal those of the long integers and y has more than `endBits` bits. Returns false if no quotient
 * was certain.
 */
function run(x0: number, y0: number, endBits: number, error: number): boolean {
  let [x, y] = [x0, y0];
  let [a, b, c, d] = [1, 0, 0, 1];
  const end = endBits <= 0 ? 0 : 2 ** endBits;
  while (y > end) {
    const quotient = Math.floor(x / y);
    const nextY = x - quotient * y;
    const nextC = a - quotient * c;
    const nextD = b - quotient * d;
    if (Math.abs(nextC) > MAX_COFACTOR || Math.abs(nextD) > MAX_COFACTOR) break;
    const certain =
      nextC < 0
        ? nextY >= -nextC * error && y - nextY >= (nextD - d) * error
        : nextY >= -nextD * error && y - nextY >= (nextC - c) * error;
    if (!certain) break;
    x = y;
    y = nextY;
    a = c;
    b = d;
    c = nextC;
    d = nextD;
  }
  runA = a;
  runB = b;
  runC = c;
  runD = d;
  runX = x;
  runY = y;
  return b !== 0;
}

function bitLengthOfNumber(value: number): number {
  const high = Math.floor(value / 2 ** 32);
  return high > 0 ? 64 - Math.clz32(high) : 32 - Math.clz32(value);
}
