import { describe, expect, it } from "vitest";
import type { GasCoin } from "../../../../../src/service/chain/reader.ts";
import { type LaneGas, LOW_GAS_MIST, planGas } from "../../../../../src/service/chain/submit/lane-gas.ts";

const coin = (objectId: string, balanceMist: bigint) => ({
  objectId,
  version: "1",
  digest: "d",
  balanceMist,
});
const SUI = 1_000_000_000n;
const plan = (lanes: readonly LaneGas[], spare: readonly GasCoin[] = [], addressBalanceMist = 0n) =>
  planGas({ lanes, spare, addressBalanceMist });

describe("the plan of gas", () => {
  it("gives each spare coin, the largest first, to the lane with the least gas", () => {
    const lanes = [
      { laneId: "a", balanceMist: 3n * SUI },
      { laneId: "b", balanceMist: 0n },
    ];
    const spare = [coin("small", 1n * SUI), coin("large", 5n * SUI)];
    const { assign } = plan(lanes, spare);
    expect(assign.map(({ laneId, coin: { objectId } }) => [laneId, objectId])).toEqual([
      ["b", "large"],
      ["a", "small"],
    ]);
  });

  it("lets the richest lane share evenly with those that are low", () => {
    const lanes = [
      { laneId: "a", balanceMist: 30n * SUI },
      { laneId: "b", balanceMist: LOW_GAS_MIST - 1n },
      { laneId: "c", balanceMist: 0n },
    ];
    const { split, short } = plan(lanes);
    expect(split).toEqual({ laneId: "a", amountsMist: [10n * SUI, 10n * SUI] });
    expect(short).toEqual([]);
  });

  it("splits nothing if the spare coins are enough", () => {
    const lanes = [
      { laneId: "a", balanceMist: 30n * SUI },
      { laneId: "b", balanceMist: 0n },
    ];
    expect(plan(lanes, [coin("spare", LOW_GAS_MIST)]).split).toBeUndefined();
  });

  it("names the lanes that are short if no lane has enough to share", () => {
    const lanes = [
      { laneId: "a", balanceMist: 3n * LOW_GAS_MIST },
      { laneId: "b", balanceMist: 0n },
    ];
    expect(plan(lanes)).toEqual({ assign: [], redeem: undefined, split: undefined, short: ["b"] });
  });

  it("shares if each lane gets twice what makes it low, to the MIST", () => {
    const plans = [4n * LOW_GAS_MIST, 4n * LOW_GAS_MIST - 1n].map((balanceMist) =>
      plan([
        { laneId: "a", balanceMist },
        { laneId: "b", balanceMist: 0n },
      ]),
    );
    expect(plans[0]).toMatchObject({ split: { laneId: "a", amountsMist: [2n * LOW_GAS_MIST] }, short: [] });
    expect(plans[1]).toMatchObject({ split: undefined, short: ["b"] });
  });

  it("is empty without lanes, and asks nothing of lanes that have enough", () => {
    const nothing = { assign: [], redeem: undefined, split: undefined, short: [] };
    expect(plan([], [coin("spare", SUI)], SUI)).toEqual(nothing);
    expect(plan([{ laneId: "a", balanceMist: LOW_GAS_MIST }])).toEqual(nothing);
  });

  it("makes a coin of an address balance through the richest lane, before it splits coins or calls a lane short", () => {
    const lanes = [
      { laneId: "a", balanceMist: 0n },
      { laneId: "b", balanceMist: LOW_GAS_MIST },
    ];
    const redeem = { laneId: "b", amountMist: 50_000_000n, paysItself: false };
    expect(plan(lanes, [], 50_000_000n)).toEqual({ assign: [], redeem, split: undefined, short: [] });
    expect(plan(lanes, [], 49_999_999n)).toMatchObject({ redeem: undefined, short: ["a"] });
  });

  it("leaves a part of the address balance for the gas if no lane has a coin that could pay", () => {
    expect(plan([{ laneId: "a", balanceMist: 20_000_000n }], [], 70_000_000n).redeem).toEqual({
      ...{ laneId: "a", amountMist: 70_000_000n, paysItself: false },
    });
    const lanes = [{ laneId: "a", balanceMist: 19_999_999n }];
    expect(plan(lanes, [], 70_000_000n).redeem).toEqual({
      laneId: "a",
      amountMist: 50_000_000n,
      paysItself: true,
    });
    expect(plan(lanes, [], 69_999_999n)).toMatchObject({ redeem: undefined, short: ["a"] });
  });
});
