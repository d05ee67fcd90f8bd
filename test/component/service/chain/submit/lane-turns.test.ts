/** The lanes of one process share the work of a queue. No timer fires, so only a wake-up makes a lane look for work. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { enqueueOperation } from "../../../../../src/service/chain/operation.ts";
import { addGasCoin, addLane } from "../../../../../src/service/chain/submit/lane-table.ts";
import { createSubmitter, type Submitter } from "../../../../../src/service/chain/submit/submitter.ts";
import { createLocalSignals } from "../../../../../src/service/platform/coordination/local-coordination.ts";
import { topics } from "../../../../../src/service/platform/coordination/topics.ts";
import { newId } from "../../../../../src/service/platform/store/database.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../../support/database/database.ts";
import { type ObservedDatabase, observeDatabase } from "../../../../support/database/observe-database.ts";
import { createManualClock } from "../../../../support/manual-clock.ts";
import { silentLog } from "../../../../support/silent-log.ts";
import { FakeChain, NETWORK } from "../fake-chain.ts";

const LANES = ["0xa", "0xb", "0xc"];

let database: ObservedDatabase;
let submitter: Submitter;
let chain: FakeChain;
/** The number of leases that were taken, and of those that are held. */
let leaseCount: number;
let heldCount: number;
let lookCount: number;
/** Lets the chain execute the first transaction of a test that holds it back. */
let release = () => {};
const signals = createLocalSignals();

beforeAll(async () => {
  const opened = await openTestDatabase();
  const query: typeof opened.query = (statement, parameters) => {
    if (statement.startsWith("SELECT EXISTS (SELECT 1 FROM chain_transaction")) lookCount++;
    return opened.query(statement, parameters);
  };
  database = observeDatabase({ ...opened, query });
  for (const objectId of LANES) {
    await addLane(database, NETWORK, { objectId, version: "1", digest: "d1" });
    await addGasCoin(database, objectId, { objectId: `${objectId}c`, version: "1", digest: "d1" });
  }
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());

beforeEach(async () => {
  chain = new FakeChain();
  leaseCount = 0;
  heldCount = 0;
  lookCount = 0;
  submitter = createSubmitter({
    clock: createManualClock(),
    database,
    network: NETWORK,
    lanes: LANES.map((id) => ({ ...chain.lane(), id })),
    reader: chain,
    signals,
    kinds: [{ ...chain.kind(), batchCount: 1 }],
    log: silentLog,
    onLease: (change) => {
      heldCount += change;
      if (change === 1) leaseCount++;
    },
  });
  submitter.start();
  // Each lane looks once at its start.
  await database.until(async () => lookCount === LANES.length);
});
afterEach(() => {
  release();
  return submitter.stop();
});

/** Queues operations, and wakes the submitter once. Resolves when so many of them have ended. */
async function submit(count: number, endedCount = count): Promise<void> {
  let left = endedCount;
  const ended = new Promise<void>((resolve) => {
    chain.onEnded = () => {
      if (--left === 0) resolve();
    };
  });
  for (let index = 0; index < count; index++)
    await enqueueOperation(database, {
      id: newId(),
      network: NETWORK,
      kind: "presign",
      subjectId: newId(),
      priority: 50,
    });
  signals.notify(topics.outbox(NETWORK));
  await ended;
}

it("one operation makes one lane take its lease", async () => {
  await submit(1);
  await submitter.stop();
  expect(leaseCount).toBe(1);
});

it("a lane that waits for the chain leaves the rest of the queue to the others", async () => {
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  chain.onSend = async (digest) => {
    const isFirst = chain.sent.length === 1;
    if (isFirst) await released;
    return await chain.execute(digest);
  };
  await submit(3, 2);
  expect(chain.sent).toHaveLength(3);
  expect(leaseCount).toBeGreaterThan(1);
});

it("an operation that arrives while a lane is busy goes to another lane", async () => {
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let isSent = () => {};
  const sent = new Promise<void>((resolve) => {
    isSent = resolve;
  });
  chain.onSend = async (digest) => {
    if (chain.sent.length > 1) return await chain.execute(digest);
    isSent();
    await released;
    return await chain.execute(digest);
  };
  void submit(1);
  await sent;
  // The turns begin at each lane, also at the busy one.
  for (let count = 1; count <= LANES.length; count++) {
    await submit(1);
    expect(chain.executed).toHaveLength(count);
    await database.until(async () => heldCount === 1);
  }
});
