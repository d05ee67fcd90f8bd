import { describe, expect, it } from "vitest";
import { curveByNumber, scale, scaleBase } from "../../../../src/protocol/proofs/curve.ts";
import { commitSecretly, randomnessGenerator } from "../../../../src/protocol/proofs/pedersen.ts";

describe("commitments", () => {
  it("have a generator on the two curves of ECDSA alone, which is always the same point", () => {
    for (const number of [0, 1]) {
      const curve = curveByNumber(number);
      const generator = randomnessGenerator(curve);
      expect(randomnessGenerator(curve)).toBe(generator);
      expect(generator.equals(curve.base)).toBe(false);
      expect(generator.isTorsionFree()).toBe(true);
    }
    for (const number of [2, 3]) expect(() => randomnessGenerator(curveByNumber(number))).toThrow(RangeError);
  });

  it("bind a message with their randomness", () => {
    const curve = curveByNumber(0);
    const expected = scaleBase(curve, 15n).add(scale(curve, randomnessGenerator(curve), 7n));
    expect(commitSecretly(curve, scaleBase(curve, 5n), 3n, 7n).equals(expected)).toBe(true);
  });
});
