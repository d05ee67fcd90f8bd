import fc from "fast-check";
import { expect, test } from "vitest";
import {
  bitLength,
  extendedGcd,
  floorDivide,
  integerSquareRoot,
} from "../../../../src/protocol/class-groups/integers.ts";

const small = fc.bigInt({ min: 0n, max: 1_000n });
const large = fc.bigInt({ min: 0n, max: 1n << 800n });
const signed = fc.bigInt({ min: -(1n << 400n), max: 1n << 400n });

test("a square root is the largest integer whose square is not above the number", () => {
  for (let value = 0n; value < 100n; value++)
    expect(integerSquareRoot(value)).toBe(BigInt(Math.floor(Math.sqrt(Number(value)))));
  fc.assert(
    fc.property(fc.oneof(small, large), (value) => {
      const root = integerSquareRoot(value);
      expect(root ** 2n <= value && value < (root + 1n) ** 2n).toBe(true);
      expect(integerSquareRoot(value ** 2n)).toBe(value);
    }),
  );
});

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
