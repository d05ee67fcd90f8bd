import { concatBytes } from "@noble/hashes/utils.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bigIntToLittleEndian } from "../../../../src/protocol/bytes.ts";
import {
  classGroupOfCurve,
  decodeForm,
  encodeForm,
  formToScalar,
  InvalidFormError,
  scalarToForm,
} from "../../../../src/protocol/class-groups/class-group.ts";
import { powerForm } from "../../../../src/protocol/class-groups/exponentiation.ts";
import { composeForms, invertForm } from "../../../../src/protocol/class-groups/forms.ts";

describe.each([0, 1, 2, 3])("the class group of curve %i", (curve) => {
  const group = classGroupOfCurve(curve);
  const scalar = fc.bigInt({ min: 0n, max: group.q - 1n });

  it("has the discriminant -p*q^3", () => {
    expect(-group.p * group.q ** 3n).toBe(group.discriminant);
  });

  it("refuses a form whose coefficients have a common divisor, because it is no class of this discriminant", () => {
    // The principal form of the discriminant -p*q, multiplied by q.
    const { p, q } = group;
    const scaled = { a: q, b: q, c: (q * (1n + p * q)) / 4n };
    expect(scaled.b ** 2n - 4n * scaled.a * scaled.c).toBe(group.discriminant);
    expect(() => decodeForm(group, encodeForm(scaled))).toThrow(InvalidFormError);
  });

  it("writes and reads forms as 256 bytes", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 1n << 80n }), fc.boolean(), (exponent, isInverse) => {
        const power = powerForm(group, group.h, exponent);
        const form = isInverse ? invertForm(power) : power;
        const bytes = encodeForm(form);
        expect(bytes).toHaveLength(256);
        expect(decodeForm(group, bytes)).toEqual(form);
      }),
      { numRuns: 20 },
    );
  });

  it("encodes scalars as a subgroup of order q, homomorphically, and reads them back", () => {
    fc.assert(
      fc.property(scalar, scalar, (m, n) => {
        const sum = composeForms(group, scalarToForm(group, m), scalarToForm(group, n));
        expect(formToScalar(group, scalarToForm(group, m))).toBe(m);
        expect(formToScalar(group, sum)).toBe((m + n) % group.q);
      }),
      { numRuns: 20 },
    );
    expect(scalarToForm(group, group.q)).toEqual(group.identity);
    expect(powerForm(group, scalarToForm(group, 1n), group.q)).toEqual(group.identity);
  });

  it("decrypts what it encrypted", () => {
    fc.assert(
      fc.property(
        scalar,
        fc.bigInt({ min: 1n, max: 1n << 749n }),
        fc.bigInt({ min: 1n, max: 1n << 749n }),
        (m, dk, r) => {
          const encryptionKey = powerForm(group, group.h, dk);
          const randomizer = powerForm(group, group.h, r);
          const masked = composeForms(group, scalarToForm(group, m), powerForm(group, encryptionKey, r));
          const unmasked = composeForms(group, masked, invertForm(powerForm(group, randomizer, dk)));
          expect(formToScalar(group, unmasked)).toBe(m);
        },
      ),
      { numRuns: 2 },
    );
  });

  it("reads no scalar from a form outside of the subgroup", () => {
    expect(() => formToScalar(group, group.h)).toThrow(InvalidFormError);
  });

  it("refuses a form with any bit changed", () => {
    const bytes = encodeForm(group.h);
    fc.assert(
      fc.property(fc.nat(8 * 256 - 1), (bit) => {
        const changed = bytes.slice();
        changed[bit >> 3]! ^= 1 << (bit & 7);
        expect(() => decodeForm(group, changed)).toThrow(InvalidFormError);
      }),
      { numRuns: 200 },
    );
  });

  it("refuses equivalent forms that are not reduced, negative ones, and other lengths", () => {
    const { a, b, c } = group.h;
    const bytesOf = (x: bigint, y: bigint) =>
      concatBytes(bigIntToLittleEndian(x, 128), bigIntToLittleEndian(y, 128));
    expect(() => decodeForm(group, bytesOf(c, -b))).toThrow("not reduced");
    expect(() => decodeForm(group, bytesOf(a, b + 2n * a))).toThrow("not reduced");
    expect(() => decodeForm(group, bytesOf(0n, b))).toThrow("not positive");
    expect(() => decodeForm(group, bytesOf(a, b).subarray(1))).toThrow("256 bytes");
  });
});

it("an unknown curve has no class group", () => {
  expect(() => classGroupOfCurve(4)).toThrow(RangeError);
});
