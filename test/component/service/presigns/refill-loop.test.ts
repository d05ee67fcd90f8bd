/** When the loop that refills the pool looks again, and how it shares the network's room among its buckets. */
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { setDraining } from "../../../../src/service/chain/network-drain.ts";
import { createLocalSignals } from "../../../../src/service/platform/coordination/local-coordination.ts";
import { topics } from "../../../../src/service/platform/coordination/topics.ts";
import type { Database } from "../../../../src/service/platform/store/database.ts";
import type { PresignBucket } from "../../../../src/service/presigns/bucket.ts";
import { createRefillLoop, type RefillLoopDeps } from "../../../../src/service/presigns/refill-loop.ts";
import { requestPresigns } from "../../../../src/service/presigns/request-presigns.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { objectId, readyPresigns } from "../../../support/database/rows.ts";
import { createPauseClock } from "../../../support/pause-clock.ts";
import { silentLog } from "../../../support/silent-log.ts";

/** After a pass that found nothing to do, and after any other. */
const [REST_MS, SOON_MS] = [30_000, 1_000];
/** After a signal for which nobody waits. */
const DAMPED_MS = 500;
const LOW_WATER_COUNT = 3;

let database: Database;
/** Each test has buckets of its own. */
let bucket: PresignBucket;
let other: PresignBucket;

beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(() => {
  bucket = {
    ...{ network: "localnet", curve: 0, signatureAlgorithm: 0 },
    networkEncryptionKeyId: objectId(),
  };
  other = { ...bucket, curve: 2 };
});

it("rests while every bucket is full", async () => {
  await readyPresigns(database, bucket, LOW_WATER_COUNT);
  expect(await pausesOf(loopOf(), 2)).toEqual([REST_MS, REST_MS]);
});

it("looks again soon while presigns are pending, because each makes room for another", async () => {
  expect(await pausesOf(loopOf(), 2)).toEqual([SOON_MS, SOON_MS]);
  expect(await countOf(bucket)).toBe(LOW_WATER_COUNT);
});

it("looks again soon while callers wait for a bucket that it cannot fill", async () => {
  const queue = { waitedFor: () => [bucket], waitingCount: () => 1 };
  expect(await pausesOf(loopOf({ queue, affordable: async () => 0 }), 1)).toEqual([SOON_MS]);
  expect(await countOf(bucket)).toBe(0);
});

it("rests without a bucket, and asks for the network's room only when there is one", async () => {
  let asked = 0;
  const sessionBuffer = async () => {
    asked++;
    return 100;
  };
  expect(await pausesOf(loopOf({ warmBuckets: async () => [], sessionBuffer }), 1)).toEqual([REST_MS]);
  expect(asked).toBe(0);
});

it("requests nothing while the network drains, and rests", async () => {
  await database.query("INSERT INTO known_network (name, chain_id) VALUES ('localnet', 'chain')", []);
  await setDraining(database, "localnet", true);
  expect(await pausesOf(loopOf(), 1)).toEqual([REST_MS]);
  expect(await countOf(bucket)).toBe(0);
  await setDraining(database, "localnet", false);
});

it("leaves the planning to another replica that has begun it, and looks again soon", async () => {
  const locked: Pick<Database, "transaction"> = {
    transaction: (work) =>
      database.transaction((db) =>
        work({
          ...db,
          query: async <Row>(statement: string, parameters?: readonly unknown[]) =>
            statement.includes("pg_try_advisory_xact_lock")
              ? ([{ locked: false }] as Row[])
              : db.query<Row>(statement, parameters),
        }),
      ),
  };
  expect(await pausesOf(loopOf({ database: locked as Database }), 1)).toEqual([SOON_MS]);
  expect(await countOf(bucket)).toBe(0);
});

it("requests no more than the room that pending presigns leave, for waiting callers first", async () => {
  await requestPresigns(database, bucket, 1);
  const queue = {
    waitedFor: () => [other],
    waitingCount: ({ curve }: PresignBucket) => (curve === other.curve ? 2 : 0),
  };
  const warmBuckets = async () => [bucket, other];
  await pausesOf(loopOf({ queue, warmBuckets, sessionBuffer: async () => 7 }), 1);
  expect([await countOf(other), await countOf(bucket)]).toEqual([LOW_WATER_COUNT + 2, 1 + 1]);
});

