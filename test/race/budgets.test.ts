/** The budgets of narrow keys under simultaneous calls of several replicas, on a real PostgreSQL. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Allowance, Budget } from "../../src/service/access/allowances/allowance.ts";
import { insertApiKey } from "../../src/service/access/keys/api-keys.ts";
import { tellRefusal } from "../../src/service/events/tell-refusal.ts";
import { lockForQuota } from "../../src/service/onboarding/check-quota.ts";
import { chargeDkg } from "../../src/service/onboarding/create-dwallet.ts";
import { failDWallet } from "../../src/service/onboarding/dwallet-session.ts";
import { createLocalSignals } from "../../src/service/platform/coordination/local-coordination.ts";
import { ServiceError } from "../../src/service/platform/errors/service-error.ts";
import { systemClock } from "../../src/service/platform/lifecycle/clock.ts";
import { type Database, newId } from "../../src/service/platform/store/database.ts";
import { createPresignQueue } from "../../src/service/presigns/presign-queue.ts";
import { expireReservations } from "../../src/service/signing/loops/expire-loop.ts";
import { endReservationOf } from "../../src/service/signing/lost-sign-requests.ts";
import { type ReserveInput, reserve } from "../../src/service/signing/reserve.ts";
import { failSignRequest } from "../../src/service/signing/sign-operation.ts";
import { submit } from "../../src/service/signing/submit.ts";
import { checkHalfInline } from "../support/crypto/inline-verifier.ts";
import { migratedDatabase } from "../support/database/postgres.ts";
import { flatPrices } from "../support/database/prices.ts";
import type { ReservingPlan } from "../support/database/reserving-process.ts";
import {
  dwalletOf,
  keyed,
  layoutOfSignMessage,
  moneyOf,
  projectWith,
  readyPresigns,
  TEST_ORIGIN,
  TEST_TRIPLE,
  type TestDWalletRow,
} from "../support/database/rows.ts";
import { openTestPool } from "../support/database/test-pool.ts";
import { pollUntil } from "../support/poll-until.ts";
import { ROOT } from "../support/repository/source-files.ts";

const PRICE = 10_000n;
/** So long that no slot ends during the tests. */
const WINDOW_SECONDS = 2_000_000_000;
const postgres = await migratedDatabase();

