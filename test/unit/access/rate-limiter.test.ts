/** One contract for both places where calls are counted. */
import { once } from "node:events";
import type { Redis } from "ioredis";
import { afterEach, describe, expect, it } from "vitest";
import { connectLimiterRedis } from "../../../src/access/connect-limiter-redis.ts";
import { MemoryLimiter } from "../../../src/access/memory-limiter.ts";
import { createRateLimiter, type RateLimiter } from "../../../src/access/rate-limiter.ts";
import { testRedis } from "../../support/redis.ts";
import { startRedisProxy } from "../../support/redis-proxy.ts";

const redisUrl = await testRedis();
/** A bucket of five that gets a token every 100 seconds: no test is long enough to see one. */
const SLOW = {
  perSecond: { read: 0.01, write: 0.01, chain: 0, stream: 0.01, refusedKey: 0.01 },
  burstSeconds: 500,
};
const TOKEN_MS = 100_000;
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

interface Counted {
  readonly limiter: RateLimiter;
  /** Lets time pass for all buckets. */
  advance(ms: number): Promise<void>;
}

function inProcess(): Counted {
  let nowMs = 1_000;
  const limiter = createRateLimiter({ limits: SLOW, now: () => nowMs });
  return {
    limiter,
    async advance(ms) {
      nowMs += ms;
    },
  };
}

async function connected(url: string): Promise<Redis> {
  const redis = connectLimiterRedis({ url, log: { warn() {} }, timeoutMs: 1_000 });
  closers.push(() => redis.disconnect());
  await once(redis, "ready");
  return redis;
}

async function overRedis(): Promise<Counted> {
  const redis = await connected(redisUrl!);
  const prefix = `tss-test-${crypto.randomUUID()}:`;
  return {
    limiter: createRateLimiter({ limits: SLOW, redis, prefix }),
    // Its clock cannot be set; what it keeps is moved into the past instead.
    async advance(ms) {
      for (const key of await redis.keys(`${prefix}*`)) {
        const fullAt = BigInt((await redis.get(key)) ?? 0);
        await redis.set(key, String(fullAt - 1_000n * BigInt(ms)), "KEEPTTL");
      }
    },
  };
}

/** How many of so many calls at the same time are allowed. */
async function allowed(limiter: RateLimiter, subject: string, count: number): Promise<number> {
  const verdicts = await Promise.all(
    Array.from({ length: count }, async () => limiter.take("write", subject)),
  );
  return verdicts.filter((verdict) => verdict?.isAllowed).length;
}

describe.each([
  { name: "in the process", make: async () => inProcess(), missing: false },
  { name: "over Redis", make: overRedis, missing: redisUrl === undefined },
])("calls that are counted $name", ({ make, missing }) => {
  describe.skipIf(missing)("", () => {
    it("may come in a burst, and are told how many are left", async () => {
      const { limiter } = await make();
      const remaining = [];
      for (let call = 0; call < 5; call++) {
        const verdict = await limiter.take("write", "a");
        expect(verdict).toMatchObject({ isAllowed: true, limitCount: 5, retryAfterMs: 0 });
        expect(verdict?.resetMs).toBeGreaterThan(TOKEN_MS * call);
        expect(verdict?.resetMs).toBeLessThanOrEqual(TOKEN_MS * (call + 1));
        remaining.push(verdict?.remainingCount);
      }
      expect(remaining).toEqual([4, 3, 2, 1, 0]);
    });

    it("are refused beyond it, with the time after which one is taken", async () => {
      const { limiter, advance } = await make();
      expect(await allowed(limiter, "a", 40)).toBe(5);
      const refusal = await limiter.take("write", "a");
      expect(refusal).toMatchObject({ isAllowed: false, limitCount: 5, remainingCount: 0 });
      expect(refusal?.retryAfterMs).toBeGreaterThan(0);
      expect(refusal?.retryAfterMs).toBeLessThanOrEqual(TOKEN_MS);
      expect(refusal?.resetMs).toBe((refusal?.retryAfterMs ?? 0) + 4 * TOKEN_MS);
      await advance(refusal!.retryAfterMs);
      expect(await allowed(limiter, "a", 5)).toBe(1);
      await advance(10 * TOKEN_MS);
      expect(await allowed(limiter, "a", 40)).toBe(5);
    });

    it("count for their own subject and class, and not at all where there is no limit", async () => {
      const { limiter } = await make();
      expect(await allowed(limiter, "a", 6)).toBe(5);
      expect(await allowed(limiter, "b", 6)).toBe(5);
      expect(await limiter.take("read", "a")).toMatchObject({ remainingCount: 4 });
      expect(await limiter.take("chain", "a")).toBeUndefined();
    });
  });
});

describe("buckets in the process", () => {
  it("are of a bounded number, and the oldest is forgotten first", async () => {
    const buckets = new MemoryLimiter({ perSecond: 1, burstCount: 2 }, () => 0);
    for (let subject = 0; subject < 50_001; subject++) await buckets.consume(String(subject));
    expect(buckets.bucketCount).toBe(50_000);
    expect(await buckets.consume("0")).toMatchObject({ remainingPoints: 1 });
    expect(await buckets.consume("50000")).toMatchObject({ remainingPoints: 0 });
  });
});

describe.skipIf(redisUrl === undefined)("two replicas over one Redis", () => {
  async function replicas(url = redisUrl!) {
    const prefix = `tss-test-${crypto.randomUUID()}:`;
    const clients = [await connected(url), await connected(url)] as const;
    const [one, other] = clients.map((redis) => createRateLimiter({ limits: SLOW, redis, prefix })) as [
      RateLimiter,
      RateLimiter,
    ];
    return { one, other, clients, prefix };
  }

  it("count together", async () => {
    const { one, other } = await replicas();
    const counts = await Promise.all([allowed(one, "a", 20), allowed(other, "a", 20)]);
    expect(counts[0] + counts[1]).toBe(5);
  });

  it("begin anew when it was emptied and has lost its scripts", async () => {
    const { one, other, clients, prefix } = await replicas();
    expect(await allowed(one, "a", 6)).toBe(5);
    await clients[0].del(...(await clients[0].keys(`${prefix}*`)));
    await clients[0].script("FLUSH");
    expect(await allowed(other, "a", 6)).toBe(5);
    expect(await allowed(one, "a", 6)).toBe(0);
  });

  it.each(["kill", "hang"] as const)(
    "count each for itself after a %s, and together again later",
    async (loss) => {
      const proxy = await startRedisProxy(redisUrl!);
      closers.push(() => proxy.kill());
      const { one, other, clients } = await replicas(proxy.url);
      expect(await allowed(one, "a", 2)).toBe(2);
      await proxy[loss]();
      expect(await allowed(one, "a", 40)).toBe(5);
      expect(await allowed(other, "a", 40)).toBe(5);
      const back = Promise.all(clients.map((client) => once(client, "ready")));
      await proxy.revive();
      await back;
      expect((await allowed(one, "a", 40)) + (await allowed(other, "a", 40))).toBe(3);
    },
  );
});