it("reads the warm buckets again after a second at the earliest, however often it is woken", async () => {
  let readCount = 0;
  const warmBuckets = async () => {
    readCount++;
    return [];
  };
  const made = loopOf({ warmBuckets });
  const { loop, clock, signals, woken } = made;
  loop.start();
  expect(await clock.paused()).toBe(REST_MS);
  for (let count = 0; count < 3; count++) signals.notify(topics.presignWanted("localnet"));
  await new Promise((resolve) => setImmediate(resolve));
  // One pass serves the signals of many reservations.
  expect(await clock.paused()).toBe(DAMPED_MS);
  const pass = woken();
  clock.elapse();
  await pass;
  // What it remembers may lack the bucket of the signal, so it looks again as soon as it may read.
  expect(await clock.paused()).toBe(SOON_MS);
  expect(readCount).toBe(1);
  clock.elapse();
  expect(await clock.paused()).toBe(REST_MS);
  expect(readCount).toBe(2);
  await loop.stop();
});

it("looks at once at the signal of a caller that waits", async () => {
  const queue = { waitedFor: () => [bucket], waitingCount: () => 1 };
  let passed: () => void = () => {};
  const sessionBuffer = async () => {
    passed();
    return 100;
  };
  const { loop, clock, signals } = loopOf({ queue, affordable: async () => 0, sessionBuffer });
  loop.start();
  expect(await clock.paused()).toBe(SOON_MS);
  const pass = new Promise<void>((resolve) => {
    passed = resolve;
  });
  signals.notify(topics.presignWanted("localnet"));
  // The clock stands still meanwhile.
  await pass;
  await loop.stop();
});

it("fills a bucket once that is both warm and waited for", async () => {
  const queue = { waitedFor: () => [bucket], waitingCount: () => 0 };
  await pausesOf(loopOf({ queue }), 1);
  expect(await countOf(bucket)).toBe(LOW_WATER_COUNT);
});

/** A loop that keeps the bucket warm, and whose signals reach every process. */
function loopOf(options: Partial<RefillLoopDeps> = {}) {
  const signals = { ...createLocalSignals(), isComplete: () => true };
  const clock = createPauseClock();
  let pass: () => void = () => {};
  const queue = options.queue ?? { waitedFor: () => [], waitingCount: () => 0 };
  const loop = createRefillLoop({
    ...{ database, signals, clock, network: "localnet" },
    bounds: { lowWaterCount: LOW_WATER_COUNT, highWaterCount: 10 },
    sessionBuffer: async () => 100,
    affordable: async () => 1_000,
    warmBuckets: async () => [bucket],
    log: { ...silentLog, debug() {} },
    ...options,
    queue: {
      ...queue,
      waitedFor() {
        pass();
        return queue.waitedFor();
      },
    },
  });
  return {
    ...{ loop, clock, signals },
    /** Resolves when the next pass begins. */
    woken: () =>
      new Promise<void>((resolve) => {
        pass = resolve;
      }),
  };
}

/** Runs passes one after another. Returns the pause after each. */
async function pausesOf({ loop, clock }: ReturnType<typeof loopOf>, count: number): Promise<number[]> {
  const pauses: number[] = [];
  loop.start();
  while (pauses.length < count) {
    if (pauses.length > 0) clock.elapse();
    pauses.push(await clock.paused());
  }
  await loop.stop();
  return pauses;
}

/** Counts the presigns of a bucket that are on their way. */
async function countOf({ curve, networkEncryptionKeyId }: PresignBucket): Promise<number> {
  const rows = await database.query(
    "SELECT 1 FROM presign WHERE network_encryption_key_id = $1 AND curve = $2 AND state = 'requested'",
    [networkEncryptionKeyId, curve],
  );
  return rows.length;
}
