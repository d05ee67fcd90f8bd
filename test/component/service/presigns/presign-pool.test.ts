import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { CURVE_ALGORITHMS } from "../../../../src/protocol/algorithms.ts";
import { sessionIdentifierPreimage } from "../../../../src/protocol/chain/session-identifier.ts";
import type { LandedTransaction } from "../../../../src/service/chain/operation.ts";
import type { ChainCalls } from "../../../../src/service/chain/treasury/treasury-calls.ts";
import { createLocalSignals } from "../../../../src/service/platform/coordination/local-coordination.ts";
import { topics } from "../../../../src/service/platform/coordination/topics.ts";
import { systemClock } from "../../../../src/service/platform/lifecycle/clock.ts";
import type { Database } from "../../../../src/service/platform/store/database.ts";
import { readWarmBuckets } from "../../../../src/service/presigns/bucket.ts";
import { readPresignHealth } from "../../../../src/service/presigns/presign-health.ts";
import { createPresignOperation } from "../../../../src/service/presigns/presign-operation.ts";
import { createPresignQueue } from "../../../../src/service/presigns/presign-queue.ts";
import { createPresignSession } from "../../../../src/service/presigns/presign-session.ts";
import { type Affordable, createRefillLoop } from "../../../../src/service/presigns/refill-loop.ts";
import { refillBucket, requestPresigns } from "../../../../src/service/presigns/request-presigns.ts";
import {
  presignRequested,
  presignSession,
  type TestSessionState,
} from "../../../support/chain/chain-bytes.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import {
  dwalletOf,
  NO_ROW,
  objectId,
  projectWith,
  readyPresigns,
  TEST_ORIGIN,
} from "../../../support/database/rows.ts";
import { silentLog } from "../../../support/silent-log.ts";

const NEVER_MS = 1_000_000;
const [ecdsa, taproot, , eddsa] = CURVE_ALGORITHMS;
const sender = objectId();
const signals = createLocalSignals();
const log = silentLog;
const operation = createPresignOperation({
  reader: { sessionRequest: async () => undefined },
  senderAddress: sender,
  batchCount: 20,
});
const session = createPresignSession({ network: "localnet", signals, log });
let database: Database;
/** The newest network encryption key; each test has its own buckets. */
let newest: string;

beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(() => {
  newest = objectId();
});

const health = async (configured = [ecdsa!]) => {
  const buckets = await readPresignHealth(database, "localnet", configured, async () => newest);
  return buckets.filter((bucket) => bucket.networkEncryptionKeyId === newest);
};

/** Runs the loop until it has put operations into the outbox. */
async function refillOnce(
  configured = [ecdsa!],
  queue = createPresignQueue({ clock: systemClock, signals }),
  affordable: Affordable = async () => 1_000,
): Promise<void> {
  const loop = createRefillLoop({
    clock: systemClock,
    database,
    signals,
    queue,
    network: "localnet",
    bounds: { lowWaterCount: 3, highWaterCount: 10 },
    sessionBuffer: async () => 100,
    affordable,
    warmBuckets: () => readWarmBuckets(database, "localnet", configured, async () => newest),
    log,
    intervalMs: NEVER_MS,
  });
  const queued = new Promise<void>((resolve) => {
    const leave = signals.subscribe(topics.outbox("localnet"), () => {
      leave();
      resolve();
    });
  });
  loop.start();
  await queued;
  await loop.stop();
}

const requested = () =>
  database.query<{ id: string; sessionBytes: Uint8Array; priority: number; operation: string }>(
    `SELECT p.id, p.session_bytes AS "sessionBytes", o.priority, o.kind AS operation
     FROM presign p JOIN chain_operation o ON o.subject_id = p.id AND o.state = 'queued'
     WHERE p.network_encryption_key_id = $1 AND p.state = 'requested' ORDER BY p.id`,
    [newest],
  );

