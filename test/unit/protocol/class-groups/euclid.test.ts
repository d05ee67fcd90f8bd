import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { kernelEuclid } from "../../../../src/protocol/class-groups/euclid.ts";
import { type Euclid, limbEuclid } from "../../../../src/protocol/class-groups/euclid-limbs.ts";
import { bitLength, extendedGcd } from "../../../../src/protocol/class-groups/integers.ts";
import { kernelPermutation } from "../../../../src/protocol/signatures/keccak.ts";

const lengths = fc.integer({ min: 2, max: 1800 });
/** A pair left > right > 0 of any lengths, often with a long common divisor. */
const pairs = fc
  .tuple(lengths, lengths, lengths)
  .chain(([first, second, common]) =>
    fc.tuple(
      fc.bigInt({ min: 2n, max: 1n << BigInt(first) }),
      fc.bigInt({ min: 1n, max: 1n << BigInt(second) }),
      fc.oneof(fc.constant(1n), fc.bigInt({ min: 1n, max: 1n << BigInt(Math.ceil(common / 2)) })),
    ),
  )
  .map(([a, b, divisor]) => [a * divisor, (b % a || 1n) * divisor] as const);

/** Pairs whose quotients are all one, enormous, or just beyond a limb, and operands at the limbs' borders. */
function edgePairs(): (readonly [bigint, bigint])[] {
  const pairsFound: (readonly [bigint, bigint])[] = [
    [2n, 1n],
    [3n, 2n],
    [(1n << 2600n) - 1n, (1n << 2599n) + 1n],
  ];
  let [older, newer] = [1n, 1n];
  for (let index = 0; index < 1300; index++) [older, newer] = [newer, older + newer];
  pairsFound.push([newer, older]);
  for (const bits of [
    25n,
    26n,
    27n,
    31n,
    32n,
    33n,
    51n,
    52n,
    53n,
    63n,
    64n,
    65n,
    78n,
    96n,
    104n,
    640n,
    900n,
  ]) {
    const power = 1n << bits;
    pairsFound.push([power, 1n], [power, power - 1n], [power - 1n, power >> 1n], [power + 1n, power]);
    pairsFound.push([power * power + 1n, power], [power * (power << 26n) + power, power], [power ** 2n, 3n]);
  }
  return pairsFound;
}

function checkGcd(euclid: Euclid, left: bigint, right: bigint): void {
  const [gcd, cofactor] = euclid.gcdWithCofactor(left, right);
  expect(gcd).toBe(extendedGcd(left, right)[0]);
  expect((cofactor * right - gcd) % left).toBe(0n);
  expect(cofactor <= left && cofactor >= -left).toBe(true);
}

function checkBasis(euclid: Euclid, modulus: bigint, root: bigint, boundBits: number): void {
  const { r1, r2, y1, y2 } = euclid.partialEuclid(modulus, root, boundBits);
  expect((r1 - root * y1) % modulus).toBe(0n);
  expect((r2 - root * y2) % modulus).toBe(0n);
  const determinant = r1 * y2 - r2 * y1;
  expect(determinant === modulus || determinant === -modulus).toBe(true);
  expect(r1 > r2 && r2 >= 0n).toBe(true);
  // Operands of at most two limbs are left to the reduction of forms.
  if (boundBits >= 70) expect(bitLength(r2)).toBeLessThanOrEqual(boundBits + 1);
  if (boundBits >= 70 && r1 !== modulus) expect(bitLength(r1)).toBeGreaterThanOrEqual(boundBits);
}

const kernel = kernelEuclid(WebAssembly);
if (kernel === undefined) throw new Error("this runtime has no WebAssembly");
const implementations: [string, Euclid][] = [
  ["in WebAssembly", kernel],
  ["on limbs in doubles", limbEuclid],
];

describe.each(implementations)("the greatest common divisor and its cofactor, %s,", (_, euclid) => {
  it("equal those of Euclid's plain algorithm for numbers of any length", () => {
    fc.assert(
      fc.property(pairs, ([left, right]) => checkGcd(euclid, left, right)),
      { numRuns: 500 },
    );
  });

  it("equal them for extreme quotients and lengths", () => {
    for (const [left, right] of edgePairs()) if (left > right) checkGcd(euclid, left, right);
  });
});

describe.each(implementations)("a partial run of Euclid, %s,", (_, euclid) => {
  it("gives a basis of the lattice that is as short as asked", () => {
    fc.assert(
      fc.property(pairs, fc.double({ min: 0, max: 1, noNaN: true }), ([modulus, root], part) => {
        checkBasis(euclid, modulus, root, Math.floor(part * bitLength(modulus)));
      }),
      { numRuns: 500 },
    );
  });

  it("gives one for extreme quotients and lengths, and for the root zero", () => {
    for (const [modulus, root] of edgePairs()) {
      if (modulus <= root) continue;
      for (const bits of [0, 30, 70, 100, 400]) {
        checkBasis(euclid, modulus, root, bits);
        checkBasis(euclid, modulus, 0n, bits);
      }
    }
  });
});

describe("a runtime that cannot run the kernel", () => {
  it("is one without WebAssembly, or whose policy refuses to compile it", () => {
    expect(kernelEuclid(undefined)).toBeUndefined();
    let askedCount = 0;
    const refusing = {
      ...WebAssembly,
      Module: class {
        constructor() {
          askedCount++;
          throw new WebAssembly.CompileError("refused by the Content Security Policy");
        }
      },
    } as unknown as typeof WebAssembly;
    expect(kernelEuclid(refusing)).toBeUndefined();
    expect(kernelPermutation(refusing)).toBeUndefined();
    expect(askedCount, "a policy reports each refusal").toBe(1);
  });
});
