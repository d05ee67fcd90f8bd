/** Charges, holds and presigns under simultaneous calls, on a real PostgreSQL. */

import { afterAll, describe, expect, it } from "vitest";
import { creditProject } from "../../src/service/ledger/credit-project.ts";
import { checkQuota, lockForQuota } from "../../src/service/onboarding/check-quota.ts";
import { type SignedConsent, storeConsent } from "../../src/service/onboarding/custody/consents.ts";
import { markDWalletLeft } from "../../src/service/onboarding/custody/custody-state.ts";
import { createLocalSignals } from "../../src/service/platform/coordination/local-coordination.ts";
import { ServiceError } from "../../src/service/platform/errors/service-error.ts";
import { systemClock } from "../../src/service/platform/lifecycle/clock.ts";
import { type Database, newId, type Queryable } from "../../src/service/platform/store/database.ts";
import { createPresignQueue } from "../../src/service/presigns/presign-queue.ts";
import { expireReservations } from "../../src/service/signing/loops/expire-loop.ts";
import { type ReserveInput, reserve } from "../../src/service/signing/reserve.ts";
import { failSignRequest } from "../../src/service/signing/sign-operation.ts";
import { submit } from "../../src/service/signing/submit.ts";
import { checkHalfInline } from "../support/crypto/inline-verifier.ts";
import { openRaceDatabase } from "../support/database/database.ts";
import { flatPrices } from "../support/database/prices.ts";
import {
  dwalletOf,
  keyed,
  layoutOfSignMessage,
  moneyOf,
  objectId,
  projectWith,
  readyPresigns,
  TEST_ORIGIN,
  TEST_TRIPLE,
  type TestDWalletRow,
} from "../support/database/rows.ts";
import { pollUntil } from "../support/poll-until.ts";

const PRICE = 10_000n;
/** Finds the connections that wait for a lock of the connection $1. */
const WAITING = "SELECT 1 FROM pg_stat_activity WHERE $1::int = ANY(pg_blocking_pids(pid))";
/** The owner's authorisation of an exit, as it is stored after all checks. */
const CONSENT: SignedConsent = {
  dwalletId: objectId(),
  action: "leave",
  chain: new Uint8Array(32),
  treasuryId: objectId(),
  recipient: objectId(),
  nonce: 0n,
  expiresEpoch: 1n,
  publicKey: new Uint8Array(32),
  signature: new Uint8Array(64),
};
const database = await openRaceDatabase({ count: 16, because: "16 of the calls run at the same time" });
afterAll(() => database?.close());