describe("the refill", () => {
  it("fills a configured bucket to its low-water mark, with one operation for each presign", async () => {
    await refillOnce();
    const rows = await requested();
    expect(rows).toMatchObject(Array(3).fill({ priority: 50, operation: "presign" }));
    expect(new Set(rows.map((row) => Buffer.from(row.sessionBytes).toString("hex"))).size).toBe(3);
    expect(await health()).toMatchObject([{ ready: 0, pending: 3 }]);
  });

  it("keeps every algorithm of a curve warm once a dWallet exists, under the dWallet's key", async () => {
    const projectId = await projectWith(database, 0n);
    await dwalletOf(database, projectId, {
      networkEncryptionKeyId: newest,
      state: "AwaitingNetworkDKGVerification",
    });
    await refillOnce([]);
    expect(await health([])).toMatchObject([
      { curve: 0, signatureAlgorithm: 0, pending: 3 },
      { curve: 0, signatureAlgorithm: 1, pending: 3 },
    ]);
  });

  it("adds presigns for waiting callers", async () => {
    const queue = createPresignQueue({ clock: systemClock, signals, pollMs: NEVER_MS });
    const bucket = { network: "localnet", curve: 2, signatureAlgorithm: 0, networkEncryptionKeyId: newest };
    const callers = new AbortController();
    const wait = { projectId: NO_ROW, timeoutMs: NEVER_MS, signal: callers.signal };
    const waiting = Array.from({ length: 4 }, () => queue.take(bucket, wait, async () => undefined));
    await new Promise((resolve) => setImmediate(resolve));
    await refillOnce([], queue);
    callers.abort();
    await Promise.all(waiting);
    expect(await health([])).toMatchObject([{ curve: 2, pending: 3 + 4 }]);
  });

  it.each([
    ["ready", 2, 0],
    ["pending", 0, 2],
    ["ready and pending", 1, 1],
  ])(
    "counts the presigns that are %s towards what the Treasury can pay for",
    async (_, ready, pendingCount) => {
      await readyPresigns(database, bucketOfTest(), ready);
      if (pendingCount > 0) await requestPresigns(database, bucketOfTest(), pendingCount);
      // The refill of the other bucket shows that the pass took place.
      await refillOnce([ecdsa!, eddsa!], undefined, async ({ curve }) => (curve === 0 ? 2 : 1_000));
      expect(await health([ecdsa!, eddsa!])).toMatchObject([
        { ready, pending: pendingCount },
        { pending: 3 },
      ]);
    },
  );

  it("pauses for a bucket whose presigns have just failed", async () => {
    await refillOnce();
    const [row] = await requested();
    const subjects = await operation.load(database, [row!.id]);
    await operation.failed(database, subjects.get(row!.id)!, { reason: "CHAIN_REJECTED", message: "no" });
    expect(await health()).toMatchObject([{ pending: 2, burnt: 1 }]);
    // The refill of the other bucket shows that the pass took place.
    await refillOnce([ecdsa!, eddsa!]);
    expect(await health([ecdsa!, eddsa!])).toMatchObject([{ pending: 2, burnt: 1 }, { pending: 3 }]);
  });
});

describe("the operator's refill", () => {
  const pool = {
    signals,
    network: "localnet",
    highWaterCount: 10,
    newestNetworkEncryptionKeyId: async () => newest,
  };
  it("queues the requested number, up to the high-water mark, and is audited", async () => {
    expect(await refillBucket(database, pool, TEST_ORIGIN, taproot!, 7)).toBe(7);
    expect(await refillBucket(database, pool, TEST_ORIGIN, taproot!, 7)).toBe(3);
    expect(await refillBucket(database, pool, TEST_ORIGIN, taproot!, 7)).toBe(0);
    expect(await health([])).toMatchObject([{ curve: 0, signatureAlgorithm: 1, pending: 10 }]);
    const events = await database.query(
      "SELECT 1 FROM audit_event WHERE action = 'presign.refill' AND subject LIKE '%' || $1 || '%'",
      [newest],
    );
    expect(events).toHaveLength(3);
  });
});

