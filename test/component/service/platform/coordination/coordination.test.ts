/** One contract for both kinds of coordination between replicas. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { Redis } from "ioredis";
import { afterEach, describe, expect, it } from "vitest";
import type { Coordination } from "../../../../../src/service/platform/coordination/coordination.ts";
import { createLocalCoordination } from "../../../../../src/service/platform/coordination/local-coordination.ts";
import { createRedisCoordination } from "../../../../../src/service/platform/coordination/redis-coordination.ts";
import type { Signals } from "../../../../../src/service/platform/coordination/signals.ts";
import { testRedis } from "../../../../support/database/redis.ts";
import { silentLog } from "../../../../support/silent-log.ts";

const redisUrl = await testRedis();
/** A bucket of five, with a token every 100 seconds: no test runs long enough to see a refill. */
const SIZE = { burstCount: 5, perSecond: 0.01 };
const TOKEN_MS = 100_000;
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

interface Shared {
  readonly coordination: Coordination;
  /** Advances the time of all buckets. */
  advance(ms: number): Promise<void>;
}

async function inProcess(): Promise<Shared> {
  let nowMs = 1_000;
  const coordination = createLocalCoordination(() => nowMs);
  closers.push(() => coordination.close());
  return {
    coordination,
    async advance(ms) {
      nowMs += ms;
    },
  };
}

async function overRedis(): Promise<Shared> {
  const prefix = `tss-test-${crypto.randomUUID()}:`;
  // The time-out is long enough for a busy machine.
  const coordination = createRedisCoordination({
    url: redisUrl!,
    log: silentLog,
    prefix,
    countTimeoutMs: 5_000,
  });
  closers.push(() => coordination.close());
  await coordination.ready();
  return {
    coordination,
    // The clock of Redis cannot be set, so the test moves its entries into the past instead.
    async advance(ms) {
      const redis = new Redis(redisUrl!);
      for (const key of await redis.keys(`${prefix}*`)) {
        const fullAt = BigInt((await redis.get(key)) ?? 0);
        await redis.set(key, String(fullAt - 1_000n * BigInt(ms)), "KEEPTTL");
      }
      redis.disconnect();
    },
  };
}

