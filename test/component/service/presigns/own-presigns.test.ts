/** Presigns that only one dWallet can use: ECDSA signatures of imported keys. */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { findTriple } from "../../../../src/protocol/algorithms.ts";
import type { ChainCalls } from "../../../../src/service/chain/treasury/treasury-calls.ts";
import { createLocalSignals } from "../../../../src/service/platform/coordination/local-coordination.ts";
import { systemClock } from "../../../../src/service/platform/lifecycle/clock.ts";
import type { Database } from "../../../../src/service/platform/store/database.ts";

import type { PresignBucket } from "../../../../src/service/presigns/bucket.ts";
import { requestOwnPresigns } from "../../../../src/service/presigns/own-presigns.ts";
import { readPresignHealth } from "../../../../src/service/presigns/presign-health.ts";
import { createPresignOperation } from "../../../../src/service/presigns/presign-operation.ts";
import { createPresignQueue } from "../../../../src/service/presigns/presign-queue.ts";
import { createPresignSession } from "../../../../src/service/presigns/presign-session.ts";
import { readDemand } from "../../../../src/service/presigns/read-demand.ts";
import { insertPendingPresigns } from "../../../../src/service/presigns/request-presigns.ts";
import { expireReservations } from "../../../../src/service/signing/loops/expire-loop.ts";
import { type ReserveInput, reserve } from "../../../../src/service/signing/reserve.ts";
import { createSignOperation } from "../../../../src/service/signing/sign-operation.ts";
import { presignRequested, presignSession } from "../../../support/chain/chain-bytes.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { flatPrices } from "../../../support/database/prices.ts";
import {
  dwalletOf,
  objectId,
  projectWith,
  readyPresigns,
  TEST_ORIGIN,
  TEST_TRIPLE,
  type TestDWalletRow,
} from "../../../support/database/rows.ts";
import { silentLog } from "../../../support/silent-log.ts";

const TAPROOT = findTriple("SECP256K1", "Taproot", "SHA256")!;
const signals = createLocalSignals();
const presigns = createPresignQueue({ clock: systemClock, signals, pollMs: 5 });
const senderAddress = objectId();
let database: Database;
let projectId: string;
let dwallet: TestDWalletRow;
let own: PresignBucket;

beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(async () => {
  projectId = await projectWith(database, 1_000n);
  dwallet = await imported();
  own = ownBucket(dwallet);
});

async function imported(owner = projectId): Promise<TestDWalletRow> {
  const made = await dwalletOf(database, owner);
  await database.query("UPDATE dwallet SET kind = 'imported_key' WHERE id = $1", [made.rowId]);
  return made;
}

const ownBucket = ({ bucket, objectId: dwalletId }: TestDWalletRow): PresignBucket => ({
  ...bucket,
  networkEncryptionKeyId: dwalletId,
  ofDWallet: true,
});

/** Makes the presigns that were requested for a dWallet ready, and returns their ids. */
async function ready(bucket: PresignBucket): Promise<string[]> {
  const rows = await database.query<{ id: string }>(
    `UPDATE presign SET state = 'ready', presign_id = id::text, presign = '\\x01'
     WHERE network_encryption_key_id = $1 AND state = 'requested' RETURNING presign_id AS id`,
    [bucket.networkEncryptionKeyId],
  );
  return rows.map(({ id }) => id);
}

function reserveOne(more: Partial<ReserveInput> = {}, timeoutMs = 600) {
  const deps = {
    ...{ database, signals, presigns, prices: flatPrices(1n) },
    ...{ reservationTtlMs: 60_000, openMaxCount: 100 },
  };
  const caller = { projectId, network: "localnet", origin: TEST_ORIGIN };
  const message = new TextEncoder().encode("message");
  const input = {
    dwalletId: dwallet.objectId,
    triple: TEST_TRIPLE,
    message,
    idempotency: undefined,
    ...more,
  };
  return reserve(deps, caller, input, { timeoutMs, signal: new AbortController().signal });
}

async function living(): Promise<{ state: string; isOwn: boolean }[]> {
  return database.query(
    `SELECT state, of_dwallet AS "isOwn" FROM presign WHERE network_encryption_key_id = $1`,
    [dwallet.objectId],
  );
}

