import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runSteps, type Steps } from "../../../../src/protocol/chain/read-errors.ts";
import { classGroupOfCurve } from "../../../../src/protocol/class-groups/class-group.ts";
import {
  combPower,
  combTable,
  ladderProduct,
  multiPower,
  powerForm,
  powerLadder,
} from "../../../../src/protocol/class-groups/exponentiation.ts";
import { composeForms, invertForm } from "../../../../src/protocol/class-groups/forms.ts";
import {
  fromMaximalOrder,
  isNeutralClass,
  toMaximalOrder,
} from "../../../../src/protocol/class-groups/maximal-order.ts";
import { powerFormPlainly } from "../../../support/crypto/plain-forms.ts";

const group = classGroupOfCurve(2);
const { h } = group;
const scalar = fc.bigInt({ min: -(1n << 200n), max: 1n << 200n });

describe("powers of forms", () => {
  it("equal those of plain squaring and multiplying", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 1n << 200n }), (exponent) => {
        expect(powerForm(group, h, exponent)).toEqual(powerFormPlainly(group, h, exponent));
      }),
      { numRuns: 5 },
    );
    for (const exponent of [0n, 1n, 2n, 3n, 31n, 32n, 33n, 63n, 64n, (1n << 40n) - 1n]) {
      expect(powerForm(group, h, exponent)).toEqual(powerFormPlainly(group, h, exponent));
    }
  });

  it("follow the laws of powers, for negative exponents too", () => {
    fc.assert(
      fc.property(scalar, scalar, (m, n) => {
        const [x, y] = [powerForm(group, h, m), powerForm(group, h, n)];
        expect(composeForms(group, x, y)).toEqual(powerForm(group, h, m + n));
        expect(powerForm(group, x, n)).toEqual(powerForm(group, y, m));
        expect(powerForm(group, h, -m)).toEqual(invertForm(x));
      }),
      { numRuns: 5 },
    );
  });

  it("have the same product together and one by one, whatever their lengths", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.integer({ min: 1, max: 9 }), scalar), { maxLength: 4 }), (list) => {
        const terms = list.map(([seed, exponent]) => ({ base: powerForm(group, h, BigInt(seed)), exponent }));
        const expected = terms.reduce(
          (product, { base, exponent }) => composeForms(group, product, powerForm(group, base, exponent)),
          group.identity,
        );
        expect(multiPower(group, terms)).toEqual(expected);
      }),
      { numRuns: 5 },
    );
  });
});

describe("a ladder", () => {
  it("gives the product of powers of several bases, whatever their exponents", () => {
    const other = powerForm(group, h, 7n);
    const ladders = [h, other].map((base) => runSteps(powerLadder(group, base, 200)));
    const edges = [0n, 1n, 2n, 63n, 64n, 65n, 127n, 128n, (1n << 200n) - 1n];
    const exponent = fc.oneof(fc.bigInt({ min: 0n, max: (1n << 200n) - 1n }), fc.constantFrom(...edges));
    fc.assert(
      fc.property(exponent, exponent, (m, n) => {
        const terms = [m, n].map((power, index) => ({ ladder: ladders[index]!, exponent: power }));
        const expected = composeForms(group, powerForm(group, h, m), powerForm(group, other, n));
        expect(fromMaximalOrder(group, runSteps(ladderProduct(group, terms)))).toEqual(expected);
      }),
      { numRuns: 20 },
    );
    expect(isNeutralClass(group, runSteps(ladderProduct(group, [])))).toBe(true);
  });

  it("refuses an exponent that is negative or beyond its bits", () => {
    const ladder = runSteps(powerLadder(group, h, 8));
    expect(ladder.rungs).toHaveLength(9);
    const product = (exponent: bigint) =>
      fromMaximalOrder(group, runSteps(ladderProduct(group, [{ ladder, exponent }])));
    expect(product(255n)).toEqual(powerForm(group, h, 255n));
    expect(() => product(1n << 9n)).toThrow(RangeError);
    expect(() => product(-1n)).toThrow(RangeError);
  });

  it("pauses every 64 steps", () => {
    const pauses = (steps: Steps<unknown>) => [...steps].length;
    expect(pauses(powerLadder(group, h, 127))).toBe(2);
    expect(pauses(powerLadder(group, h, 126))).toBe(1);
  });
});

describe("a comb table", () => {
  const table = combTable(group, toMaximalOrder(group, h), 100, 4);

  it("gives the power for every exponent within its length", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: (1n << 100n) - 1n }), (exponent) => {
        const power = fromMaximalOrder(group, combPower(group, table, exponent));
        expect(power).toEqual(powerForm(group, h, exponent));
      }),
      { numRuns: 30 },
    );
  });

  it("holds the products of the row bases", () => {
    expect(table.entries).toHaveLength(16);
    for (let index = 0; index < 16; index++) {
      const exponent = [0, 1, 2, 3].reduce(
        (sum, row) => sum + (BigInt((index >> row) & 1) << BigInt(25 * row)),
        0n,
      );
      expect(fromMaximalOrder(group, table.entries[index]!)).toEqual(powerForm(group, h, exponent));
    }
  });

  it("refuses an exponent beyond its bits", () => {
    expect(() => combPower(group, table, 1n << 100n)).toThrow(RangeError);
    expect(() => combPower(group, table, -1n)).toThrow(RangeError);
  });
});