describe("a presign", () => {
  it("is requested in one call with the others of its bucket", async () => {
    await refillOnce([ecdsa!, eddsa!]);
    const subjects = await operation.load(
      database,
      (await requested()).map((row) => row.id),
    );
    const calls: Parameters<ChainCalls["payPresigns"]>[0][] = [];
    operation.add(
      { payPresigns: (call: (typeof calls)[number]) => calls.push(call) } as unknown as ChainCalls,
      [...subjects.values()],
    );
    expect(calls.map((call) => [call.curve, call.networkEncryptionKeyId, call.sessionBytes.length])).toEqual([
      [0, newest, 3],
      [2, newest, 3],
    ]);
  });

  it("gets the id of its own session, in whatever order the events come", async () => {
    await refillOnce();
    const rows = await requested();
    const ids = rows.map(objectId);
    await land(rows, ids);
    const open = await session.open(database, { after: NO_ROW, limit: 1_000 });
    const own = open.filter(({ subjectId }) => rows.some((row) => row.id === subjectId));
    expect(own).toEqual(rows.map((row, i) => ({ subjectId: row.id, objectId: ids[i] })));
  });

  it("is ready once the network has made it, with its bytes", async () => {
    const { row, id } = await pending();
    const ready = new Promise<void>((resolve) => {
      signals.subscribe(topics.presignReady("localnet"), resolve);
    });
    expect(await settle(row.id, id, { Requested: true })).toBe(false);
    expect(await settle(row.id, id, { Completed: Uint8Array.of(1, 8) })).toBe(true);
    await ready;
    const stored = await database.prisma.presign.findUniqueOrThrow({ where: { id: row.id } });
    expect(stored).toMatchObject({ state: "ready", presignId: id, presign: Uint8Array.of(1, 8) });
  });

  it("is burnt if the network rejects it", async () => {
    const { row, id } = await pending();
    expect(await settle(row.id, id, { NetworkRejected: true })).toBe(true);
    const stored = await database.prisma.presign.findUniqueOrThrow({ where: { id: row.id } });
    expect(stored.state).toBe("burnt");
  });

  it("is burnt if its version is not supported, and the log names the version", async () => {
    const { row, id } = await pending();
    const warned: object[] = [];
    const watched = createPresignSession({
      network: "localnet",
      signals,
      log: { ...silentLog, warn: (fields) => void warned.push(fields) },
    });
    const content = presignSession(id, { Completed: Uint8Array.of(2, 8) });
    expect(await watched.settle(database, { subjectId: row.id, objectId: id }, content)).toBe(true);
    const stored = await database.prisma.presign.findUniqueOrThrow({ where: { id: row.id } });
    expect(stored).toMatchObject({ state: "burnt", presign: null });
    expect(warned).toEqual([{ presignId: id, version: 3 }]);
  });

  it("does not return to the pool if its session is settled twice", async () => {
    const { row, id } = await pending();
    await settle(row.id, id, { Completed: Uint8Array.of(1) });
    await database.query("UPDATE presign SET state = 'used' WHERE id = $1", [row.id]);
    await settle(row.id, id, { Completed: Uint8Array.of(1) });
    const stored = await database.prisma.presign.findUniqueOrThrow({ where: { id: row.id } });
    expect(stored.state).toBe("used");
  });

  it.each([
    ["of another presign", (_id: string, state: TestSessionState) => presignSession(objectId(), state)],
    ["on another curve", (id: string, state: TestSessionState) => presignSession(id, state, { curve: 1 })],
    [
      "of another algorithm",
      (id: string, state: TestSessionState) => presignSession(id, state, { signatureAlgorithm: 1 }),
    ],
    [
      "for one dWallet alone",
      (id: string, state: TestSessionState) => presignSession(id, state, { dwalletId: objectId() }),
    ],
  ])("is neither filled nor burnt by a session %s", async (_, contentOf) => {
    const { row, id } = await pending();
    const states: TestSessionState[] = [{ Completed: Uint8Array.of(1) }, { NetworkRejected: true }];
    for (const state of states) {
      const open = { subjectId: row.id, objectId: id };
      await expect(session.settle(database, open, contentOf(id, state))).rejects.toMatchObject({
        name: "MixedUpAnswerError",
        read: "session",
      });
      expect(await database.prisma.presign.findUniqueOrThrow({ where: { id: row.id } })).toMatchObject({
        state: "pending",
        presign: null,
      });
    }
  });

  it("counts in the health of its bucket in every state", async () => {
    await readyPresigns(database, { ...bucketOfTest(), signatureAlgorithm: 0 }, 2);
    await pending();
    expect(await health()).toMatchObject([{ ready: 2, pending: 1, held: 0, used: 0, burnt: 0 }]);
  });
});

const bucketOfTest = () => ({
  network: "localnet",
  curve: 0,
  signatureAlgorithm: 0,
  networkEncryptionKeyId: newest,
});

/** Lands the rows' transaction with its events in reverse order. */
async function land(rows: { id: string; sessionBytes: Uint8Array }[], ids: string[]): Promise<void> {
  const events = rows
    .map((row, i) => presignRequested(sessionIdentifierPreimage(row.sessionBytes, sender), ids[i]!))
    .reverse();
  const transaction: LandedTransaction = { digest: "digest", version: 1n, events };
  const subjects = await operation.load(
    database,
    rows.map((row) => row.id),
  );
  await operation.landed(database, [...subjects.values()], transaction);
}

async function pending(): Promise<{ row: { id: string }; id: string }> {
  await refillOnce();
  const rows = await requested();
  const ids = rows.map(objectId);
  await land(rows, ids);
  return { row: rows[0]!, id: ids[0]! };
}

function settle(subjectId: string, objectIdOfSession: string, state: TestSessionState): Promise<boolean> {
  const open = { subjectId, objectId: objectIdOfSession };
  return session.settle(database, open, presignSession(objectIdOfSession, state));
}
