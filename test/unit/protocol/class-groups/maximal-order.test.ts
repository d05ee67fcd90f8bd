/** Classes computed in the maximal order are those of the plain composition of forms. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { classGroupOfCurve, scalarToForm } from "../../../../src/protocol/class-groups/class-group.ts";
import { equalForms, type Form, formGroup } from "../../../../src/protocol/class-groups/forms.ts";
import {
  composeClasses,
  equalClasses,
  fromMaximalOrder,
  invertClass,
  isNeutralClass,
  neutralClass,
  type OrderGroup,
  squareClass,
  toMaximalOrder,
} from "../../../../src/protocol/class-groups/maximal-order.ts";
import { allForms, composeFormsPlainly, powerFormPlainly } from "../../../support/crypto/plain-forms.ts";

/** The group of discriminant -p*q^3. */
function orderGroup(p: bigint, q: bigint): OrderGroup {
  return { ...formGroup(-p * q ** 3n), q, maximal: formGroup(-p * q) };
}

// In groups as small as these, many forms share divisors with each other and with q. In the first five the form of
// discriminant -p*q with the leading coefficient q is reduced.
describe.each([
  [13n, 3n],
  [29n, 3n],
  [23n, 5n],
  [1009n, 7n],
  [61n, 7n],
  [3n, 5n],
  [5n, 7n],
  [5n, 11n],
  [7n, 5n],
])("the classes of discriminant -%d * %d^3", (p, q) => {
  const group = orderGroup(p, q);
  const forms = allForms(group.discriminant).slice(0, 40);
  const classes = forms.map((form) => toMaximalOrder(group, form));

  it("keep their form on the way to the maximal order and back", () => {
    expect(classes.map((one) => fromMaximalOrder(group, one))).toEqual(forms);
  });

  it("have the products, squares and inverses of their forms", () => {
    for (const [i, x] of classes.entries()) {
      const square = fromMaximalOrder(group, squareClass(group, x));
      expect(square).toEqual(composeFormsPlainly(group, forms[i]!, forms[i]!));
      expect(isNeutralClass(group, composeClasses(group, x, invertClass(x)))).toBe(true);
      for (const [j, y] of classes.entries()) {
        const product = fromMaximalOrder(group, composeClasses(group, x, y));
        expect(product).toEqual(composeFormsPlainly(group, forms[i]!, forms[j]!));
      }
    }
  });

  it("are equal only to themselves", () => {
    for (const [i, x] of classes.entries()) {
      for (const [j, y] of classes.entries()) expect(equalClasses(group, x, y)).toBe(i === j);
      expect(isNeutralClass(group, x)).toBe(equalForms(forms[i]!, group.identity));
    }
  });

  it("stay right in long products", () => {
    const index = fc.nat(classes.length - 1);
    fc.assert(
      fc.property(fc.array(fc.tuple(index, fc.boolean()), { maxLength: 30 }), (list) => {
        let [one, form]: [typeof neutral, Form] = [neutral, group.identity];
        for (const [factor, isInverse] of list) {
          const other = classes[factor]!;
          one = composeClasses(group, squareClass(group, one), isInverse ? invertClass(other) : other);
          const power = powerFormPlainly(group, forms[factor]!, isInverse ? -1n : 1n);
          form = composeFormsPlainly(group, composeFormsPlainly(group, form, form), power);
        }
        expect(fromMaximalOrder(group, one)).toEqual(form);
      }),
    );
  });

  const neutral = neutralClass(group);
});

describe.each([0, 1, 2])("the classes of curve %i", (curve) => {
  const group = classGroupOfCurve(curve);
  const exponent = fc.bigInt({ min: -(1n << 24n), max: 1n << 24n });
  const scalar = fc.oneof(fc.constantFrom(0n, 1n, group.q - 1n), fc.bigInt({ min: 0n, max: group.q - 1n }));

  it("have the products, squares and equality of their forms, also next to encoded scalars", () => {
    fc.assert(
      fc.property(exponent, exponent, scalar, scalar, (m, n, s, t) => {
        const form = (power: bigint, plaintext: bigint): Form =>
          composeFormsPlainly(group, powerFormPlainly(group, group.h, power), scalarToForm(group, plaintext));
        const [x, y] = [form(m, s), form(n, t)];
        const [one, other] = [toMaximalOrder(group, x), toMaximalOrder(group, y)];
        expect(fromMaximalOrder(group, one)).toEqual(x);
        const product = composeClasses(group, one, other);
        expect(fromMaximalOrder(group, product)).toEqual(composeFormsPlainly(group, x, y));
        expect(fromMaximalOrder(group, squareClass(group, one))).toEqual(composeFormsPlainly(group, x, x));
        expect(equalClasses(group, one, other)).toBe(equalForms(x, y));
        expect(equalClasses(group, composeClasses(group, other, one), product)).toBe(true);
      }),
      { numRuns: 15 },
    );
  });

  it("differ if only the encoded scalar differs", () => {
    const [one, two] = [1n, 2n].map((m) => toMaximalOrder(group, scalarToForm(group, m)));
    expect(equalClasses(group, one!, two!)).toBe(false);
    expect(isNeutralClass(group, one!)).toBe(false);
    expect(isNeutralClass(group, neutralClass(group))).toBe(true);
  });
});

it("a form that is not primitive has no class", () => {
  const group = classGroupOfCurve(0);
  const { p, q } = group;
  const scaled = { a: q, b: q, c: (q * (1n + p * q)) / 4n };
  expect(() => toMaximalOrder(group, scaled)).toThrow(RangeError);
});
