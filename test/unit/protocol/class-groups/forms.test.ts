import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { classGroupOfCurve } from "../../../../src/protocol/class-groups/class-group.ts";
import { powerForm } from "../../../../src/protocol/class-groups/exponentiation.ts";
import {
  composeForms,
  type Form,
  type FormGroup,
  formGroup,
  invertForm,
  squareCoprime,
} from "../../../../src/protocol/class-groups/forms.ts";
import { allForms, composeFormsPlainly, powerFormPlainly } from "../../../support/crypto/plain-forms.ts";

/** The square, by the fast algorithm where it applies. */
function squareOf(group: FormGroup, form: Form): Form {
  const square = squareCoprime(group, form) ?? composeForms(group, form, form);
  return { a: square.a, b: square.b, c: square.c };
}

function checkDiscriminant(group: FormGroup, form: Form): void {
  expect(form.b * form.b - 4n * form.a * form.c).toBe(group.discriminant);
  expect(form.b > -form.a && form.b <= form.a && form.a <= form.c).toBe(true);
}

describe.each([-23n, -47n, -84n, -420n, -1155n, -3299n, -5n * 7n ** 3n])(
  "the class group of discriminant %s",
  (discriminant) => {
    const group = formGroup(discriminant);
    const forms = allForms(discriminant);
    const key = (form: Form) => `${form.a},${form.b}`;
    const some = fc.constantFrom(...forms);

    it("is closed, commutative, associative, with identity and inverses", () => {
      const known = new Set(forms.map(key));
      fc.assert(
        fc.property(some, some, some, (x, y, z) => {
          const product = composeForms(group, x, y);
          checkDiscriminant(group, product);
          expect(known.has(key(product))).toBe(true);
          expect(composeForms(group, y, x)).toEqual(product);
          expect(composeForms(group, product, z)).toEqual(composeForms(group, x, composeForms(group, y, z)));
          expect(composeForms(group, x, group.identity)).toEqual(x);
          expect(composeForms(group, x, invertForm(x))).toEqual(group.identity);
        }),
      );
    });

    it("has equal fast and plain compositions for every pair", () => {
      for (const x of forms.slice(0, 40)) {
        for (const y of forms.slice(0, 40)) {
          expect(composeForms(group, x, y)).toEqual(composeFormsPlainly(group, x, y));
        }
        expect(squareOf(group, x)).toEqual(composeFormsPlainly(group, x, x));
      }
    });

    it("has an order that annihilates every class", () => {
      const order = BigInt(forms.length);
      for (const form of forms) expect(powerFormPlainly(group, form, order)).toEqual(group.identity);
    });
  },
);

describe.each([0, 1, 2])("the class group of curve %i", (curve) => {
  const group = classGroupOfCurve(curve);
  const exponent = fc.bigInt({ min: 1n, max: (1n << 64n) - 1n });

  it("has equal fast and plain compositions and squares", () => {
    fc.assert(
      fc.property(exponent, exponent, (m, n) => {
        const x = powerForm(group, group.h, m);
        const y = powerForm(group, group.h, n);
        const product = composeForms(group, x, y);
        checkDiscriminant(group, product);
        expect(product).toEqual(composeFormsPlainly(group, x, y));
        expect(squareOf(group, x)).toEqual(composeFormsPlainly(group, x, x));
        expect(composeForms(group, x, x)).toEqual(squareOf(group, x));
      }),
      { numRuns: 40 },
    );
  });

  it("is associative and has inverses", () => {
    fc.assert(
      fc.property(exponent, exponent, exponent, (m, n, o) => {
        const [x, y, z] = [m, n, o].map((e) => powerForm(group, group.h, e)) as [Form, Form, Form];
        const left = composeForms(group, composeForms(group, x, y), z);
        expect(left).toEqual(composeForms(group, x, composeForms(group, y, z)));
        expect(composeForms(group, left, invertForm(left))).toEqual(group.identity);
      }),
      { numRuns: 20 },
    );
  });
});

it("a discriminant that is positive, or 2 or 3 modulo 4, is refused", () => {
  for (const discriminant of [5n, 0n, -5n, -6n]) expect(() => formGroup(discriminant)).toThrow(RangeError);
  // The operands of 3000 bits fill the limbs.
  expect(() => formGroup(-((1n << 2999n) + 3n))).toThrow("shorter than 3000 bits");
  expect(formGroup(-((1n << 2998n) + 3n)).discriminant).toBe(-((1n << 2998n) + 3n));
});
