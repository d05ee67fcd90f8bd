import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { planSweep, type SweepableCoin } from "../../../../../src/service/billing/sweeps/queue-sweeps.ts";

const coin = (objectId: string, amount: bigint, valueMicroUsd: bigint): SweepableCoin => ({
  objectId,
  version: "1",
  digest: "d",
  amount,
  valueMicroUsd,
});
const ids = (coins: readonly SweepableCoin[]) => coins.map(({ objectId }) => objectId);

describe("a sweep", () => {
  it("waits until its coins together reach the minimum", () => {
    const bounds = { minValueMicroUsd: 10n, maxCoinCount: 5 };
    expect(planSweep([coin("a", 1n, 4n), coin("b", 1n, 5n)], bounds)).toEqual([]);
    expect(ids(planSweep([coin("a", 1n, 4n), coin("b", 1n, 6n)], bounds))).toEqual(["b", "a"]);
  });

  it("takes the most valuable coins if there are too many, and counts only them", () => {
    const coins = [coin("a", 1n, 3n), coin("b", 1n, 5n), coin("c", 1n, 5n), coin("d", 1n, 1n)];
    expect(ids(planSweep(coins, { minValueMicroUsd: 10n, maxCoinCount: 2 }))).toEqual(["b", "c"]);
    expect(planSweep(coins, { minValueMicroUsd: 11n, maxCoinCount: 2 })).toEqual([]);
  });

  it("leaves out empty coins", () => {
    expect(
      ids(planSweep([coin("a", 0n, 0n), coin("b", 1n, 0n)], { minValueMicroUsd: 0n, maxCoinCount: 5 })),
    ).toEqual(["b"]);
  });

  it("contains only given coins, each once, within its limits, whatever they are", () => {
    const someCoin = fc.record({ amount: fc.bigInt(0n, 10n), value: fc.bigInt(0n, 10n) });
    fc.assert(
      fc.property(
        fc.array(someCoin),
        fc.bigInt(0n, 50n),
        fc.integer({ min: 1, max: 6 }),
        (made, least, most) => {
          const coins = made.map(({ amount, value }, index) => coin(`c${index}`, amount, value));
          const chosen = planSweep(coins, { minValueMicroUsd: least, maxCoinCount: most });
          expect(new Set(ids(chosen)).size).toBe(chosen.length);
          expect(chosen.length).toBeLessThanOrEqual(most);
          for (const one of chosen) expect(coins).toContain(one);
          if (chosen.length > 0)
            expect(chosen.reduce((sum, one) => sum + one.valueMicroUsd, 0n)).toBeGreaterThanOrEqual(least);
        },
      ),
    );
  });
});
