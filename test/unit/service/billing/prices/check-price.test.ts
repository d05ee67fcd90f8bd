import { describe, expect, it } from "vitest";
import { checkPrice, type PriceState } from "../../../../../src/service/billing/prices/check-price.ts";

const BOUNDS = { maxStepPercent: 20, maxHourPercent: 30, maxDayPercent: 60, holdMs: 60_000 };
const price = (picoUsd: number, seconds: number) => ({
  picoUsd: BigInt(picoUsd),
  time: new Date(1_000 * seconds),
});
const range = (low: number, high: number) => ({ lowPicoUsd: BigInt(low), highPicoUsd: BigInt(high) });

/** The accepted price after each reading of so many sources, given as price and second, and its second for the service. */
function believed(
  sourceCount: number,
  ...readings: readonly (readonly [picoUsd: number, seconds: number, nowSeconds?: number])[]
): (number | undefined)[] {
  let state: PriceState = {};
  return readings.map(([picoUsd, seconds, nowSeconds = seconds]) => {
    state = checkPrice(state, { ...price(picoUsd, seconds), sourceCount }, 1_000 * nowSeconds, BOUNDS);
    return state.accepted && Number(state.accepted.picoUsd);
  });
}

/** What becomes of a price after one of 100, by the ranges of the last hour and day. */
function fateOf(ranges: Omit<PriceState, "accepted" | "doubted">, picoUsd: number, sourceCount = 3) {
  const state = { accepted: price(100, 0), ...ranges };
  const { accepted, doubted } = checkPrice(state, { ...price(picoUsd, 1), sourceCount }, 1_000, BOUNDS);
  return doubted?.beyond ?? Number(accepted?.picoUsd);
}

describe("a price", () => {
  it("is accepted if it is the first, or if it moves by at most the step", () => {
    expect(believed(1, [100, 0], [120, 1], [96, 2])).toEqual([100, 120, 96]);
  });

  it("that jumps up or down is not accepted, and is dropped when the feed returns", () => {
    expect(believed(2, [100, 0], [121, 1], [79, 2], [101, 3])).toEqual([100, 100, 100, 101]);
  });

  it("that jumped within the bound of an hour is accepted once two sources have held it for the required time", () => {
    const readings = [
      [100, 0],
      [125, 10],
      [128, 40],
      [126, 69],
      [127, 70],
    ] as const;
    expect(believed(2, ...readings)).toEqual([100, 100, 100, 100, 127]);
    expect(believed(1, ...readings, [127, 100_000])).toEqual([100, 100, 100, 100, 100, 100]);
  });

  it("that a source backdates has held only since the service saw it", () => {
    expect(believed(2, [100, 0], [125, 10, 100], [125, 71, 159], [125, 72, 160])).toEqual([
      100, 100, 100, 125,
    ]);
  });

  it("that jumps again restarts the required time", () => {
    expect(believed(2, [100, 0], [125, 10], [75, 40], [75, 70], [75, 99], [77, 100])).toEqual([
      100, 100, 100, 100, 100, 77,
    ]);
  });

  it("that is not newer changes nothing", () => {
    expect(believed(2, [100, 5], [101, 5], [102, 4], [125, 10], [125, 10], [125, 9])).toEqual([
      100, 100, 100, 100, 100, 100,
    ]);
  });

  it.each([
    ["up", { hour: range(91, 105) }, 118, 119],
    ["down", { hour: range(95, 117) }, 90, 89],
  ])("moves %s by at most the bound of an hour, however many sources agree", (_, ranges, within, beyond) => {
    expect(fateOf(ranges, within)).toBe(within);
    expect(fateOf(ranges, beyond, 99)).toBe("hour");
  });

  it.each([
    ["up", { hour: range(98, 102), day: range(70, 102) }, 112, 113],
    ["down", { hour: range(98, 102), day: range(98, 140) }, 88, 87],
  ])("moves %s by at most the bound of a day, however many sources agree", (_, ranges, within, beyond) => {
    expect(fateOf(ranges, within)).toBe(within);
    expect(fateOf(ranges, beyond, 99)).toBe("day");
  });

  it("moves from the last accepted one, even if that is older than a day", () => {
    expect(fateOf({}, 120, 1)).toBe(120);
    expect(fateOf({}, 121, 1)).toBe("step");
    expect(fateOf({}, 131)).toBe("hour");
    expect(fateOf({}, 161)).toBe("day");
  });
});