describe("a reservation of ECDSA with an imported key", () => {
  it("requests a presign for the dWallet, and says that it is being made", async () => {
    await readyPresigns(database, dwallet.bucket, 1);
    await expect(reserveOne()).rejects.toMatchObject({
      reason: "PRESIGN_POOL_EMPTY",
      message: expect.stringContaining("for this imported key"),
    });
    expect(await living()).toEqual([{ state: "requested", isOwn: true }]);
  });

  it("takes the presign as soon as it is ready", async () => {
    const waiting = reserveOne({}, 10_000);
    await expect.poll(living).toHaveLength(1);
    const [id] = await ready(own);
    expect((await waiting).presignId).toBe(id);
  });

  it("takes no presign of another imported key", async () => {
    const other = await imported();
    await requestOwnPresigns(database, ownBucket(other), 1);
    await ready(ownBucket(other));
    await expect(reserveOne()).rejects.toMatchObject({ reason: "PRESIGN_POOL_EMPTY" });
  });

  it("is refused without credit before it requests anything", async () => {
    projectId = await projectWith(database, 0n);
    dwallet = await imported();
    await expect(reserveOne()).rejects.toMatchObject({ reason: "INSUFFICIENT_CREDIT" });
    expect(await living()).toEqual([]);
  });
});

it("a reservation of another algorithm with an imported key takes a presign of the pool", async () => {
  const [id] = await readyPresigns(database, { ...dwallet.bucket, signatureAlgorithm: 1 }, 1);
  expect((await reserveOne({ triple: TAPROOT })).presignId).toBe(id);
  expect(await living()).toEqual([]);
});