describe.skipIf(postgres === undefined)("the budget of a narrow key", () => {
  const signals = createLocalSignals();
  let replicas: Database[];
  let db: Database;
  let projectId: string;
  let dwallet: TestDWalletRow;

  beforeAll(async () => {
    const connections = { count: 16, because: "32 of the calls run at the same time, on two replicas" };
    replicas = await Promise.all([1, 2].map(() => openTestPool(postgres!.url, { connections })));
    db = replicas[0]!;
  });
  afterAll(async () => {
    await Promise.all(replicas.map((replica) => replica.close()));
    await postgres?.drop();
  });
  beforeEach(async () => {
    projectId = await projectWith(db, 1_000n * PRICE);
    dwallet = await dwalletOf(db, projectId);
    await readyPresigns(db, dwallet.bucket, 70);
  });

  const depsOf = (database: Database) => ({
    database,
    signals,
    presigns: createPresignQueue({ clock: systemClock, signals }),
    checkHalf: checkHalfInline,
    prices: flatPrices(PRICE),
    reservationTtlMs: 600_000,
    openMaxCount: 100,
  });

  it.each<[string, Partial<Budget>]>([
    ["19 requests", { maxCount: 19 }],
    ["a sum for 19 requests", { maxMicroUsd: 20n * PRICE - 1n }],
    ["19 requests and a greater sum", { maxCount: 19, maxMicroUsd: 30n * PRICE }],
  ])("of %s admits 19 of 64 reservations through two replicas", async (_, budget) => {
    const allowance = await allowanceWith(budget);
    const deps = replicas.map(depsOf);
    const results = await Promise.allSettled(
      Array.from({ length: 64 }, (__, i) => reserveOne(allowance, {}, deps[i % 2]!)),
    );
    expect(refusalsOf(results)).toEqual(Array(45).fill("BUDGET_EXCEEDED"));
    expect(await spentOf(allowance)).toEqual({ count: 19, microUsd: 19n * PRICE });
    expect(await moneyOf(db, projectId)).toMatchObject({ held: 19n * PRICE, differences: [] });
  });

  it("that refuses calls at once is told of once, which uses up one of the day's refusals", async () => {
    const { id } = await allowanceWith({ maxCount: 1 });
    const left = { leftCount: 0, leftMicroUsd: null, growsAt: null };
    const tell = () =>
      tellRefusal(
        { database: replicas[1]!, signals },
        { projectId, allowance: { id }, origin: TEST_ORIGIN },
        { userReference: null, left },
      );
    let telling: Promise<void>[] = [];
    await db.transaction(async (tx) => {
      await lockForQuota(tx, projectId);
      telling = Array.from({ length: 8 }, tell);
      // All have begun before the first of them can tell.
      await pollUntil(async () => {
        const [row] = await db.query<{ count: number }>(
          `SELECT count(*)::int AS count FROM pg_stat_activity
           WHERE datname = current_database() AND wait_event_type = 'Lock'`,
          [],
        );
        return row?.count === 8;
      });
    });
    await Promise.all(telling);
    const told = `SELECT refusals_on_day AS counted,
      (SELECT count(*)::int FROM event WHERE project_id = p.id) AS told FROM project p WHERE id = $1`;
    expect(await db.query(told, [projectId])).toEqual([{ counted: 1, told: 1 }]);
  });

  it("admits 19 reservations if a replica is killed among them", { timeout: 60_000 }, async () => {
    const allowance = await allowanceWith({ maxCount: 19 });
    const plan: ReservingPlan = {
      projectId,
      allowance: { id: allowance.id, windowSeconds: WINDOW_SECONDS, maxCount: 19 },
      dwalletId: dwallet.objectId,
      priceMicroUsd: Number(PRICE),
      connectionCount: 8,
    };
    const program = path.join(ROOT, "test/support/database/reserving-process.ts");
    const child = spawn(process.execPath, ["--import", "tsx", program, postgres!.url, JSON.stringify(plan)], {
      cwd: ROOT,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const exited = once(child, "exit");
    const acknowledged: string[] = [];
    // The other calls of the process are between their statements, or within one.
    for await (const id of createInterface({ input: child.stdout })) {
      acknowledged.push(id);
      if (acknowledged.length === 5) child.kill("SIGKILL");
    }
    expect((await exited)[1]).toBe("SIGKILL");
    const results = await Promise.allSettled(
      Array.from({ length: 32 }, () => reserveOne(allowance, {}, depsOf(replicas[1]!))),
    );
    const made = results.flatMap((result) => (result.status === "fulfilled" ? [result.value.id] : []));
    expect(new Set(refusalsOf(results))).toEqual(new Set(["BUDGET_EXCEEDED"]));
    const rows = await db.query<{ id: string }>("SELECT id FROM sign_request WHERE allowance_id = $1", [
      allowance.id,
    ]);
    expect(rows).toHaveLength(19);
    const ids = rows.map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining([...acknowledged, ...made]));
    expect(await spentOf(allowance)).toEqual({ count: 19, microUsd: 19n * PRICE });
    expect(await moneyOf(db, projectId)).toMatchObject({ held: 19n * PRICE, differences: [] });
  });

  it("is one for two keys of a rotation, and for dWallets and signatures", async () => {
    const allowance = await allowanceWith({ maxCount: 6 });
    const charges = Array.from({ length: 8 }, async (_, i) => {
      const { rowId } = await dwalletOf(replicas[i % 2]!, projectId, { state: "Submitting" });
      return chargeOne(allowance, rowId, replicas[i % 2]!);
    });
    const reservations = Array.from({ length: 8 }, (_, i) =>
      reserveOne(allowance, {}, depsOf(replicas[i % 2]!)),
    );
    const [charged, reserved] = await Promise.all([Promise.all(charges), Promise.allSettled(reservations)]);
    const chargedCount = charged.filter((outcome) => outcome === "charged").length;
    const reservedCount = reserved.filter(({ status }) => status === "fulfilled").length;
    expect(chargedCount + reservedCount).toBe(6);
    expect(await spentOf(allowance)).toEqual({ count: 6, microUsd: 6n * PRICE });
    expect(await moneyOf(db, projectId)).toMatchObject({
      balance: 1_000n * PRICE - BigInt(chargedCount) * PRICE,
      held: BigInt(reservedCount) * PRICE,
      differences: [],
    });
  });

  it("says what is left, and when its oldest part is free again", async () => {
    const allowance = await allowanceWith({ maxCount: 3, maxMicroUsd: 5n * PRICE - 1n });
    for (let made = 0; made < 3; made++) await reserveOne(allowance);
    const refused = await reserveOne(allowance).catch((error: ServiceError) => error);
    expect(refused).toMatchObject({
      reason: "BUDGET_EXCEEDED",
      metadata: { leftCount: "0", leftMicroUsd: String(2n * PRICE - 1n) },
    });
    const inSeconds = (Date.parse((refused as ServiceError).metadata["growTime"]!) - Date.now()) / 1_000;
    expect(inSeconds).toBeGreaterThan(WINDOW_SECONDS - 60);
    expect(inSeconds).toBeLessThanOrEqual((WINDOW_SECONDS * 25) / 24 + 60);
  });

  it("counts a request once, however often it is repeated with its idempotency key", async () => {
    const allowance = await allowanceWith({ maxCount: 1 });
    const results = await Promise.allSettled(
      Array.from({ length: 32 }, (_, i) =>
        reserveOne(allowance, { idempotency: keyed("one") }, depsOf(replicas[i % 2]!)),
      ),
    );
    const ids = results.map((result) =>
      result.status === "fulfilled" ? result.value.id : String(result.reason),
    );
    expect(new Set(ids).size).toBe(1);
    expect(await spentOf(allowance)).toEqual({ count: 1, microUsd: PRICE });
  });

  it("gets back what reservations that expire have taken, each once", async () => {
    const allowance = await allowanceWith({ maxCount: 8 });
    await Promise.all(Array.from({ length: 8 }, () => reserveOne(allowance)));
    await expireAll();
    expect(await spentOf(allowance)).toEqual({ count: 0, microUsd: 0n });
    await expect(reserveOne(allowance)).resolves.toMatchObject({ status: "prepared" });
  });

  it("gets back what an ended reservation has taken", async () => {
    const allowance = await allowanceWith({ maxCount: 1 });
    await reserveOne(allowance);
    const [row] = await db.query<{ presignId: string }>(
      `SELECT presign_id AS "presignId" FROM sign_request WHERE project_id = $1`,
      [projectId],
    );
    await Promise.all([1, 2].map(() => endReservationOf(db, row!.presignId)));
    expect(await spentOf(allowance)).toEqual({ count: 0, microUsd: 0n });
  });

  it("gets back the price of a failed signature if it is refunded, once", async () => {
    const allowance = await allowanceWith({ maxCount: 2 });
    const rows = [await reserveOne(allowance), await reserveOne(allowance)];
    for (const { id } of rows)
      await submit(depsOf(db), callerWith(allowance), {
        signRequestId: id,
        userSignMessage: layoutOfSignMessage(),
      });
    const failure = {
      from: "queued",
      reason: "NETWORK_REJECTED",
      message: "refused",
      refundsPerDay: 1,
    } as const;
    await Promise.all(rows.flatMap(({ id }) => [1, 2].map(() => failSignRequest(db, id, failure))));
    // The second refund is beyond the project's limit of the day, so its price stays spent.
    expect(await spentOf(allowance)).toEqual({ count: 1, microUsd: PRICE });
    expect(await moneyOf(db, projectId)).toMatchObject({ balance: 999n * PRICE, held: 0n, differences: [] });
  });

  it("gets back the price of a failed dWallet, once", async () => {
    const allowance = await allowanceWith({ maxCount: 1 });
    const { rowId } = await dwalletOf(db, projectId, { state: "Submitting" });
    expect(await chargeOne(allowance, rowId)).toBe("charged");
    const { rowId: another } = await dwalletOf(db, projectId, { state: "Submitting" });
    expect(await chargeOne(allowance, another)).toMatchObject({ fitsBudget: false, leftCount: 0 });
    const failure = { from: "Submitting", to: "Failed", reason: "REFUSED" } as const;
    await Promise.all([1, 2].map(() => failDWallet(db, rowId, failure)));
    expect(await spentOf(allowance)).toEqual({ count: 0, microUsd: 0n });
    expect(await chargeOne(allowance, another)).toBe("charged");
  });

  it("is free again once the window and a slot have passed, and no slot earlier", async () => {
    const allowance = await allowanceWith({ maxCount: 1 });
    await reserveOne(allowance);
    await passSlots(24);
    await expect(reserveOne(allowance)).rejects.toMatchObject({ reason: "BUDGET_EXCEEDED" });
    await passSlots(1);
    await reserveOne(allowance);
    // The first reservation took nothing that still counts.
    const [oldest] = await db.query<{ id: string }>(
      "SELECT id FROM sign_request WHERE project_id = $1 ORDER BY id",
      [projectId],
    );
    await db.query("UPDATE sign_request SET expires_at = now() - interval '1 second' WHERE id = $1", [
      oldest!.id,
    ]);
    await expireReservations(db, signals, 10);
    expect(await spentOf(allowance)).toEqual({ count: 1, microUsd: PRICE });
  });

  it("gets a price back into the slot that it was taken from", async () => {
    const allowance = await allowanceWith({ maxCount: 2 });
    const { id } = await reserveOne(allowance);
    await passSlots(20);
    await reserveOne(allowance);
    await db.query("UPDATE sign_request SET expires_at = now() - interval '1 second' WHERE id = $1", [id]);
    await expireReservations(db, signals, 10);
    expect(await spentOf(allowance)).toEqual({ count: 1, microUsd: PRICE });
    await passSlots(24);
    expect(await spentOf(allowance)).toEqual({ count: 1, microUsd: PRICE });
    await passSlots(1);
    expect(await spentOf(allowance)).toEqual({ count: 0, microUsd: 0n });
  });

  async function allowanceWith(budget: Partial<Budget>): Promise<Allowance> {
    const whole = { windowSeconds: WINDOW_SECONDS, maxCount: undefined, maxMicroUsd: undefined, ...budget };
    const { id } = await db.transaction((tx) =>
      insertApiKey(tx, TEST_ORIGIN, {
        projectId,
        name: "narrow",
        scopes: ["sign"],
        limits: { budget: whole },
      }),
    );
    return { id, userReferences: undefined, dwalletIds: undefined, algorithms: undefined, budget: whole };
  }

  function callerWith(allowance: Allowance) {
    return { projectId, network: "localnet", allowance, origin: TEST_ORIGIN };
  }

  function reserveOne(allowance: Allowance, more: Partial<ReserveInput> = {}, deps = depsOf(db)) {
    const input = { dwalletId: dwallet.objectId, triple: TEST_TRIPLE, message: Uint8Array.of(1), ...more };
    const time = { timeoutMs: 30_000, signal: new AbortController().signal };
    return reserve(deps, callerWith(allowance), { idempotency: undefined, ...input }, time);
  }

  function chargeOne(allowance: Allowance, dwalletId: string, database = db) {
    const dkg = { dwalletId, projectId, network: "localnet", priceMicroUsd: PRICE, allowance };
    return database.transaction(async (tx) => {
      await lockForQuota(tx, projectId);
      const outcome = await chargeDkg(tx, {
        ...dkg,
        operationId: newId(),
        priority: 20,
        traceParent: undefined,
      });
      if (outcome === "charged")
        await tx.query("UPDATE dwallet SET price_micro_usd = $2 WHERE id = $1", [dwalletId, PRICE]);
      return outcome;
    });
  }

  /** Lets the time of slots pass for the project's allowances and for what was taken from them. */
  async function passSlots(count: number): Promise<void> {
    await db.query("UPDATE allowance SET newest_slot = newest_slot - $2 WHERE project_id = $1", [
      projectId,
      count,
    ]);
    await db.query("UPDATE sign_request SET allowance_slot = allowance_slot - $2 WHERE project_id = $1", [
      projectId,
      count,
    ]);
  }

  async function expireAll(): Promise<void> {
    await db.query("UPDATE sign_request SET expires_at = now() - interval '1 second' WHERE project_id = $1", [
      projectId,
    ]);
    await Promise.all(
      replicas.flatMap((replica) => [1, 2].map(() => expireReservations(replica, signals, 100))),
    );
  }

  /** What counts against the budget now. */
  async function spentOf({ id }: Allowance): Promise<{ count: number; microUsd: bigint }> {
    const [spent] = await db.query<{ count: bigint; microUsd: bigint }>(
      `SELECT budget_sum(budget_slots_at(slot_counts::bigint[], newest_slot, slot)) AS count,
              budget_sum(budget_slots_at(slot_micro_usd, newest_slot, slot)) AS "microUsd"
       FROM (SELECT *, greatest(newest_slot, budget_slot(now(), window_seconds)) AS slot FROM allowance WHERE id = $1) a`,
      [id],
    );
    return { count: Number(spent!.count), microUsd: spent!.microUsd };
  }
});

function refusalsOf(results: readonly PromiseSettledResult<unknown>[]): string[] {
  return results.flatMap((result) =>
    result.status === "rejected"
      ? [result.reason instanceof ServiceError ? result.reason.reason : String(result.reason)]
      : [],
  );
}
