import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  readPresignHistory,
  readTreasuryHistory,
} from "../../../../../src/service/operator/history/history.ts";
import { samplePresigns, sampleTreasury } from "../../../../../src/service/operator/history/sampling.ts";
import { createLocalSignals } from "../../../../../src/service/platform/coordination/local-coordination.ts";
import type { Database } from "../../../../../src/service/platform/store/database.ts";
import type { PresignBucket } from "../../../../../src/service/presigns/bucket.ts";
import { signSteps } from "../../../../support/crypto/sign-steps.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../../support/database/database.ts";
import { dwalletOf, projectWith, readyPresigns } from "../../../../support/database/rows.ts";

const NETWORK = "localnet";
const DAY_MS = 86_400_000;
let database: Database;

beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
afterEach(() =>
  database.query("TRUNCATE presign_sample, treasury_sample, sign_request, presign, chain_operation CASCADE"),
);

const noWarm = async () => [];

/** Two days around now, in one step. */
const around = () => ({
  start: new Date(Date.now() - DAY_MS),
  end: new Date(Date.now() + DAY_MS),
  stepSeconds: (2 * DAY_MS) / 1_000,
});

/** Moves the recorded minutes this many minutes into the past. */
const age = (minutes: number) =>
  database.query("UPDATE presign_sample SET minute = minute - $1 * interval '1 minute'", [minutes]);

const historyOf = (bucket: PresignBucket, window = around()) =>
  readPresignHistory(database, NETWORK, window, undefined).then((steps) =>
    steps.filter((step) => step.networkEncryptionKeyId === bucket.networkEncryptionKeyId),
  );

describe("the levels of the pool", () => {
  it("are recorded for each bucket: ready, pending and held presigns, and those made and taken per minute", async () => {
    const projectId = await projectWith(database, 1_000n);
    const dwallet = await dwalletOf(database, projectId);
    await readyPresigns(database, dwallet.bucket, 5);
    const signing = signSteps(database, createLocalSignals());
    const reserved = await signing.reserve(projectId, dwallet);
    const submitted = await signing.reserve(projectId, dwallet);
    await signing.submit(projectId, submitted);
    await database.query(
      "UPDATE presign SET state = 'pending' WHERE id = (SELECT id FROM presign WHERE state = 'ready' LIMIT 1)",
    );
    // One transaction, so that no minute ends between the rows and their sample.
    await database.transaction(async (db) => {
      const lastMinute = "date_trunc('minute', now()) - interval '30 seconds'";
      await db.query(`UPDATE presign SET ready_at = ${lastMinute} WHERE state = 'ready'`);
      await db.query(`UPDATE sign_request SET created_at = ${lastMinute} WHERE id <> $1`, [reserved]);
      await db.query("UPDATE sign_request SET created_at = now() - interval '10 minutes' WHERE id = $1", [
        reserved,
      ]);
      await samplePresigns(db, NETWORK, noWarm);
    });
    expect(await historyOf(dwallet.bucket)).toMatchObject([
      {
        sampleCount: 1,
        emptySampleCount: 0,
        readyMin: 2,
        readyLast: 2,
        pendingLast: 1,
        heldLast: 1,
        madeCount: 2n,
        takenCount: 1n,
      },
    ]);
  });

  it("are recorded once a minute, however many workers record them", async () => {
    const dwallet = await dwalletOf(database, await projectWith(database, 0n));
    await readyPresigns(database, dwallet.bucket, 1);
    let askedCount = 0;
    const warm = async () => {
      askedCount++;
      return [];
    };
    await database.transaction(async (db) => {
      await samplePresigns(db, NETWORK, warm);
      await db.query("UPDATE presign SET state = 'pending'");
      await samplePresigns(db, NETWORK, warm);
    });
    expect(askedCount).toBe(1);
    expect(await historyOf(dwallet.bucket)).toMatchObject([{ sampleCount: 1, readyLast: 1 }]);
  });

  it("say when the next minute begins, by the database's clock", async () => {
    await database.transaction(async (db) => {
      for (const isFirst of [true, false]) {
        const leftMs = await samplePresigns(db, NETWORK, noWarm);
        const [row] = await db.query<{ ms: number }>(
          "SELECT extract(epoch FROM date_trunc('minute', now()) + interval '1 minute' - now())::float8 * 1000 AS ms",
        );
        expect(leftMs, String(isFirst)).toBeCloseTo(row?.ms ?? 0, 1);
      }
    });
  });

  it("show a warm bucket without a presign as empty", async () => {
    const { bucket } = await dwalletOf(database, await projectWith(database, 0n));
    await samplePresigns(database, NETWORK, async () => [bucket]);
    await age(1);
    await readyPresigns(database, bucket, 3);
    await samplePresigns(database, NETWORK, async () => [bucket]);
    expect(await historyOf(bucket)).toMatchObject([
      { sampleCount: 2, emptySampleCount: 1, readyMin: 0, readyLast: 3 },
    ]);
  });

  it("are in the step of their minute, and only those of the window and the algorithm are read", async () => {
    const { bucket } = await dwalletOf(database, await projectWith(database, 0n));
    const other = { ...bucket, signatureAlgorithm: 1 };
    // Samples from 90, 95 and 100 minutes before a fixed minute.
    const steps = await database.transaction(async (db) => {
      for (const back of [5, 5, 90]) {
        await samplePresigns(db, NETWORK, async () => [bucket, other]);
        await db.query("UPDATE presign_sample SET minute = minute - $1 * interval '1 minute'", [back]);
      }
      const [{ end }] = (await db.query<{ end: Date }>("SELECT date_trunc('minute', now()) AS end")) as [
        { end: Date },
      ];
      const window = { start: new Date(end.getTime() - 99 * 60_000), end, stepSeconds: 300 };
      const only = { curve: bucket.curve, signatureAlgorithm: 1 };
      return readPresignHistory(db, NETWORK, window, only);
    });
    expect(steps.map(({ signatureAlgorithm, step }) => [signatureAlgorithm, step])).toEqual([
      [1, 0],
      [1, 1],
    ]);
  });

  it("are deleted after 14 days", async () => {
    const { bucket } = await dwalletOf(database, await projectWith(database, 0n));
    await samplePresigns(database, NETWORK, async () => [bucket]);
    await age(14 * 24 * 60 - 10);
    await samplePresigns(database, NETWORK, async () => [bucket]);
    await age(20);
    await samplePresigns(database, NETWORK, async () => [bucket]);
    const [kept] = await database.query<{ count: bigint }>("SELECT count(*) AS count FROM presign_sample");
    expect(kept!.count).toBe(2n);
  });
});

