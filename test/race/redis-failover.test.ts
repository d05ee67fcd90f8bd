/**
 * Two replicas of the service while a server of their Redis dies and another takes over: by Sentinels, and in a Cluster.
 * Only wake-ups and counts may be lost meanwhile.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRedisCoordination } from "../../src/service/platform/coordination/redis-coordination.ts";
import {
  hasRedisPrograms,
  type RedisGroup,
  startRedisCluster,
  startSentinelGroup,
} from "../support/database/redis-groups.ts";
import { pollUntil } from "../support/poll-until.ts";
import { silentLog } from "../support/silent-log.ts";

const isThere = hasRedisPrograms();

describe.skipIf(!isThere).each([
  ["Sentinels", startSentinelGroup],
  ["a Cluster", startRedisCluster],
] as const)("two replicas over %s", { timeout: 180_000 }, (_, start) => {
  let group: RedisGroup;
  const replicas: ReturnType<typeof createRedisCoordination>[] = [];
  beforeAll(async () => {
    group = await start();
    for (let index = 0; index < 2; index++)
      replicas.push(createRedisCoordination({ url: group.url, log: silentLog, countTimeoutMs: 2_000 }));
    await Promise.all(replicas.map((replica) => replica.ready()));
  }, 180_000);
  afterAll(async () => {
    for (const replica of replicas) await replica.close();
    await group?.stop();
  });

  it("count together and wake each other, again after a server with their counts was killed", async () => {
    const [one, other] = replicas as [Replica, Replica];
    expect(await takenTogether("before")).toBe(5);
    await wakes(one, other);

    await group.killPrimaryOf("tss:calls:after");

    // Nobody waits for the failover: a call is counted in time, here or there.
    const buckets = replicas.map((replica) => replica.buckets("calls", SIZE));
    expect(await Promise.all(buckets.map((each) => each.take("meanwhile")))).toHaveLength(2);
    for (const replica of replicas) await pollUntil(() => replica.check().then(yes, no));
    await pollUntil(async () => (await takenTogether(crypto.randomUUID())) === 5);
    await wakes(one, other);
  });

  async function takenTogether(subject: string): Promise<number> {
    const buckets = replicas.map((replica) => replica.buckets("calls", SIZE));
    const verdicts = await Promise.all(
      buckets.flatMap((each) => Array.from({ length: 6 }, () => each.take(subject))),
    );
    return verdicts.filter(({ isAllowed }) => isAllowed).length;
  }
});

type Replica = ReturnType<typeof createRedisCoordination>;
const SIZE = { burstCount: 5, perSecond: 0.001 };
const yes = () => true;
const no = () => false;

/** Sends a topic from one replica until it arrives at the other. Nothing repeats a lost signal. */
async function wakes(from: Replica, to: Replica): Promise<void> {
  const topic = `kind:${crypto.randomUUID()}`;
  let hasArrived = false;
  const end = to.signals.subscribe(topic, () => {
    hasArrived = true;
  });
  await pollUntil(() => {
    from.signals.notify(topic);
    return hasArrived;
  });
  end();
}
