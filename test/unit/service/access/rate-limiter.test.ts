import { describe, expect, it } from "vitest";
import { createRateLimiter, createRefusedKeys } from "../../../../src/service/access/rate-limiter.ts";
import { createLocalCoordination } from "../../../../src/service/platform/coordination/local-coordination.ts";
import { ServiceError } from "../../../../src/service/platform/errors/service-error.ts";

const TOKEN_MS = 100_000;
/** Buckets of five that get a token every 100 seconds. */
const limits = {
  perSecond: { read: 0.01, write: 0.01, chain: 0, verify: 0, stream: 0.01, refusedKey: 0.01, open: 0.01 },
  burstSeconds: 500,
};

function limiterAt(clock: { nowMs: number }) {
  return createRateLimiter({ limits, coordination: createLocalCoordination(() => clock.nowMs) });
}

describe("calls that are counted", () => {
  it("may come in a burst, and get the number that is left and the time of a full refill", async () => {
    const limiter = limiterAt({ nowMs: 0 });
    const verdicts = [];
    for (let call = 0; call < 5; call++) verdicts.push(await limiter.take("write", "a"));
    expect(verdicts).toEqual(
      [4, 3, 2, 1, 0].map((remainingCount, call) => ({
        isAllowed: true,
        limitCount: 5,
        remainingCount,
        resetMs: (call + 1) * TOKEN_MS,
        retryAfterMs: 0,
      })),
    );
  });

  it("are refused beyond the burst, with the time until the next one", async () => {
    const clock = { nowMs: 0 };
    const limiter = limiterAt(clock);
    for (let call = 0; call < 5; call++) await limiter.take("write", "a");
    clock.nowMs += 1;
    expect(await limiter.take("write", "a")).toEqual({
      isAllowed: false,
      limitCount: 5,
      remainingCount: 0,
      resetMs: TOKEN_MS - 1 + 4 * TOKEN_MS,
      retryAfterMs: TOKEN_MS - 1,
    });
    clock.nowMs += TOKEN_MS - 1;
    expect(await limiter.take("write", "a")).toMatchObject({ isAllowed: true });
  });

  it("count for their own subject and class, and not at all without a limit", async () => {
    const limiter = limiterAt({ nowMs: 0 });
    for (let call = 0; call < 6; call++) await limiter.take("write", "a");
    expect(await limiter.take("write", "b")).toMatchObject({ remainingCount: 4 });
    expect(await limiter.take("read", "a")).toMatchObject({ remainingCount: 4 });
    expect(await limiter.take("chain", "a")).toBeUndefined();
  });
});

describe("refused keys", () => {
  const refused = (reason: "INVALID_KEY" | "SCOPE_MISSING") => async () => {
    throw new ServiceError(reason, "refused");
  };

  it("count against their address, and no other refusal does", async () => {
    const clock = { nowMs: 0 };
    const { guard } = createRefusedKeys(limiterAt(clock), () => clock.nowMs);
    for (let count = 0; count < 10; count++)
      await expect(guard("192.0.2.1", refused("SCOPE_MISSING"))).rejects.toMatchObject({
        reason: "SCOPE_MISSING",
      });
    for (let count = 0; count < 5; count++)
      await expect(guard("192.0.2.1", refused("INVALID_KEY"))).rejects.toMatchObject({
        reason: "INVALID_KEY",
      });
    await expect(guard("192.0.2.1", refused("INVALID_KEY"))).rejects.toMatchObject({
      reason: "RATE_LIMITED",
    });
    await expect(guard("192.0.2.2", refused("INVALID_KEY"))).rejects.toMatchObject({ reason: "INVALID_KEY" });
    // A key that is right is never refused.
    expect(await guard("192.0.2.1", async () => "admitted")).toBe("admitted");
  });
});
