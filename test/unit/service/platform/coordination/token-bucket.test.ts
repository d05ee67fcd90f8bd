import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { takeToken } from "../../../../../src/service/platform/coordination/coordination.ts";

const sizes = fc.record({
  perSecond: fc.integer({ min: 1, max: 2_000 }),
  burstCount: fc.integer({ min: 1, max: 5_000 }),
});
const gaps = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 2_000 })), { maxLength: 200 });

describe("a bucket of tokens", () => {
  it("never allows more calls than its size and its refill over any period", () => {
    fc.assert(
      fc.property(sizes, gaps, (size, between) => {
        const allowedAtMs: number[] = [];
        let nowMs = 0;
        let fullAtMs: number | undefined;
        for (const gapMs of between) {
          nowMs += gapMs;
          const taken = takeToken(size, fullAtMs, nowMs);
          fullAtMs = taken.fullAtMs;
          if (taken.isAllowed) allowedAtMs.push(nowMs);
        }
        const excess = allowedAtMs.flatMap((fromMs, from) =>
          allowedAtMs.slice(from).map((toMs, further) => {
            const filled = ((toMs - fromMs) / 1_000) * size.perSecond;
            return further + 1 - size.burstCount - filled;
          }),
        );
        expect(Math.max(0, ...excess)).toBeLessThan(0.01);
      }),
      { numRuns: 50 },
    );
  });

  it("has the reported number of tokens, and the next one at the reported time", () => {
    fc.assert(
      fc.property(sizes, fc.integer({ min: 0, max: 1_000_000 }), (size, nowMs) => {
        let taken = takeToken(size, undefined, nowMs);
        expect(taken.remainingCount).toBe(size.burstCount - 1);
        for (let left = taken.remainingCount; left > 0; left--) {
          taken = takeToken(size, taken.fullAtMs, nowMs);
          expect(taken).toMatchObject({ isAllowed: true, remainingCount: left - 1 });
        }
        const refusal = takeToken(size, taken.fullAtMs, nowMs);
        expect(refusal).toMatchObject({ isAllowed: false, remainingCount: 0 });
        expect(takeToken(size, refusal.fullAtMs, nowMs + refusal.waitMs / 2).isAllowed).toBe(false);
        expect(takeToken(size, refusal.fullAtMs, nowMs + refusal.waitMs).isAllowed).toBe(true);
      }),
      { numRuns: 50 },
    );
  });
});
