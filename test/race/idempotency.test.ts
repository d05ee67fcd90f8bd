/** Simultaneous calls with one idempotency key from the pools of two replicas, on a real PostgreSQL. */

import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { createLocalSignals } from "../../src/service/platform/coordination/local-coordination.ts";
import { ServiceError } from "../../src/service/platform/errors/service-error.ts";
import { sweepKeys } from "../../src/service/platform/idempotency/key-table.ts";
import { ADMIN_SCOPE, runOnce } from "../../src/service/platform/idempotency/run-once.ts";
import { systemClock } from "../../src/service/platform/lifecycle/clock.ts";
import { type Database, newId, type Queryable } from "../../src/service/platform/store/database.ts";
import { createPresignQueue } from "../../src/service/presigns/presign-queue.ts";
import { reserve } from "../../src/service/signing/reserve.ts";
import { migratedDatabase } from "../support/database/postgres.ts";
import { flatPrices } from "../support/database/prices.ts";
import {
  dwalletOf,
  keyed,
  moneyOf,
  projectWith,
  readyPresigns,
  TEST_ORIGIN,
  TEST_TRIPLE,
} from "../support/database/rows.ts";
import { openTestPool } from "../support/database/test-pool.ts";

const PRICE = 10_000n;
const CALLS = 64;
const test = await migratedDatabase();
const RACING = { count: 8, because: "16 of the calls run at the same time, half of them on each replica" };
const pools: Database[] = [];
if (test !== undefined) {
  for (let pool = 0; pool < 2; pool++) pools.push(await openTestPool(test.url, { connections: RACING }));
}
afterAll(async () => {
  for (const pool of pools) await pool.close();
  await test?.drop();
});