describe.skipIf(database === undefined)("calls at the same time", () => {
  const db = database!;
  const signals = createLocalSignals();
  const presigns = createPresignQueue({ clock: systemClock, signals });
  const deps = {
    database: db,
    signals,
    presigns,
    checkHalf: checkHalfInline,
    prices: flatPrices(PRICE),
    reservationTtlMs: 60_000,
    openMaxCount: 100,
  };
  const caller = (projectId: string) => ({ projectId, network: "localnet", origin: TEST_ORIGIN });
  const time = (timeoutMs = 30_000) => ({ timeoutMs, signal: new AbortController().signal });
  const input = (dwallet: TestDWalletRow, more: Partial<ReserveInput> = {}): ReserveInput => ({
    dwalletId: dwallet.objectId,
    triple: TEST_TRIPLE,
    message: new TextEncoder().encode("message"),
    idempotency: undefined,
    ...more,
  });
  const times = <T>(count: number, call: () => Promise<T>) =>
    Promise.allSettled(Array.from({ length: count }, call));

  it("charge a request once, even if it is submitted several times", async () => {
    const projectId = await projectWith(db, 100n * PRICE);
    const dwallet = await dwalletOf(db, projectId);
    await readyPresigns(db, dwallet.bucket, 1);
    const row = await reserve(deps, caller(projectId), input(dwallet), time());
    expect(await moneyOf(db, projectId)).toMatchObject({ balance: 100n * PRICE, held: PRICE });

    const message = { signRequestId: row.id, userSignMessage: layoutOfSignMessage() };
    const results = await times(64, () => submit(deps, caller(projectId), message));

    expect(results.map((r) => r.status === "fulfilled" && r.value.status)).toEqual(Array(64).fill("queued"));
    expect(await moneyOf(db, projectId)).toEqual({ balance: 99n * PRICE, held: 0n, differences: [] });
    expect(await db.query("SELECT 1 FROM chain_operation WHERE subject_id = $1", [row.id])).toHaveLength(1);
  });

  it("hold and charge the price of each message's length, and never more than the credit", async () => {
    const projectId = await projectWith(db, 25n * PRICE);
    const dwallet = await dwalletOf(db, projectId);
    await readyPresigns(db, dwallet.bucket, 8);
    const bySize = { ...deps, prices: { ...flatPrices(PRICE), messageKibMicroUsd: 6_000n } };
    const long = input(dwallet, { message: new Uint8Array(16_381) });
    const results = await times(8, () => reserve(bySize, caller(projectId), long, time()));
    const rows = results.flatMap((r) => (r.status === "fulfilled" ? [r.value] : []));
    expect(rows.map(({ priceMicroUsd }) => priceMicroUsd)).toEqual([10n * PRICE, 10n * PRICE]);
    expect(await moneyOf(db, projectId)).toMatchObject({ held: 20n * PRICE, differences: [] });
    for (const { id } of rows)
      await submit(bySize, caller(projectId), { signRequestId: id, userSignMessage: layoutOfSignMessage() });
    expect(await moneyOf(db, projectId)).toEqual({ balance: 5n * PRICE, held: 0n, differences: [] });
  });

  it("serve exactly as many requests as the credit covers", async () => {
    const projectId = await projectWith(db, 19n * PRICE + PRICE - 1n);
    const dwallet = await dwalletOf(db, projectId);
    await readyPresigns(db, dwallet.bucket, 64);

    const results = await times(64, async () => {
      const { id } = await reserve(deps, caller(projectId), input(dwallet), time());
      return submit(deps, caller(projectId), { signRequestId: id, userSignMessage: layoutOfSignMessage() });
    });

    const refusals = results.flatMap((r) => (r.status === "rejected" ? [reasonOf(r.reason)] : []));
    expect(refusals).toEqual(Array(45).fill("INSUFFICIENT_CREDIT"));
    expect(await moneyOf(db, projectId)).toEqual({ balance: PRICE - 1n, held: 0n, differences: [] });
    expect(await statesOf(dwallet)).toEqual({ held: 19, ready: 45 });
  });

  it.each([
    [
      "an exit",
      (tx: Queryable, projectId: string, { rowId }: TestDWalletRow) =>
        storeConsent(tx, caller(projectId), {
          network: "localnet",
          dwalletRowId: rowId,
          consent: CONSENT,
        }),
    ],
    [
      "a departure that the chain shows",
      (tx: Queryable, _projectId: string, { rowId }: TestDWalletRow) => markDWalletLeft(tx, rowId),
    ],
  ])("reserve nothing if the reservation began before %s was committed", async (_, leave) => {
    const projectId = await projectWith(db, 10n * PRICE);
    const dwallet = await dwalletOf(db, projectId);
    await readyPresigns(db, dwallet.bucket, 1);
    const reserving = await db.transaction(async (tx) => {
      expect(await leave(tx, projectId, dwallet)).toBeTruthy();
      const [self] = await tx.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
      let ended = false;
      const outcome = reserve(deps, caller(projectId), input(dwallet), time()).then(
        () => "reserved",
        (error: unknown) => reasonOf(error),
      );
      void outcome.then(() => {
        ended = true;
      });
      await pollUntil(async () => ended || (await db.query(WAITING, [self!.pid])).length > 0);
      return { outcome };
    });
    expect(await reserving.outcome).toBe("DWALLET_LEFT");
    expect(await moneyOf(db, projectId)).toEqual({ balance: 10n * PRICE, held: 0n, differences: [] });
    expect(await statesOf(dwallet)).toEqual({ ready: 1 });
  });

  it("count an open reservation that was committed after they began", async () => {
    const projectId = await projectWith(db, 10n * PRICE);
    const dwallet = await dwalletOf(db, projectId);
    await readyPresigns(db, dwallet.bucket, 2);
    const bounded = { ...deps, openMaxCount: 1 };
    const reserving = await db.transaction(async (tx) => {
      await reserve({ ...bounded, database: tx as Database }, caller(projectId), input(dwallet), time());
      const [self] = await tx.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
      const outcome = reserve(bounded, caller(projectId), input(dwallet), time()).then(
        () => "reserved",
        (error: unknown) => reasonOf(error),
      );
      await pollUntil(async () => (await db.query(WAITING, [self!.pid])).length > 0);
      return { outcome };
    });
    expect(await reserving.outcome).toBe("TOO_MANY_RESERVATIONS");
    expect(await moneyOf(db, projectId)).toEqual({ balance: 10n * PRICE, held: PRICE, differences: [] });
    expect(await statesOf(dwallet)).toEqual({ held: 1, ready: 1 });
  });

  it("are paid from credit that arrives while they wait for the project, with their idempotency key", async () => {
    const projectId = await projectWith(db, 0n);
    const dwallet = await dwalletOf(db, projectId);
    await readyPresigns(db, dwallet.bucket, 1);
    const repeated = input(dwallet, { idempotency: keyed("one") });
    const reserving = await db.transaction(async (tx) => {
      const credit = { projectId, amountMicroUsd: PRICE, reference: newId(), description: "late" };
      await creditProject(tx, TEST_ORIGIN, credit);
      const [self] = await tx.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
      const row = reserve(deps, caller(projectId), repeated, time());
      await pollUntil(async () => (await db.query(WAITING, [self!.pid])).length > 0);
      return { row };
    });
    const { id } = await reserving.row;
    expect((await reserve(deps, caller(projectId), repeated, time())).id).toBe(id);
    expect(await moneyOf(db, projectId)).toEqual({ balance: PRICE, held: PRICE, differences: [] });
  });

  it("create one row and one hold for one idempotency key", async () => {
    const projectId = await projectWith(db, 100n * PRICE);
    const dwallet = await dwalletOf(db, projectId);
    await readyPresigns(db, dwallet.bucket, 32);

    const repeated = input(dwallet, { idempotency: keyed("one") });
    const results = await times(32, () => reserve(deps, caller(projectId), repeated, time()));

    const ids = results.map((r) => (r.status === "fulfilled" ? r.value.id : reasonOf(r.reason)));
    expect(new Set(ids).size).toBe(1);
    expect(await moneyOf(db, projectId)).toEqual({ balance: 100n * PRICE, held: PRICE, differences: [] });
    expect(await statesOf(dwallet)).toEqual({ held: 1, ready: 31 });
  });

  it("never use one presign for two reservations of different projects", async () => {
    const projects = await Promise.all(Array.from({ length: 4 }, () => projectWith(db, 100n * PRICE)));
    const first = await dwalletOf(db, projects[0]!);
    const dwallets = [first];
    for (const project of projects.slice(1)) dwallets.push(await dwalletOf(db, project, first.bucket));
    const ids = await readyPresigns(db, first.bucket, 40);

    const results = await Promise.allSettled(
      Array.from({ length: 48 }, (_, i) =>
        reserve(deps, caller(projects[i % 4]!), input(dwallets[i % 4]!), time(3_000)),
      ),
    );

    const taken = results.flatMap((r) => (r.status === "fulfilled" ? [r.value.presignId] : []));
    const refused = results.flatMap((r) => (r.status === "rejected" ? [reasonOf(r.reason)] : []));
    expect(taken.toSorted()).toEqual(ids.toSorted());
    expect(refused).toEqual(Array(8).fill("PRESIGN_POOL_EMPTY"));
    const held = await Promise.all(projects.map((project) => moneyOf(db, project)));
    expect(held.reduce((sum, money) => sum + (money.held ?? 0n), 0n)).toBe(40n * PRICE);
    expect(held.flatMap((money) => money.differences)).toEqual([]);
  });

  it("refund a failed request once, even if it is settled several times", async () => {
    const projectId = await projectWith(db, PRICE);
    const dwallet = await dwalletOf(db, projectId);
    await readyPresigns(db, dwallet.bucket, 1);
    const { id } = await reserve(deps, caller(projectId), input(dwallet), time());
    await submit(deps, caller(projectId), { signRequestId: id, userSignMessage: layoutOfSignMessage() });

    const failure = { from: "queued", reason: "CHAIN_REJECTED", message: "no" } as const;
    const results = await times(32, () => failSignRequest(db, id, failure));

    expect(results.filter((r) => r.status === "fulfilled" && r.value)).toHaveLength(1);
    expect(await moneyOf(db, projectId)).toEqual({ balance: PRICE, held: 0n, differences: [] });
    expect(await statesOf(dwallet)).toEqual({ burnt: 1 });
  });

  it("refund rejected requests up to the project's budget, and every failure that the project did not cause", async () => {
    const projectId = await projectWith(db, 10n * PRICE);
    const dwallet = await dwalletOf(db, projectId);
    await readyPresigns(db, dwallet.bucket, 10);
    const ids = await Promise.all(
      Array.from({ length: 10 }, async () => {
        const { id } = await reserve(deps, caller(projectId), input(dwallet), time());
        await submit(deps, caller(projectId), { signRequestId: id, userSignMessage: layoutOfSignMessage() });
        return id;
      }),
    );

    const failure = { from: "queued", reason: "NETWORK_REJECTED", message: "no" } as const;
    await Promise.all(
      ids.map((id, i) => failSignRequest(db, id, i < 8 ? { ...failure, refundsPerDay: 3 } : failure)),
    );

    const rows = await db.query<{ refunded: boolean; message: string }>(
      "SELECT refunded, failure_message AS message FROM sign_request WHERE project_id = $1 AND status = 'failed'",
      [projectId],
    );
    expect(rows).toHaveLength(10);
    expect(rows.filter((row) => row.refunded)).toHaveLength(3 + 2);
    expect(rows.filter((row) => row.message.includes("not refunded"))).toHaveLength(5);
    expect(await moneyOf(db, projectId)).toEqual({ balance: 5n * PRICE, held: 0n, differences: [] });
    expect(await statesOf(dwallet)).toEqual({ burnt: 10 });
  });

  it("open at most the project's limit of reservations, and as many again after these are submitted", async () => {
    const projectId = await projectWith(db, 100n * PRICE);
    const dwallet = await dwalletOf(db, projectId);
    await readyPresigns(db, dwallet.bucket, 32);
    const bounded = { ...deps, openMaxCount: 5 };

    const results = await times(32, () => reserve(bounded, caller(projectId), input(dwallet), time()));
    const rows = results.flatMap((r) => (r.status === "fulfilled" ? [r.value] : []));
    const refusals = results.flatMap((r) => (r.status === "rejected" ? [reasonOf(r.reason)] : []));
    expect(rows).toHaveLength(5);
    expect(refusals).toEqual(Array(27).fill("TOO_MANY_RESERVATIONS"));
    expect(await moneyOf(db, projectId)).toEqual({
      balance: 100n * PRICE,
      held: 5n * PRICE,
      differences: [],
    });

    const first = { signRequestId: rows[0]!.id, userSignMessage: layoutOfSignMessage() };
    await submit(bounded, caller(projectId), first);
    await expect(reserve(bounded, caller(projectId), input(dwallet), time())).resolves.toBeDefined();
    await expect(reserve(bounded, caller(projectId), input(dwallet), time())).rejects.toThrow(/open/);
  });

  it("create at most a day's quota of dWallets, and store nothing for a refused call", async () => {
    const projectId = await projectWith(db, 0n);
    const create = () =>
      db.transaction(async (db) => {
        await lockForQuota(db, projectId);
        await db.query(
          `INSERT INTO encryption_key (id, project_id, network, curve, signer_address, encryption_key, signature,
                                       signer_public_key)
           VALUES ($1, $2, 'localnet', 0, $3, '\\x00', '\\x00', '\\x00')`,
          [newId(), projectId, objectId()],
        );
        await checkQuota(db, "encryption_key", projectId, 3);
      });
    const results = await times(16, create);
    const refusals = results.flatMap((r) => (r.status === "rejected" ? [reasonOf(r.reason)] : []));
    expect(refusals).toEqual(Array(13).fill("QUOTA_EXCEEDED"));
    const rows = await db.query("SELECT 1 FROM encryption_key WHERE project_id = $1", [projectId]);
    expect(rows).toHaveLength(3);

    // Charges older than a day do not count.
    await db.query("UPDATE encryption_key SET tried_at = now() - interval '25 hours' WHERE project_id = $1", [
      projectId,
    ]);
    await expect(create()).resolves.toBeUndefined();
  });

  it("either charge or release a request that is submitted as it expires", async () => {
    const projectId = await projectWith(db, 100n * PRICE);
    const dwallet = await dwalletOf(db, projectId);
    await readyPresigns(db, dwallet.bucket, 40);
    const rows = await Promise.all(
      Array.from({ length: 40 }, () => reserve(deps, caller(projectId), input(dwallet), time())),
    );
    // The reservations expire one after another while the submits run.
    await db.query(
      `UPDATE sign_request SET expires_at = clock_timestamp() + random() * interval '60 milliseconds'
       WHERE project_id = $1`,
      [projectId],
    );

    const submits = rows.map((row) =>
      submit(deps, caller(projectId), { signRequestId: row.id, userSignMessage: layoutOfSignMessage() }),
    );
    const sweeps = Array.from({ length: 8 }, () => expireReservations(db, signals, 40));
    const results = await Promise.allSettled(submits);
    await Promise.all(sweeps);
    await db.query(
      "UPDATE sign_request SET expires_at = now() - interval '1 second' WHERE project_id = $1 AND status = 'prepared'",
      [projectId],
    );
    await expireReservations(db, signals, 40);

    const chargedCount = results.filter((r) => r.status === "fulfilled").length;
    expect(await moneyOf(db, projectId)).toEqual({
      balance: (100n - BigInt(chargedCount)) * PRICE,
      held: 0n,
      differences: [],
    });
    const states: Record<string, number> = await statesOf(dwallet);
    expect(states["held"] ?? 0).toBe(chargedCount);
    expect(states["ready"] ?? 0).toBe(40 - chargedCount);
  });

  async function statesOf({ bucket }: TestDWalletRow): Promise<Record<string, number>> {
    const rows = await db.query<{ state: string; count: number }>(
      "SELECT state, count(*)::int AS count FROM presign WHERE network_encryption_key_id = $1 GROUP BY state",
      [bucket.networkEncryptionKeyId],
    );
    return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
  }
});

function reasonOf(error: unknown): string {
  return error instanceof ServiceError ? error.reason : String(error);
}