describe.each([
  { name: "in one process", make: inProcess, missing: false },
  { name: "over Redis", make: overRedis, missing: redisUrl === undefined },
])("coordination $name", ({ make, missing }) => {
  describe.skipIf(missing)("signals", () => {
    it("wake every listener of the topic and no other", async () => {
      const { signals } = (await make()).coordination;
      const heard: string[] = [];
      signals.subscribe("kind:b", () => heard.push("other"));
      const both = ["first", "second"].map(
        (name) =>
          new Promise<void>((resolve) => {
            signals.subscribe("kind:a", () => {
              heard.push(name);
              resolve();
            });
          }),
      );
      signals.notify("kind:a");
      await Promise.all(both);
      expect(heard).toEqual(["first", "second"]);
    });

    it("tell a listener of a kind of topics which topic it was", async () => {
      const { signals } = (await make()).coordination;
      const heard: string[] = [];
      const leave = signals.subscribeKind("kind", (subject) => heard.push(subject));
      signals.subscribeKind("other", (subject) => heard.push(subject));
      signals.notify("kind:a");
      signals.notify("kind:b:c");
      await heardOnce(signals, "last:one");
      leave();
      signals.notify("kind:d");
      await heardOnce(signals, "last:one");
      expect(heard).toEqual(["a", "b:c"]);
    });

    it("call no listener inside notify, and none after it has unsubscribed", async () => {
      const { signals } = (await make()).coordination;
      let count = 0;
      const leave = signals.subscribe("kind:a", () => count++);
      signals.notify("kind:a");
      expect(count).toBe(0);
      leave();
      await heardOnce(signals, "kind:a");
      expect(count).toBe(0);
    });

    it("survive a listener that throws", async () => {
      const { signals } = (await make()).coordination;
      signals.subscribe("kind:a", () => {
        throw new Error("a listener's own trouble");
      });
      await heardOnce(signals, "kind:a");
    });

    it("are not sent after close", async () => {
      const { coordination } = await make();
      let count = 0;
      coordination.signals.subscribe("kind:a", () => count++);
      await coordination.close();
      coordination.signals.notify("kind:a");
      await nextTurn();
      expect(count).toBe(0);
    });
  });

  describe.skipIf(missing)("buckets", () => {
    it("allow a burst, and report how many tokens are left and when all are back", async () => {
      const { coordination } = await make();
      const buckets = coordination.buckets("a", SIZE);
      const remaining = [];
      for (let call = 0; call < 5; call++) {
        const { isAllowed, remainingCount, waitMs } = await buckets.take("subject");
        expect(isAllowed).toBe(true);
        expect(waitMs).toBeGreaterThan(TOKEN_MS * call);
        expect(waitMs).toBeLessThanOrEqual(TOKEN_MS * (call + 1));
        remaining.push(remainingCount);
      }
      expect(remaining).toEqual([4, 3, 2, 1, 0]);
    });

    it("refuse calls beyond the burst, even all at once, and report when the next token is there", async () => {
      const { coordination, advance } = await make();
      const buckets = coordination.buckets("a", SIZE);
      expect(await takenOf(buckets, "subject", 40)).toBe(5);
      const refusal = await buckets.take("subject");
      expect(refusal).toMatchObject({ isAllowed: false, remainingCount: 0 });
      expect(refusal.waitMs).toBeGreaterThan(0);
      expect(refusal.waitMs).toBeLessThanOrEqual(TOKEN_MS);
      await advance(Math.ceil(refusal.waitMs));
      expect(await takenOf(buckets, "subject", 5)).toBe(1);
      await advance(10 * TOKEN_MS);
      expect(await takenOf(buckets, "subject", 40)).toBe(5);
    });

    it("take back a token that was not used, and never hold more than a burst", async () => {
      const { coordination } = await make();
      const buckets = coordination.buckets("a", SIZE);
      await buckets.giveBack("subject");
      expect(await takenOf(buckets, "subject", 6)).toBe(5);
      await buckets.giveBack("subject");
      expect(await takenOf(buckets, "subject", 2)).toBe(1);
    });

    it("are separate for each name and subject", async () => {
      const { coordination } = await make();
      expect(await takenOf(coordination.buckets("a", SIZE), "subject", 6)).toBe(5);
      expect(await takenOf(coordination.buckets("a", SIZE), "other", 6)).toBe(5);
      expect(await takenOf(coordination.buckets("b", SIZE), "subject", 6)).toBe(5);
    });
  });

  describe.skipIf(missing)("its check", () => {
    it("passes while it shares", async () => {
      const { coordination } = await make();
      await coordination.check();
    });
  });
});

describe("buckets in the process", () => {
  it("are bounded in number, and the oldest is dropped first", async () => {
    const { coordination } = await inProcess();
    const buckets = coordination.buckets("a", { perSecond: 1, burstCount: 2 });
    for (let subject = 0; subject < 50_001; subject++) await buckets.take(String(subject));
    expect(await buckets.take("0")).toMatchObject({ remainingCount: 1 });
    expect(await buckets.take("50000")).toMatchObject({ remainingCount: 0 });
  });
});

async function takenOf(
  buckets: ReturnType<Coordination["buckets"]>,
  subject: string,
  count: number,
): Promise<number> {
  const verdicts = await Promise.all(Array.from({ length: count }, () => buckets.take(subject)));
  return verdicts.filter(({ isAllowed }) => isAllowed).length;
}

async function heardOnce(signals: Signals, topic: string): Promise<void> {
  const heard = new Promise<void>((resolve) => {
    signals.subscribe(topic, resolve);
  });
  signals.notify(topic);
  await heard;
}
