import fc from "fast-check";
import { expect, test } from "vitest";
import {
  bitLength,
  compareIntegers,
  extendedGcd,
  floorDivide,
  floorMod,
  invertMod,
  jacobiSymbol,
} from "../../../../src/protocol/class-groups/integers.ts";

const small = fc.bigInt({ min: 0n, max: 1_000n });
const large = fc.bigInt({ min: 0n, max: 1n << 800n });
const signed = fc.bigInt({ min: -(1n << 400n), max: 1n << 400n });

test("a bit length is that of the absolute value in binary digits, and 0 for 0", () => {
  expect([0n, 1n, -1n, 15n, 16n, -16n].map(bitLength)).toEqual([0, 1, 1, 4, 5, 5]);
  fc.assert(
    fc.property(fc.oneof(small, large, signed), (value) => {
      const digits = (value < 0n ? -value : value).toString(2).length;
      expect(bitLength(value)).toBe(value === 0n ? 0 : digits);
    }),
  );
});

test("a division rounds towards minus infinity", () => {
  expect([7n, -7n, 8n, -8n, 0n, -1n].map((value) => floorDivide(value, 4n))).toEqual([
    1n,
    -2n,
    2n,
    -2n,
    0n,
    -1n,
  ]);
  fc.assert(
    fc.property(signed, fc.bigInt({ min: 1n, max: 1n << 200n }), (numerator, denominator) => {
      const rest = numerator - floorDivide(numerator, denominator) * denominator;
      expect(rest >= 0n && rest < denominator).toBe(true);
    }),
  );
});

test("a greatest common divisor is not negative, divides both numbers, and is their combination", () => {
  expect(extendedGcd(0n, 0n)[0]).toBe(0n);
  fc.assert(
    fc.property(fc.oneof(small, signed), fc.oneof(small, signed), (left, right) => {
      const [gcd, u, v] = extendedGcd(left, right);
      expect(gcd).toBe(u * left + v * right);
      expect(gcd >= 0n).toBe(true);
      if (gcd !== 0n) expect([left % gcd, right % gcd]).toEqual([0n, 0n]);
      else expect([left, right]).toEqual([0n, 0n]);
    }),
  );
});

test("a residue is the distance from the next lower multiple of the modulus", () => {
  fc.assert(
    fc.property(signed, fc.bigInt({ min: 1n, max: 1n << 200n }), (value, modulus) => {
      expect(value - floorMod(value, modulus)).toBe(floorDivide(value, modulus) * modulus);
    }),
  );
});

test("an inverse gives 1 as the product, is reduced, and exists only without a common factor", () => {
  expect([1n, 2n, -2n, 12n].map((value) => invertMod(value, 5n))).toEqual([1n, 3n, 2n, 3n]);
  fc.assert(
    fc.property(signed, fc.bigInt({ min: 2n, max: 1n << 200n }), (value, modulus) => {
      fc.pre(extendedGcd(value, modulus)[0] === 1n);
      const inverse = invertMod(value, modulus);
      expect(inverse > 0n && inverse < modulus).toBe(true);
      expect(floorMod(value * inverse, modulus)).toBe(1n);
    }),
  );
  for (const value of [0n, 2n, -4n, 6n]) expect(() => invertMod(value, 4n)).toThrow(RangeError);
});

test("integers sort with the smallest first", () => {
  const values = [3n, -(1n << 70n), 0n, 1n << 70n, 3n];
  expect(values.sort(compareIntegers)).toEqual([-(1n << 70n), 0n, 3n, 3n, 1n << 70n]);
  expect([compareIntegers(1n, 2n), compareIntegers(2n, 2n), compareIntegers(2n, 1n)]).toEqual([-1, 0, 1]);
});

test("a Jacobi symbol is the product of the Legendre symbols of the modulus's primes", () => {
  const primes = [3n, 5n, 7n, 11n, 13n, 17n, 97n, 257n, 65_537n, (1n << 61n) - 1n] as const;
  const legendre = (value: bigint, prime: bigint) => {
    let power = 1n;
    const base = floorMod(value, prime);
    for (const bit of ((prime - 1n) / 2n).toString(2))
      power = (power * power * (bit === "1" ? base : 1n)) % prime;
    return power === prime - 1n ? -1 : Number(power);
  };
  const two = fc.tuple(fc.constantFrom(...primes), fc.constantFrom(...primes));
  fc.assert(
    fc.property(fc.oneof(small, signed), two, (value, [one, other]) => {
      expect(jacobiSymbol(value, one)).toBe(legendre(value, one));
      expect(jacobiSymbol(value, one * other)).toBe(legendre(value, one) * legendre(value, other) || 0);
    }),
  );
  expect(jacobiSymbol(5n, 1n)).toBe(1);
});
