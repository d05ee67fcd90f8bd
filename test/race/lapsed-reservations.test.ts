/** A project reserves presigns and lets them expire while others want them, on a real PostgreSQL. */

import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { createLocalSignals } from "../../src/service/platform/coordination/local-coordination.ts";
import { systemClock } from "../../src/service/platform/lifecycle/clock.ts";
import { createPresignQueue } from "../../src/service/presigns/presign-queue.ts";
import { createExpireLoop, expireReservations } from "../../src/service/signing/loops/expire-loop.ts";
import { reserve } from "../../src/service/signing/reserve.ts";
import type { SignRequestRow } from "../../src/service/signing/sign-request.ts";
import { submit } from "../../src/service/signing/submit.ts";
import { checkHalfInline } from "../support/crypto/inline-verifier.ts";
import { openRaceDatabase } from "../support/database/database.ts";
import { flatPrices } from "../support/database/prices.ts";
import {
  dwalletOf,
  layoutOfSignMessage,
  moneyOf,
  projectWith,
  readyPresigns,
  TEST_ORIGIN,
  TEST_TRIPLE,
  type TestDWalletRow,
} from "../support/database/rows.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { silentLog } from "../support/silent-log.ts";

const PRICE = 10_000n;
const OPEN_MAX = 50;
/** Half a dollar, which pays for the maximum number of open reservations. */
const CREDIT = BigInt(OPEN_MAX) * PRICE;
const database = await openRaceDatabase({ count: 16, because: "16 of the calls run at the same time" });
afterAll(() => database?.close());

