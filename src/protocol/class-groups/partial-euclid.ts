import { bitLength } from "./integers.ts";

/**
 * Euclid's algorithm, several quotients at a time, on the leading 53 bits of the operands (Lehmer's idea: Knuth,
 * TAOCP 2, 4.5.2, Algorithm L; the test that a quotient is certain is Collins' and Jebelean's). One step on long
 * integers then replaces about fifteen, which is where a product of forms spends its time.
 */

/** [gcd(left, right), v] with v*right = gcd (mod left), for left > right > 0. */
export function gcdWithCofactor(left: bigint, right: bigint): readonly [bigint, bigint] {
  let [r0, r1, v0, v1] = [left, right, 0n, 1n];
  let bits = bitLength(r0);
  while (r1 !== 0n) {
    if (bits > 53) {
      const shift = bits - 53;
      const top1 = Number(r1 >> BigInt(shift));
      if (top1 > 0 && lehmer(Number(r0 >> BigInt(shift)), top1)) {
        const [a, b, c, d] = [BigInt(stepA), BigInt(stepB), BigInt(stepC), BigInt(stepD)];
        [r0, r1] = [a * r0 + b * r1, c * r0 + d * r1];
        [v0, v1] = [a * v0 + b * v1, c * v0 + d * v1];
        bits = shift + bitLengthOfNumber(stepX) + 1;
        continue;
      }
    }
    const quotient = r0 / r1;
    [r0, r1] = [r1, r0 - quotient * r1];
    [v0, v1] = [v1, v0 - quotient * v1];
    bits = bitLength(r0);
  }
  return [r0, v0];
}

/** Two vectors (r1, y1), (r2, y2): see {@link partialEuclid}. */
export interface LatticeBasis {
  readonly r1: bigint;
  readonly r2: bigint;
  readonly y1: bigint;
  readonly y2: bigint;
}

/**
 * Starts from the basis (modulus, 0), (root, 1) of the lattice {(r, y) : r = root*y mod modulus} and runs Euclid on
 * the first coordinates until r2 <= bound. Near the square root of the modulus both vectors are short
 * (Jacobson and van der Poorten, "Computational aspects of NUCOMP", section 3). r1*y2 - r2*y1 = +modulus or -modulus.
 */
export function partialEuclid(modulus: bigint, root: bigint, bound: bigint, boundBits: number): LatticeBasis {
  let [r1, r2, y1, y2] = [modulus, root, 0n, 1n];
  let bits = bitLength(r1);
  while (r2 > bound) {
    // A Lehmer step takes off 26 bits at most, so it cannot pass the bound while there are that many to go.
    if (bits - 26 > boundBits) {
      const shift = bits - 53;
      const top2 = shift < 0 ? 0 : Number(r2 >> BigInt(shift));
      if (top2 > 0 && lehmer(Number(r1 >> BigInt(shift)), top2)) {
        const [a, b, c, d] = [BigInt(stepA), BigInt(stepB), BigInt(stepC), BigInt(stepD)];
        [r1, r2] = [a * r1 + b * r2, c * r1 + d * r2];
        [y1, y2] = [a * y1 + b * y2, c * y1 + d * y2];
        bits = shift + bitLengthOfNumber(stepX) + 1;
        continue;
      }
    }
    const quotient = r1 / r2;
    [r1, r2] = [r2, r1 - quotient * r2];
    [y1, y2] = [y2, y1 - quotient * y2];
    bits = bitLength(r1);
  }
  return { r1, r2, y1, y2 };
}

// The step's matrix and its larger remainder are left in module variables: an array per step would double the time.
let stepA = 1;
let stepB = 0;
let stepC = 0;
let stepD = 1;
let stepX = 0;

const MAX_COFACTOR = 2 ** 26 - 1;

/** Runs Euclid on (x, y) while the quotients are surely those of the long integers. False if not one was certain. */
function lehmer(x0: number, y0: number): boolean {
  let [x, y] = [x0, y0];
  let [a, b, c, d] = [1, 0, 0, 1];
  while (y !== 0) {
    const quotient = Math.floor(x / y);
    const nextY = x - quotient * y;
    const nextC = a - quotient * c;
    const nextD = b - quotient * d;
    if (Math.abs(nextC) > MAX_COFACTOR || Math.abs(nextD) > MAX_COFACTOR) break;
    const certain =
      nextC < 0 ? nextY >= -nextC && y - nextY >= nextD - d : nextY >= -nextD && y - nextY >= nextC - c;
    if (!certain) break;
    x = y;
    y = nextY;
    a = c;
    b = d;
    c = nextC;
    d = nextD;
  }
  stepA = a;
  stepB = b;
  stepC = c;
  stepD = d;
  stepX = x;
  return b !== 0;
}

function bitLengthOfNumber(value: number): number {
  const high = Math.floor(value / 2 ** 32);
  return high > 0 ? 64 - Math.clz32(high) : 32 - Math.clz32(value);
}
