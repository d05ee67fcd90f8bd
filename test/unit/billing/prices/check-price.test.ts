import { describe, expect, it } from "vitest";
import { checkPrice, type PriceState } from "../../../../src/billing/prices/check-price.ts";

const BOUNDS = { maxStepPercent: 20, holdMs: 60_000 };
const price = (picoUsd: number, seconds: number) => ({
  picoUsd: BigInt(picoUsd),
  time: new Date(1_000 * seconds),
});
/** The accepted price after each reading, given as price and second. */
function believed(...readings: readonly (readonly [number, number])[]): (number | undefined)[] {
  let state: PriceState = {};
  return readings.map(([picoUsd, seconds]) => {
    state = checkPrice(state, price(picoUsd, seconds), BOUNDS);
    return state.accepted && Number(state.accepted.picoUsd);
  });
}

describe("a price", () => {
  it("is accepted if it is the first, or if it moves by at most the step", () => {
    expect(believed([100, 0], [120, 1], [96, 2])).toEqual([100, 120, 96]);
  });

  it("that jumps up or down is not accepted, and is dropped when the feed returns", () => {
    expect(believed([100, 0], [121, 1], [79, 2], [101, 3])).toEqual([100, 100, 100, 101]);
  });

  it("that jumped is accepted once the feed has held it for the required time", () => {
    expect(believed([100, 0], [200, 10], [210, 40], [205, 69], [206, 70])).toEqual([100, 100, 100, 100, 206]);
  });

  it("that jumps again restarts the required time", () => {
    expect(believed([100, 0], [200, 10], [400, 40], [400, 70], [400, 100])).toEqual([
      100, 100, 100, 100, 400,
    ]);
  });

  it("that is not newer changes nothing", () => {
    expect(believed([100, 5], [101, 5], [102, 4], [200, 10], [200, 10], [200, 9])).toEqual([
      100, 100, 100, 100, 100, 100,
    ]);
  });
});
