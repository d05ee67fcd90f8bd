/** Equations of points and forms: what is checked, and what a combination of them claims. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { multiPower, powerForm } from "../../../../src/protocol/class-groups/exponentiation.ts";
import { curveByNumber, scaleBase } from "../../../../src/protocol/proofs/curve.ts";
import {
  checkEach,
  combineEquations,
  type ProofEquations,
  pointSum,
} from "../../../../src/protocol/proofs/equations.ts";

const curve = curveByNumber(0);
const { h } = curve.group;
const G = curve.base;

/** Two equations of each kind: 2 G + 3 (5 G) = 17 G and h^2 (h^3)^5 = h^17, or with other sums. */
function equations(pointSumOf = 17n, formSumOf = 17n): ProofEquations {
  const [five, cube] = [scaleBase(curve, 5n), powerForm(curve.group, h, 3n)];
  const points = [
    { point: G, scalar: 2n },
    { point: five, scalar: 3n },
  ];
  const forms = [
    { base: h, exponent: 2n },
    { base: cube, exponent: 5n },
  ];
  return {
    points: [
      {
        label: "first point",
        terms: [
          { point: G, scalar: 1n },
          { point: G, scalar: -1n },
        ],
      },
      { label: "second point", terms: [...points, { point: G, scalar: -pointSumOf }] },
    ],
    forms: [
      { label: "first form", part: 0, terms: [] },
      { label: "second form", part: 1, terms: [...forms, { base: h, exponent: -formSumOf }] },
    ],
  };
}

describe("checking each equation", () => {
  it("accepts those that hold", () => {
    expect(() => checkEach(curve, equations())).not.toThrow();
  });

  it("rejects with the label of the first one that does not hold", () => {
    expect(() => checkEach(curve, equations(18n, 18n))).toThrow("second point");
    expect(() => checkEach(curve, equations(17n, 18n))).toThrow("second form");
  });

  it("uses the given product of powers", () => {
    const asked: number[] = [];
    checkEach(curve, equations(17n, 99n), (terms) => {
      asked.push(terms.length);
      return curve.group.identity;
    });
    expect(asked).toEqual([0, 3]);
  });
});

describe("a combination of equations", () => {
  const sums = (of: ProofEquations) => {
    let weight = 1n;
    const combined = combineEquations(of, () => ++weight);
    return {
      ...combined,
      isZero: pointSum(curve, combined.points).equals(curve.zero),
      isNeutral: multiPower(curve.group, combined.forms).a === curve.group.identity.a,
    };
  };

  it("holds if all of them hold, and raises each base once", () => {
    const { points, forms, isZero, isNeutral } = sums(equations());
    expect([isZero, isNeutral]).toEqual([true, true]);
    // The weights are 2 and 3 for the points, and 4 and 5 for the forms.
    expect(points.map(({ scalar }) => scalar)).toEqual([3n * (2n - 17n), 3n * 3n]);
    expect(forms.map(({ exponent }) => exponent)).toEqual([5n * (2n - 17n), 5n * 5n]);
  });

  it("does not hold if one of them does not", () => {
    expect(sums(equations(18n)).isZero).toBe(false);
    expect(sums(equations(17n, 18n)).isNeutral).toBe(false);
  });
});

describe("a sum of points", () => {
  it.each([
    0n,
    1n,
    -1n,
    12n,
    curve.order,
    curve.order - 1n,
    curve.order / 2n,
    curve.order / 2n + 1n,
    -curve.order - 5n,
  ])("takes any scalar modulo the order: %d", (scalar) => {
    expect(pointSum(curve, [{ point: G, scalar }]).equals(scaleBase(curve, scalar))).toBe(true);
  });

  it("is that of the points one by one", () => {
    const scalar = fc.oneof(
      fc.bigInt({ min: -curve.order, max: curve.order }),
      fc.bigInt({ min: -(1n << 90n), max: 1n << 90n }),
      fc.bigInt({ min: -70000n, max: 70000n }),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.bigInt({ min: 0n, max: 9n }), scalar), { maxLength: 6 }), (list) => {
        const terms = list.map(([log, by]) => ({ point: scaleBase(curve, log), scalar: by }));
        const logarithm = list.reduce((sum, [log, by]) => sum + log * by, 0n);
        expect(pointSum(curve, terms).equals(scaleBase(curve, logarithm))).toBe(true);
      }),
      { numRuns: 40 },
    );
  });

  it("of nothing is zero", () => {
    expect(pointSum(curve, []).equals(curve.zero)).toBe(true);
  });
});