describe.skipIf(test === undefined)("calls with one key, of two replicas", () => {
  const [one, other] = pools as [Database, Database];
  const replica = (index: number) => (index % 2 === 0 ? one : other);
  let key: string;
  beforeEach(() => {
    key = newId();
  });

  const admin = (request = 0) => ({
    scope: ADMIN_SCOPE,
    network: "localnet",
    idempotency: { ...keyed(key, request), method: "tss.v1.Admin/Test" },
  });
  /** Creates a project as the result that the key remembers. */
  const creation = {
    effect: (db: Queryable) => projectIn(db),
    keep: (subjectId: string) => ({ subjectId }),
    recall: ({ subjectId }: { subjectId: string | null }) => subjectId ?? "none",
  };
  async function projectIn(db: Queryable): Promise<string> {
    const id = newId();
    await db.query("INSERT INTO project (id, name, network) VALUES ($1, $2, 'localnet')", [id, key]);
    return id;
  }
  const projectsMade = async () =>
    (await one.query<{ id: string }>("SELECT id FROM project WHERE name = $1", [key])).map(({ id }) => id);
  const expire = () =>
    one.query("UPDATE idempotency_key SET expires_at = now() - interval '1 second' WHERE key = $1", [key]);

  it("create one row, which all of them return", async () => {
    const ids = await Promise.all(
      Array.from({ length: CALLS }, (_, index) => runOnce(replica(index), admin(), creation)),
    );
    expect(await projectsMade()).toEqual([...new Set(ids)]);
  });

  it("succeed for only one call if their requests differ", async () => {
    const results = await Promise.allSettled(
      Array.from({ length: CALLS }, (_, index) => runOnce(replica(index), admin(index), creation)),
    );
    const made = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
    expect(made).toHaveLength(1);
    expect(await projectsMade()).toEqual(made);
    expect(reasonsOf(results)).toEqual(Array(CALLS - 1).fill("IDEMPOTENCY_KEY_REUSED"));
  });

  it("take over an expired key once, even while it is being swept", async () => {
    await runOnce(one, admin(), creation);
    await expire();
    const [ids] = await Promise.all([
      Promise.all(Array.from({ length: CALLS }, (_, index) => runOnce(replica(index), admin(), creation))),
      ...Array.from({ length: 8 }, (_, index) => sweepKeys(replica(index), 10)),
    ]);
    expect(new Set(ids).size).toBe(1);
    expect(await projectsMade()).toHaveLength(2);
  });

  it("wait for the first call for a bounded time, and run if it fails", async () => {
    let begin: () => void = () => {};
    let end: (failure: Error) => void = () => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const stuck = new Promise<string>((_, reject) => {
      end = reject;
    });
    const first = runOnce(one, admin(), {
      ...creation,
      async effect(db) {
        await projectIn(db);
        begin();
        return stuck;
      },
    });
    await begun;
    await expect(runOnce(other, admin(), { ...creation, waitMs: 20 })).rejects.toMatchObject({
      reason: "IDEMPOTENCY_IN_FLIGHT",
    });
    const second = runOnce(other, admin(), creation);
    end(new Error("the first one fails"));
    await expect(first).rejects.toThrow("the first one fails");
    const made = await second;
    expect(await projectsMade()).toEqual([made]);
  });

  describe("that reserve a signature", () => {
    const signals = createLocalSignals();
    const presigns = createPresignQueue({ clock: systemClock, signals });
    const reserveAt = (database: Database, projectId: string, dwalletId: string, request = 0) =>
      reserve(
        {
          database,
          signals,
          presigns,
          prices: flatPrices(PRICE),
          reservationTtlMs: 60_000,
          openMaxCount: 100,
        },
        { projectId, network: "localnet", origin: TEST_ORIGIN },
        {
          dwalletId,
          triple: TEST_TRIPLE,
          message: Uint8Array.of(1),
          idempotency: keyed(key, request),
        },
        { timeoutMs: 30_000, signal: new AbortController().signal },
      );

    it("create one row and one hold, even if the credit covers only one", async () => {
      const projectId = await projectWith(one, PRICE);
      const dwallet = await dwalletOf(one, projectId);
      await readyPresigns(one, dwallet.bucket, CALLS);
      const rows = await Promise.all(
        Array.from({ length: CALLS }, (_, index) => reserveAt(replica(index), projectId, dwallet.objectId)),
      );
      expect(new Set(rows.map(({ id }) => id)).size).toBe(1);
      expect(await moneyOf(one, projectId)).toEqual({ balance: PRICE, held: PRICE, differences: [] });
      const held = await one.query(
        "SELECT 1 FROM presign WHERE state = 'held' AND network_encryption_key_id = $1",
        [dwallet.bucket.networkEncryptionKeyId],
      );
      expect(held).toHaveLength(1);
    });

    it("succeed for only one request if their contents differ", async () => {
      const projectId = await projectWith(one, 100n * PRICE);
      const dwallet = await dwalletOf(one, projectId);
      await readyPresigns(one, dwallet.bucket, CALLS);
      const results = await Promise.allSettled(
        Array.from({ length: CALLS }, (_, index) =>
          reserveAt(replica(index), projectId, dwallet.objectId, index),
        ),
      );
      expect(reasonsOf(results)).toEqual(Array(CALLS - 1).fill("IDEMPOTENCY_KEY_REUSED"));
      expect(await moneyOf(one, projectId)).toEqual({ balance: 100n * PRICE, held: PRICE, differences: [] });
    });

    it("make one second reservation after the key of the first has expired", async () => {
      const projectId = await projectWith(one, 100n * PRICE);
      const dwallet = await dwalletOf(one, projectId);
      await readyPresigns(one, dwallet.bucket, CALLS);
      const first = await reserveAt(one, projectId, dwallet.objectId);
      await expire();
      const [rows] = await Promise.all([
        Promise.all(
          Array.from({ length: CALLS }, (_, index) => reserveAt(replica(index), projectId, dwallet.objectId)),
        ),
        ...Array.from({ length: 8 }, (_, index) => sweepKeys(replica(index), 10)),
      ]);
      const ids = new Set(rows.map(({ id }) => id));
      expect(ids.size).toBe(1);
      expect(ids).not.toContain(first.id);
      expect(await moneyOf(one, projectId)).toEqual({
        balance: 100n * PRICE,
        held: 2n * PRICE,
        differences: [],
      });
    });
  });
});

function reasonsOf(results: readonly PromiseSettledResult<unknown>[]): string[] {
  return results.flatMap((result) =>
    result.status === "rejected"
      ? [result.reason instanceof ServiceError ? result.reason.reason : String(result.reason)]
      : [],
  );
}
