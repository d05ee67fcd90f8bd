/** The encodings of points and scalars, and the checks that reading them makes. */
import { ed25519 } from "@noble/curves/ed25519.js";
import { describe, expect, it } from "vitest";
import { byteReader } from "../../../../src/protocol/bytes.ts";
import {
  curveByNumber,
  decodePoint,
  encodePoint,
  encodeScalar,
  pointBytes,
  pointJson,
  readPoint,
  readScalar,
  scalarBytes,
  scalarJson,
  scale,
  scaleBase,
} from "../../../../src/protocol/proofs/curve.ts";

const NUMBERS = [0, 1, 2, 3];

describe.each(NUMBERS)("on the curve %d", (number) => {
  const curve = curveByNumber(number);
  const point = scaleBase(curve, 12_345n);

  it("a point and a scalar are read as they were written", () => {
    const encoded = encodePoint(curve, point);
    expect(encoded).toHaveLength(number < 2 ? 34 : 32);
    expect(readPoint(curve, byteReader(encoded, "bytes"), "point").equals(point)).toBe(true);
    for (const scalar of [0n, 1n, 258n, curve.order - 1n])
      expect(readScalar(curve, byteReader(encodeScalar(curve, scalar), "bytes"), "scalar")).toBe(scalar);
  });

  it("a scalar that is not reduced is rejected", () => {
    const encoded = encodeScalar(curve, curve.order);
    expect(() => readScalar(curve, byteReader(encoded, "bytes"), "the scalar")).toThrow(
      "the scalar is not a reduced scalar",
    );
  });

  it("bytes that are no point, and the zero point, are rejected", () => {
    const wrong = new Uint8Array(number < 2 ? 33 : 32).fill(0xff);
    expect(() => decodePoint(curve, wrong, "the point")).toThrow("the point is not a point of the curve");
    if (number >= 2)
      expect(() => decodePoint(curve, pointBytes(curve.zero), "the point")).toThrow(
        "the point is not in the prime-order group",
      );
  });

  it("a multiplication takes any scalar modulo the order", () => {
    expect(scaleBase(curve, -1n).equals(curve.base.negate())).toBe(true);
    expect(scaleBase(curve, curve.order).equals(curve.zero)).toBe(true);
    expect(scale(curve, point, 0n).equals(curve.zero)).toBe(true);
    expect(scale(curve, point, curve.order + 2n).equals(point.add(point))).toBe(true);
  });
});

it("a point outside of the prime-order group is rejected", () => {
  const torsion = ed25519.Point.fromHex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a");
  const curve = curveByNumber(2);
  const mixed = scaleBase(curve, 5n).add(torsion as never);
  expect(() => decodePoint(curve, pointBytes(mixed), "the point")).toThrow("not in the prime-order group");
});

it("scalars are big-endian and upper-case hex on the Weierstrass curves, and little-endian bytes on the others", () => {
  expect(scalarBytes(curveByNumber(0), 258n).slice(-2)).toEqual(Uint8Array.of(1, 2));
  expect(scalarBytes(curveByNumber(2), 258n).slice(0, 2)).toEqual(Uint8Array.of(2, 1));
  expect(scalarJson(curveByNumber(1), 0xabn)).toBe(`${"0".repeat(62)}AB`);
  expect(scalarJson(curveByNumber(3), 7n)).toEqual([7, ...new Array<number>(31).fill(0)]);
  expect(pointJson(curveByNumber(0), curveByNumber(0).base)).toBe(
    "0279BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798",
  );
});

it("an unknown curve is rejected", () => {
  expect(() => curveByNumber(4)).toThrow("unknown curve 4");
});
