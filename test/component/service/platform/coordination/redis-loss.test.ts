/** The behaviour of two replicas when the Redis between them is emptied, killed or hangs. */
import { once } from "node:events";
import { Redis } from "ioredis";
import { afterEach, describe, expect, it } from "vitest";
import type { Coordination } from "../../../../../src/service/platform/coordination/coordination.ts";
import { createRedisOutage, openRedis } from "../../../../../src/service/platform/coordination/open-redis.ts";
import { createRedisCoordination } from "../../../../../src/service/platform/coordination/redis-coordination.ts";
import { testRedis } from "../../../../support/database/redis.ts";
import { startRedisProxy } from "../../../../support/database/redis-proxy.ts";
import { pollUntil } from "../../../../support/poll-until.ts";
import { silentLog } from "../../../../support/silent-log.ts";

const redisUrl = await testRedis();
const SIZE = { burstCount: 5, perSecond: 0.01 };
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** Passes each line of the log to the waiting listeners. */
function hearing() {
  const lines: string[] = [];
  let next: () => void = () => {};
  const note = (_fields: object, message: string) => {
    lines.push(message);
    next();
  };
  return {
    log: { ...silentLog, info: note, warn: note },
    lines,
    async until(isThere: (lines: readonly string[]) => boolean) {
      while (!isThere(lines)) {
        await new Promise<void>((resolve) => {
          next = resolve;
        });
      }
    },
  };
}

const countOf = (text: string, lines: readonly string[]) =>
  lines.filter((line) => line.includes(text)).length;

describe.skipIf(redisUrl === undefined)("two replicas over one Redis", () => {
  async function replicas(url = redisUrl!, countTimeoutMs = 5_000) {
    const prefix = `tss-test-${crypto.randomUUID()}:`;
    const [one, other] = [hearing(), hearing()].map(({ log, ...heard }) => {
      const coordination = createRedisCoordination({ url, log, prefix, countTimeoutMs });
      closers.push(() => coordination.close());
      return { ...coordination, heard };
    }) as [Replica, Replica];
    await Promise.all([one.ready(), other.ready()]);
    const buckets = [one, other].map((each) => each.buckets("a", SIZE)) as [Buckets, Buckets];
    return { one, other, buckets, prefix };
  }

  it("count together", async () => {
    const { buckets } = await replicas();
    const counts = await Promise.all(buckets.map((each) => takenOf(each, 20)));
    expect(counts[0]! + counts[1]!).toBe(5);
  });

  it("wake each other, and their own listeners once", async () => {
    const { one, other } = await replicas();
    let ownCount = 0;
    one.signals.subscribe("kind:a", () => ownCount++);
    const arrived = notified(other, "kind:a");
    one.signals.notify("kind:a");
    await arrived;
    // The other replica's reply arrives after any echo from Redis.
    const answered = notified(one, "kind:b");
    other.signals.notify("kind:b");
    await answered;
    expect(ownCount).toBe(1);
  });

  it("continue after Redis was emptied and lost its scripts", async () => {
    const { buckets, prefix } = await replicas();
    expect(await takenOf(buckets[0], 6)).toBe(5);
    const redis = new Redis(redisUrl!);
    await redis.del(...(await redis.keys(`${prefix}*`)));
    await redis.script("FLUSH");
    redis.disconnect();
    expect(await takenOf(buckets[1], 6)).toBe(5);
    expect(await takenOf(buckets[0], 6)).toBe(0);
  });

  it("report that Redis takes no writes, and count alone", async () => {
    const admin = new Redis(redisUrl!);
    const user = `reader-${crypto.randomUUID()}`;
    closers.push(async () => {
      await admin.acl("DELUSER", user);
      admin.disconnect();
    });
    await admin.acl("SETUSER", user, "on", ">secret", "~*", "&*", "+@all");
    const { hostname, port } = new URL(redisUrl!);
    const { one, other, buckets } = await replicas(`redis://${user}:secret@${hostname}:${port || 6379}`);
    await one.check();
    await admin.acl("SETUSER", user, "-@write");
    await expect(one.check()).rejects.toThrow("NOPERM");
    await expect(other.check()).rejects.toThrow("NOPERM");
    for (const each of buckets) expect(await takenOf(each, 6)).toBe(5);
  });

  it("leave a server that became a read-only replica for the one that accepts writes", async () => {
    const outage = createRedisOutage(hearing().log, "");
    const client = openRedis({ url: redisUrl!, outage });
    closers.push(async () => client.disconnect());
    await client.info();
    const connected = once(client, "ready");
    const demoted = "return redis.error_reply('READONLY You can not write against a read only replica.')";
    client.defineCommand("writeToReplica", { numberOfKeys: 0, lua: demoted });
    const { writeToReplica } = client as unknown as { writeToReplica(): Promise<unknown> };
    await expect(writeToReplica.call(client)).rejects.toThrow("READONLY");
    await connected;
  });

  it.each(["kill", "hang"] as const)(
    "count and wake alone after a %s, report it once, and reconnect later",
    { timeout: 30_000 },
    async (loss) => {
      const proxy = await startRedisProxy(redisUrl!);
      closers.push(() => proxy.kill());
      const { one, other, buckets } = await replicas(proxy.url, 500);
      expect(await takenOf(buckets[0], 2)).toBe(2);
      await proxy[loss]();
      expect(await takenOf(buckets[0], 40)).toBe(5);
      expect(await takenOf(buckets[1], 40)).toBe(5);
      await expect(one.check()).rejects.toThrow();
      const own = notified(one, "kind:a");
      one.signals.notify("kind:a");
      await own;
      for (const { heard } of [one, other]) {
        await heard.until((lines) => countOf("does not answer", lines) > 0);
        expect(countOf("does not answer", heard.lines)).toBe(1);
      }
      await proxy.revive();
      await Promise.all([one, other].map(togetherAgain));
      expect((await takenOf(buckets[0], 40)) + (await takenOf(buckets[1], 40))).toBe(3);
      const arrived = notified(other, "kind:a");
      one.signals.notify("kind:a");
      await arrived;
    },
  );
});