describe("presigns of one dWallet", () => {
  it("are as many as callers wait for, at most four, however many replicas ask", async () => {
    expect(await requestOwnPresigns(database, own, 2)).toBe(2);
    const more = await Promise.all([1, 2, 3].map(() => requestOwnPresigns(database, own, 100)));
    expect(more.toSorted()).toEqual([0, 0, 2]);
    expect(await living()).toHaveLength(4);
  });

  it("are at most four with those that open reservations hold, whether these expire or not", async () => {
    for (let round = 0; round < 4; round++) {
      expect(await requestOwnPresigns(database, own, 1)).toBe(1);
      await ready(own);
      await reserveOne();
    }
    expect(await requestOwnPresigns(database, own, 1)).toBe(0);
    await database.query("UPDATE sign_request SET expires_at = now() - interval '1 second'");
    await expireReservations(database, signals, 100);
    expect(await requestOwnPresigns(database, own, 5)).toBe(0);
    expect((await living()).map(({ state }) => state)).toEqual(["ready", "ready", "ready", "ready"]);
  });

  it("that paid signatures use make room for others", async () => {
    await requestOwnPresigns(database, own, 4);
    await ready(own);
    const { id } = await reserveOne();
    expect(await requestOwnPresigns(database, own, 4)).toBe(0);
    await database.query(
      "UPDATE sign_request SET status = 'queued', user_sign_message = '\\x01' WHERE id = $1",
      [id],
    );
    expect(await requestOwnPresigns(database, own, 4)).toBe(1);
  });

  it("are underway for a bounded number of a project's dWallets, however many replicas ask", async () => {
    const dwallets = await Promise.all(Array.from({ length: 9 }, () => imported()));
    const counts = await Promise.all(
      dwallets.map((each) => requestOwnPresigns(database, ownBucket(each), 4)),
    );
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(32);
    const other = await imported(await projectWith(database, 1_000n));
    expect(await requestOwnPresigns(database, ownBucket(other), 4)).toBe(4);
    await ready(ownBucket(dwallets[counts.indexOf(4)]!));
    expect(await requestOwnPresigns(database, own, 4)).toBe(4);
  });

  it("that failed are not requested again for half a minute", async () => {
    await requestOwnPresigns(database, own, 4);
    const fail = (ago: string) =>
      database.query(
        `UPDATE presign SET state = 'burnt', updated_at = now() - $2::interval WHERE network_encryption_key_id = $1`,
        [dwallet.objectId, ago],
      );
    await fail("29 seconds");
    expect(await requestOwnPresigns(database, own, 4)).toBe(0);
    await fail("31 seconds");
    expect(await requestOwnPresigns(database, own, 4)).toBe(4);
  });

  it("are not requested once the dWallet is leaving", async () => {
    await database.query("UPDATE dwallet SET state = 'Leaving' WHERE id = $1", [dwallet.rowId]);
    expect(await requestOwnPresigns(database, own, 1)).toBe(0);
  });

  it("are requested from the Treasury for their dWallet, apart from those of the pool", async () => {
    await requestOwnPresigns(database, own, 2);
    const rows = await database.query<{ id: string }>(
      "SELECT id FROM presign WHERE network_encryption_key_id = $1",
      [dwallet.objectId],
    );
    const operation = presignOperation();
    const subjects = await operation.load(
      database,
      rows.map(({ id }) => id),
    );
    const calls: unknown[] = [];
    const recorder = { payDWalletPresigns: (call: unknown) => calls.push(call) };
    operation.add(recorder as unknown as ChainCalls, [...subjects.values()]);
    expect(calls).toEqual([
      {
        dwalletId: dwallet.objectId,
        signatureAlgorithm: 0,
        sessionBytes: [...subjects.values()].map(({ sessionBytes }) => sessionBytes),
      },
    ]);
  });

  it("become ready only by a session of their dWallet", async () => {
    const [sessionId, other] = [objectId(), objectId()];
    await requestOwnPresigns(database, own, 1);
    await database.query(
      "UPDATE presign SET state = 'pending', presign_id = $2 WHERE network_encryption_key_id = $1",
      [dwallet.objectId, sessionId],
    );
    const [row] = await database.query<{ id: string }>("SELECT id FROM presign WHERE presign_id = $1", [
      sessionId,
    ]);
    const session = createPresignSession({ network: "localnet", signals, log: silentLog });
    const open = { subjectId: row!.id, objectId: sessionId };
    const settle = (dwalletId: string | null) =>
      session.settle(
        database,
        open,
        presignSession(sessionId, { Completed: Uint8Array.of(1, 0) }, { dwalletId }),
      );
    await expect(settle(null)).rejects.toThrow("another presign's");
    await expect(settle(other)).rejects.toThrow("another presign's");
    expect(await settle(dwallet.objectId)).toBe(true);
    expect(await living()).toEqual([{ state: "ready", isOwn: true }]);
  });

  it("count neither as demand nor as stock of the pool", async () => {
    await requestOwnPresigns(database, own, 3);
    await ready(own);
    await reserveOne();
    const demand = (await readDemand(database, "localnet"))(own);
    expect(demand).toMatchObject({ readyCount: 0, pendingCount: 0, takenPerSecond: 0 });
    const health = await readPresignHealth(database, "localnet", [], async () => "");
    expect(health.map(({ networkEncryptionKeyId }) => networkEncryptionKeyId)).not.toContain(
      dwallet.objectId,
    );
  });

  it("that another database requested return to their dWallet", async () => {
    const presignId = objectId();
    const event = presignRequested(new Uint8Array(randomBytes(32)), presignId, dwallet.objectId);
    const landed = { digest: "digest", version: 1n, events: [event] };
    await database.transaction((db) => insertPendingPresigns(db, "localnet", landed, () => true));
    expect(await living()).toEqual([{ state: "pending", isOwn: true }]);
  });
});

it("a signature of an imported key is paid as one", async () => {
  await requestOwnPresigns(database, own, 1);
  await ready(own);
  const { id } = await reserveOne();
  await database.query(
    "UPDATE sign_request SET status = 'queued', user_sign_message = '\\x01' WHERE id = $1",
    [id],
  );
  const operation = createSignOperation({
    ...{ signals, senderAddress, batchCount: 10, refundsPerDay: 1 },
    reader: { sessionRequest: async () => undefined },
  });
  const subject = (await operation.load(database, [id])).get(id)!;
  const calls: object[] = [];
  operation.add({ payImportedKeySign: (call: object) => calls.push(call) } as unknown as ChainCalls, [
    subject,
  ]);
  expect(calls).toMatchObject([{ dwalletId: dwallet.objectId, presignId: subject.presignId }]);
  expect(calls[0]).not.toHaveProperty("dwalletKind");
});

function presignOperation() {
  return createPresignOperation({
    reader: { sessionRequest: async () => undefined },
    senderAddress,
    batchCount: 10,
  });
}
