import fc from "fast-check";
import { expect, it } from "vitest";
import { type BucketDemand, type PoolBounds, planRefill } from "../../../src/presigns/plan-refill.ts";

const none: BucketDemand = { readyCount: 0, pendingCount: 0, waitingCount: 0, spoiltCount: 0 };
const bounds: PoolBounds = { lowWaterCount: 5, highWaterCount: 12 };
const small = fc.nat(60);
const anyDemand = fc.record({
  readyCount: small,
  pendingCount: small,
  waitingCount: small,
  spoiltCount: fc.constant(0),
});
const anyBounds = fc
  .record({ lowWaterCount: small, aboveCount: small, pendingMaxCount: small })
  .map(({ lowWaterCount, aboveCount, pendingMaxCount }) => ({
    lowWaterCount,
    highWaterCount: lowWaterCount + aboveCount,
    pendingMaxCount,
  }));

it("fills an empty bucket to its low water", () => {
  expect(planRefill(none, bounds)).toBe(5);
});

it("asks for what waits beside the low water", () => {
  expect(planRefill({ ...none, waitingCount: 3 }, bounds)).toBe(8);
});

it("asks for nothing while presigns spoil", () => {
  expect(planRefill({ ...none, spoiltCount: 1 }, bounds)).toBe(0);
});

it("asks for nothing that is on its way already", () => {
  expect(planRefill({ ...none, pendingCount: 5 }, bounds)).toBe(0);
});

it("never passes the high water or the most that may be pending", () => {
  fc.assert(
    fc.property(anyDemand, anyBounds, (demand, limits) => {
      const count = planRefill(demand, limits);
      expect(count).toBeGreaterThanOrEqual(0);
      if (count === 0) return;
      expect(demand.readyCount + demand.pendingCount + count).toBeLessThanOrEqual(limits.highWaterCount);
      expect(demand.pendingCount + count).toBeLessThanOrEqual(limits.pendingMaxCount);
    }),
  );
});

it("is done after one step: planning again on its result asks for nothing more", () => {
  fc.assert(
    fc.property(anyDemand, anyBounds, (demand, limits) => {
      const pendingCount = demand.pendingCount + planRefill(demand, limits);
      expect(planRefill({ ...demand, pendingCount }, limits)).toBe(0);
    }),
  );
});