describe("a Redis that cannot be reached", () => {
  it("leaves each process its own wake-ups and counts, and fails its check", async () => {
    const heard = hearing();
    const alone = createRedisCoordination({ url: "redis://127.0.0.1:1", log: heard.log });
    closers.push(() => alone.close());
    const own = notified(alone, "kind:a");
    alone.signals.notify("kind:a");
    await own;
    expect(await takenOf(alone.buckets("a", SIZE), 6)).toBe(5);
    await expect(alone.check()).rejects.toThrow();
    await heard.until((lines) => lines.length > 0);
    expect(heard.lines).toEqual([
      "Redis does not answer; each replica counts calls alone, and polls for the changes of others, a little later",
    ]);
  });
});

type Replica = Coordination & {
  ready(): Promise<void>;
  readonly heard: Omit<ReturnType<typeof hearing>, "log">;
};
type Buckets = ReturnType<Coordination["buckets"]>;

async function takenOf(buckets: Buckets, count: number): Promise<number> {
  const verdicts = await Promise.all(Array.from({ length: count }, () => buckets.take("subject")));
  return verdicts.filter(({ isAllowed }) => isAllowed).length;
}

function notified({ signals }: Coordination, topic: string): Promise<void> {
  return new Promise((resolve) => {
    signals.subscribe(topic, resolve);
  });
}

/**
 * Waits until the replica reports that it shares counts again, and until its check passes, so that it wakes others
 * again.
 */
async function togetherAgain({ heard, check }: Replica): Promise<void> {
  await heard.until((lines) => countOf("is reachable again", lines) > 0);
  const isThere = () =>
    check().then(
      () => true,
      () => false,
    );
  await pollUntil(isThere);
}