describe.skipIf(database === undefined)("a project that lets its reservations expire", () => {
  const db = database!;
  const signals = createLocalSignals();
  const deps = {
    database: db,
    signals,
    presigns: createPresignQueue({ clock: systemClock, signals, waitingMaxCount: 0 }),
    checkHalf: checkHalfInline,
    prices: flatPrices(PRICE),
    reservationTtlMs: 600_000,
    openMaxCount: OPEN_MAX,
  };
  const callerOf = (projectId: string) => ({ projectId, network: "localnet", origin: TEST_ORIGIN });
  let project: string;
  let dwallet: TestDWalletRow;

  beforeEach(async () => {
    project = await projectWith(db, CREDIT);
    dwallet = await dwalletOf(db, project);
    await readyPresigns(db, dwallet.bucket, OPEN_MAX + 10);
  });

  it("may hold only a tenth of its reservations, and leaves the rest to others", async () => {
    expect(await reserveAtOnce(project, dwallet, OPEN_MAX)).toHaveLength(OPEN_MAX);
    const other = await projectWith(db, CREDIT);
    const othersDWallet = await dwalletOf(db, other, dwallet.bucket);
    for (let round = 0; round < 3; round++) {
      await expireAll(project);
      const again = await reserveAtOnce(project, dwallet, OPEN_MAX);
      expect(again).toHaveLength(OPEN_MAX / 10);
      const rows = await reserveAtOnce(other, othersDWallet, 10);
      expect(rows).toHaveLength(10);
      for (const row of rows) await submitOne(other, row);
    }
    expect(await moneyOf(db, project)).toMatchObject({ balance: CREDIT, differences: [] });
    await expect(reserveOne(project, dwallet)).rejects.toMatchObject({
      reason: "TOO_MANY_RESERVATIONS",
      metadata: { maxCount: String(OPEN_MAX / 10) },
    });
  });

  it("returns presigns that are reserved again only when no other is left, the longest returned first", async () => {
    await db.query("DELETE FROM presign WHERE network_encryption_key_id = $1", [
      dwallet.bucket.networkEncryptionKeyId,
    ]);
    const ids = await readyPresigns(db, dwallet.bucket, 20);
    const seen = (await reserveAtOnce(project, dwallet, 5)).map(({ presignId }) => presignId);
    await expireAll(project);
    const other = await projectWith(db, CREDIT);
    const othersDWallet = await dwalletOf(db, other, dwallet.bucket);
    const taken = [
      ...(await reserveAtOnce(other, othersDWallet, 10)),
      ...(await reserveAtOnce(project, dwallet, 5)),
    ];
    expect(taken.map(({ presignId }) => presignId).toSorted()).toEqual(
      ids.filter((id) => !seen.includes(id)).toSorted(),
    );
    const left = await reserveAtOnce(other, othersDWallet, 5);
    expect(left.map(({ presignId }) => presignId).toSorted()).toEqual(seen.toSorted());
    const [newer, older] = [taken[0]!, left[0]!];
    for (const { id } of [newer, older]) {
      await db.query("UPDATE sign_request SET expires_at = now() - interval '1 second' WHERE id = $1", [id]);
      await expireReservations(db, signals, 1);
      // The second one is returned later, also by a clock with milliseconds.
      await db.query(
        "UPDATE presign SET returned_at = returned_at - interval '1 second' WHERE returned_at IS NOT NULL",
      );
    }
    expect((await reserveOne(other, othersDWallet)).presignId).toBe(newer.presignId);
    expect((await reserveOne(other, othersDWallet)).presignId).toBe(older.presignId);
    await expect(reserveOne(other, othersDWallet)).rejects.toMatchObject({ reason: "PRESIGN_POOL_EMPTY" });
  });

  it("loses its limit only to reservations made since the last start, failure or pause of the service", async () => {
    const clock = createManualClock();
    const outage = { isOn: false };
    let rested = (): void => {};
    const loop = createExpireLoop({
      database: {
        async query(...statement) {
          if (outage.isOn) throw new Error("the database is down");
          return await db.query(...statement);
        },
      },
      signals,
      log: silentLog,
      clock: {
        ...clock,
        after(durationMs, call) {
          rested();
          return clock.after(durationMs, call);
        },
      },
    });
    const afterPass = (begin: () => void) =>
      new Promise<void>((resolve) => {
        rested = resolve;
        begin();
      });
    /** Lets a reservation expire that was made before the event. Returns the number that counts against the project. */
    const lapsesAfter = async (event: () => Promise<void>) => {
      await reserveOne(project, dwallet);
      await event();
      await overdue(project);
      await afterPass(() => clock.callNext());
      const [row] = await db.query<{ count: number }>(
        "SELECT lapsed_reservations AS count FROM project WHERE id = $1",
        [project],
      );
      return row?.count;
    };
    expect(await lapsesAfter(() => afterPass(() => loop.start()))).toBe(0);
    expect(await lapsesAfter(async () => {})).toBe(1);
    const failedPass = async () => {
      outage.isOn = true;
      await afterPass(() => clock.callNext());
      outage.isOn = false;
    };
    expect(await lapsesAfter(failedPass)).toBe(1);
    expect(await lapsesAfter(async () => {})).toBe(2);
    expect(await lapsesAfter(() => afterPass(() => clock.advance(20_000)))).toBe(2);
    expect(await lapsesAfter(async () => {})).toBe(3);
    await loop.stop();
    expect(await moneyOf(db, project)).toEqual({ balance: CREDIT, held: 0n, differences: [] });
  });

  it("may hold one more for each reservation that it submits", async () => {
    await reserveAtOnce(project, dwallet, OPEN_MAX);
    await expireAll(project);
    // 50 have expired, so five may be open until submits make up for more than five of them.
    await db.query("UPDATE project SET lapsed_reservations = 44 WHERE id = $1", [project]);
    const rows = await reserveAtOnce(project, dwallet, OPEN_MAX);
    expect(rows).toHaveLength(6);
    for (const row of rows) await submitOne(project, row);
    expect(await reserveAtOnce(project, dwallet, OPEN_MAX)).toHaveLength(12);
    expect(await moneyOf(db, project)).toMatchObject({ differences: [] });
  });

  it("may hold all of its reservations again an hour after the last one expired", async () => {
    await reserveAtOnce(project, dwallet, OPEN_MAX);
    await expireAll(project);
    expect(await reserveAtOnce(project, dwallet, OPEN_MAX)).toHaveLength(OPEN_MAX / 10);
    await db.query("UPDATE project SET lapsed_at = now() - interval '61 minutes' WHERE id = $1", [project]);
    expect(await reserveAtOnce(project, dwallet, OPEN_MAX)).toHaveLength(OPEN_MAX - OPEN_MAX / 10);
    // Later expiries count from zero.
    await db.query(
      `UPDATE sign_request SET expires_at = now() - interval '1 second' WHERE id = (
         SELECT id FROM sign_request WHERE project_id = $1 AND status = 'prepared' LIMIT 1)`,
      [project],
    );
    await expireReservations(db, signals, 10);
    const [row] = await db.query("SELECT lapsed_reservations AS lapsed FROM project WHERE id = $1", [
      project,
    ]);
    expect(row).toEqual({ lapsed: 1 });
  });

  function reserveOne(projectId: string, { objectId: dwalletId }: TestDWalletRow): Promise<SignRequestRow> {
    const input = { dwalletId, triple: TEST_TRIPLE, message: Uint8Array.of(1), idempotency: undefined };
    const time = { timeoutMs: 30_000, signal: new AbortController().signal };
    return reserve(deps, callerOf(projectId), input, time);
  }

  /** Returns those of `count` simultaneous calls that succeeded. */
  async function reserveAtOnce(projectId: string, of: TestDWalletRow, count: number) {
    const calls = Array.from({ length: count }, () => reserveOne(projectId, of));
    const results = await Promise.allSettled(calls);
    return results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  }

  async function submitOne(projectId: string, { id }: SignRequestRow): Promise<void> {
    await submit(deps, callerOf(projectId), { signRequestId: id, userSignMessage: layoutOfSignMessage() });
  }

  async function overdue(projectId: string): Promise<void> {
    await db.query(
      "UPDATE sign_request SET expires_at = now() - interval '1 second' WHERE project_id = $1 AND status = 'prepared'",
      [projectId],
    );
  }

  async function expireAll(projectId: string): Promise<void> {
    await overdue(projectId);
    await Promise.all(Array.from({ length: 4 }, () => expireReservations(db, signals, OPEN_MAX)));
  }
});
