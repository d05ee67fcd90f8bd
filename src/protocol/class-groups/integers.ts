/** Returns |value|. */
function absolute(value: bigint): bigint {
  return value < 0n ? -value : value;
}

/** Returns the residue of `value` in [0, modulus), for a positive modulus. */
export function floorMod(value: bigint, modulus: bigint): bigint {
  const rest = value % modulus;
  return rest < 0n ? rest + modulus : rest;
}

/** Returns floor(numerator / denominator), for a positive denominator. */
export function floorDivide(numerator: bigint, denominator: bigint): bigint {
  const quotient = numerator / denominator;
  return numerator < 0n && quotient * denominator !== numerator ? quotient - 1n : quotient;
}

/** Returns the bit length of |value|; 0 for 0. */
export function bitLength(value: bigint): number {
  if (value === 0n) return 0;
  const hex = absolute(value).toString(16);
  return 4 * (hex.length - 1) + 32 - Math.clz32(Number.parseInt(hex[0]!, 16));
}

/**
 * Runs the extended Euclidean algorithm (Cohen, Algorithm 1.3.6). Returns [g, u, v] with u*left + v*right = g =
 * gcd(left, right) >= 0.
 */
export function extendedGcd(left: bigint, right: bigint): readonly [bigint, bigint, bigint] {
  let [r0, r1, u0, u1, v0, v1] = [left, right, 1n, 0n, 0n, 1n];
  while (r1 !== 0n) {
    const quotient = r0 / r1;
    [r0, r1] = [r1, r0 - quotient * r1];
    [u0, u1] = [u1, u0 - quotient * u1];
    [v0, v1] = [v1, v0 - quotient * v1];
  }
  return r0 < 0n ? [-r0, -u0, -v0] : [r0, u0, v0];
}

/** Returns the inverse of `value` modulo a positive `modulus`. Throws a RangeError if there is none. */
export function invertMod(value: bigint, modulus: bigint): bigint {
  const [gcd, inverse] = extendedGcd(floorMod(value, modulus), modulus);
  if (gcd !== 1n) throw new RangeError("no inverse: the value shares a factor with the modulus");
  return floorMod(inverse, modulus);
}

/** Returns the Jacobi symbol (value / modulus) for a positive odd modulus: 1, -1, or 0 if both share a factor. */
export function jacobiSymbol(value: bigint, modulus: bigint): number {
  let [upper, lower, sign] = [floorMod(value, modulus), modulus, 1];
  while (upper !== 0n) {
    for (; upper % 2n === 0n; upper /= 2n) {
      const rest = lower % 8n;
      if (rest === 3n || rest === 5n) sign = -sign;
    }
    // Quadratic reciprocity.
    if (upper % 4n === 3n && lower % 4n === 3n) sign = -sign;
    [upper, lower] = [lower % upper, upper];
  }
  return lower === 1n ? sign : 0;
}

/** Compares two integers, to sort the smallest first. */
export function compareIntegers(a: bigint, b: bigint): number {
  return a < b ? -1 : Number(a > b);
}
