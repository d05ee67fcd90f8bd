import fc from "fast-check";
import { expect, it } from "vitest";
import {
  type BucketDemand,
  type PoolBounds,
  planRefill,
  targetCount,
} from "../../../../src/service/presigns/plan-refill.ts";
import { shareRoom } from "../../../../src/service/presigns/refill-loop.ts";

const none: BucketDemand = {
  readyCount: 0,
  pendingCount: 0,
  waitingCount: 0,
  spoiltCount: 0,
  madeCount: 0,
  takenPerSecond: 0,
  mintSeconds: undefined,
};
const bounds: PoolBounds = { lowWaterCount: 5, highWaterCount: 12 };
const small = fc.nat(60);
const anyDemand = fc.record({
  readyCount: small,
  pendingCount: small,
  waitingCount: small,
  spoiltCount: small,
  madeCount: small,
  takenPerSecond: fc.double({ min: 0, max: 50, noNaN: true }),
  mintSeconds: fc.option(fc.double({ min: 0, max: 60, noNaN: true }), { nil: undefined }),
});
const anyBounds = fc
  .record({ lowWaterCount: small, aboveCount: small, pendingMaxCount: small })
  .map(({ lowWaterCount, aboveCount, pendingMaxCount }) => ({
    lowWaterCount,
    highWaterCount: lowWaterCount + aboveCount,
    pendingMaxCount,
  }));

it("fills an empty bucket to its low-water mark", () => {
  expect(planRefill(none, bounds)).toBe(5);
});

it("requests the waiting callers' presigns in addition to the low-water mark", () => {
  expect(planRefill({ ...none, waitingCount: 3 }, bounds)).toBe(8);
});

it("requests one at a time while presigns fail, and none after the third failure", () => {
  expect(planRefill({ ...none, spoiltCount: 1 }, bounds)).toBe(1);
  expect(planRefill({ ...none, spoiltCount: 2, pendingCount: 1 }, bounds)).toBe(0);
  expect(planRefill({ ...none, spoiltCount: 3 }, bounds)).toBe(0);
});

it("refills normally while more presigns succeed than fail", () => {
  expect(planRefill({ ...none, spoiltCount: 3, madeCount: 3 }, bounds)).toBe(5);
});

it("keeps the presigns that one minting time uses, and some more for chance", () => {
  // 4 a second for 9 seconds: 36 expected, and 2.33 times the root of 36.
  const demand = { ...none, takenPerSecond: 4, mintSeconds: 9 };
  expect(targetCount(demand, { lowWaterCount: 5, highWaterCount: 100 })).toBe(50);
  expect(targetCount(demand, { lowWaterCount: 5, highWaterCount: 40 })).toBe(40);
  expect(targetCount({ ...demand, takenPerSecond: 0 }, { lowWaterCount: 5, highWaterCount: 40 })).toBe(5);
});

it("serves buckets with waiting callers first if the network has little room", () => {
  const plan = (name: string, isWaitedFor: boolean) => ({
    bucket: { network: name, curve: 0, signatureAlgorithm: 0, networkEncryptionKeyId: "" },
    isWaitedFor,
    count: 5,
  });
  const shared = shareRoom([plan("a", false), plan("b", true), plan("c", false)], 7);
  expect(shared.map(({ bucket, count }) => [bucket.network, count])).toEqual([
    ["b", 5],
    ["a", 2],
  ]);
  expect(shareRoom([plan("a", true)], -3)).toEqual([]);
});

it("does not request presigns that are pending already", () => {
  expect(planRefill({ ...none, pendingCount: 5 }, bounds)).toBe(0);
});

it("never exceeds the high-water mark or the maximum of pending presigns", () => {
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

it("requests nothing more when it plans again on its result", () => {
  fc.assert(
    fc.property(anyDemand, anyBounds, (demand, limits) => {
      const pendingCount = demand.pendingCount + planRefill(demand, limits);
      expect(planRefill({ ...demand, pendingCount }, limits)).toBe(0);
    }),
  );
});