describe("the balances", () => {
  const funds = (ika: bigint) => ({ ika, sui: 2n, gas: 3n });
  const ageBalances = (minutes: number) =>
    database.query("UPDATE treasury_sample SET taken_at = taken_at - $1 * interval '1 minute'", [minutes]);
  const noted = async () =>
    (await readTreasuryHistory(database, NETWORK, around())).map(({ ika, sui, gas }) => [ika, sui, gas]);

  it("are recorded exactly, once in ten minutes, and the chain is not queried in between", async () => {
    const largest = 18_446_744_073_709_551_615n;
    await database.transaction(async (db) => {
      await sampleTreasury(db, NETWORK, async () => funds(largest));
      await sampleTreasury(db, NETWORK, () => Promise.reject(new Error("asked again")));
    });
    expect(await noted()).toEqual([[largest, 2n, 3n]]);
  });

  it("are read in the order in which they were recorded", async () => {
    await sampleTreasury(database, NETWORK, async () => funds(9n));
    await ageBalances(10);
    await sampleTreasury(database, NETWORK, async () => funds(8n));
    expect(await noted()).toEqual([
      [9n, 2n, 3n],
      [8n, 2n, 3n],
    ]);
  });

  it("are deleted after 30 days", async () => {
    await sampleTreasury(database, NETWORK, async () => funds(1n));
    await ageBalances(30 * 24 * 60 + 20);
    await sampleTreasury(database, NETWORK, async () => funds(2n));
    const [kept] = await database.query<{ count: bigint }>("SELECT count(*) AS count FROM treasury_sample");
    expect(kept!.count).toBe(1n);
  });
});
