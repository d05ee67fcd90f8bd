import { bitLength } from "./integers.ts";

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
