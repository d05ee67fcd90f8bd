import { expect, it, test } from "vitest";
import { type MedianBounds, medianPrice } from "../../../../../src/service/billing/prices/check-price.ts";
import type { PriceReading } from "../../../../../src/service/billing/prices/price-readers.ts";

const BOUNDS: MedianBounds = { minCount: 1, maxSpreadPercent: 5 };

function reading(picoUsd: bigint, { margin = 0n, ageMs = 0 } = {}): PriceReading {
  const time = new Date(1_000_000 - ageMs);
  return { picoUsd, lowPicoUsd: picoUsd - margin, highPicoUsd: picoUsd + margin, time };
}
const priceOf = (readings: readonly PriceReading[], bounds = BOUNDS) => {
  const price = medianPrice(readings, bounds);
  return typeof price === "string" ? price : price.picoUsd;
};

test.each<[string, bigint[], bigint]>([
  ["one", [1000n], 1000n],
  ["two, their mean", [1001n, 1040n], 1020n],
  ["three, the one in the middle", [1040n, 1000n, 1010n], 1010n],
  ["four, the mean of the middle two", [1040n, 1000n, 1010n, 1020n], 1015n],
])("the median is, of %s", (_, prices, expected) => {
  expect(priceOf(prices.map((price) => reading(price)))).toBe(expected);
});

it("a median is as old as the oldest price in it", () => {
  const price = medianPrice([reading(1000n), reading(1000n, { ageMs: 700 }), reading(1000n)], BOUNDS);
  expect(price).toEqual({ picoUsd: 1000n, time: new Date(999_300), sourceCount: 3 });
});

it("there is no median of fewer sources than the minimum, or of none", () => {
  expect(priceOf([], { ...BOUNDS, minCount: 0 })).toBe("too-few");
  expect(priceOf([reading(1000n)], { ...BOUNDS, minCount: 2 })).toBe("too-few");
});

it("there is no median of sources further apart than the maximum spread", () => {
  expect(priceOf([reading(1000n), reading(1050n)])).toBe(1025n);
  expect(priceOf([reading(1000n), reading(1052n)])).toBe("too-far-apart");
  // One source that is off by a unit stops the others rather than being outvoted.
  expect(priceOf([reading(1000n), reading(1000n), reading(100_000n)])).toBe("too-far-apart");
});

it("a source's own bounds count towards the spread, even if it is the only one", () => {
  expect(priceOf([reading(1000n, { margin: 25n })])).toBe(1000n);
  expect(priceOf([reading(1000n, { margin: 26n })])).toBe("too-far-apart");
  expect(priceOf([reading(1000n, { margin: 20n }), reading(1040n)])).toBe("too-far-apart");
});
