import { describe, expect, it } from "vitest";
import { LOW_GAS_MIST, planGas } from "../../../../src/chain/submit/plan-gas.ts";

const coin = (objectId: string, balanceMist: bigint) => ({
  objectId,
  version: "1",
  digest: "d",
  balanceMist,
});
const SUI = 1_000_000_000n;

describe("the plan of gas", () => {
  it("gives each spare coin, the largest first, to the lane with the least gas", () => {
    const lanes = [
      { laneId: "a", balanceMist: 3n * SUI },
      { laneId: "b", balanceMist: 0n },
    ];
    const spare = [coin("small", 1n * SUI), coin("large", 5n * SUI)];
    const { assign } = planGas(lanes, spare);
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
    const { split, short } = planGas(lanes, []);
    expect(split).toEqual({ laneId: "a", amountsMist: [10n * SUI, 10n * SUI] });
    expect(short).toEqual([]);
  });

  it("splits nothing if the spare coins are enough", () => {
    const lanes = [
      { laneId: "a", balanceMist: 30n * SUI },
      { laneId: "b", balanceMist: 0n },
    ];
    expect(planGas(lanes, [coin("spare", LOW_GAS_MIST)]).split).toBeUndefined();
  });

  it("names the lanes that are short if no lane has enough to share", () => {
    const lanes = [
      { laneId: "a", balanceMist: 3n * LOW_GAS_MIST },
      { laneId: "b", balanceMist: 0n },
    ];
    expect(planGas(lanes, [])).toEqual({ assign: [], split: undefined, short: ["b"] });
  });
});
