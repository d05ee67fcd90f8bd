/** A user is frozen or deleted while calls for the user are under way, on a real PostgreSQL. */

import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { createLocalSignals } from "../../src/service/platform/coordination/local-coordination.ts";
import { systemClock } from "../../src/service/platform/lifecycle/clock.ts";
import type { Queryable } from "../../src/service/platform/store/database.ts";
import { createPresignQueue } from "../../src/service/presigns/presign-queue.ts";
import { reserve } from "../../src/service/signing/reserve.ts";
import { submit } from "../../src/service/signing/submit.ts";
import { ensureUser } from "../../src/service/users/ensure-user.ts";
import { createUser, deleteUser, freezeUser, unfreezeUser } from "../../src/service/users/users.ts";
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
import { pollUntil } from "../support/poll-until.ts";
import { onboardingCalls } from "../support/service/onboarding-calls.ts";
import { refusalOf } from "../support/service/service-client.ts";

const PRICE = 10_000n;
const COUNT = 24;
const database = await openRaceDatabase({ count: 16, because: "16 of the calls run at the same time" });
afterAll(() => database?.close());

describe.skipIf(database === undefined)("a freeze", () => {
  const db = database!;
  const signals = createLocalSignals();
  const deps = {
    database: db,
    signals,
    presigns: createPresignQueue({ clock: systemClock, signals, waitingMaxCount: 0 }),
    checkHalf: checkHalfInline,
    prices: flatPrices(PRICE),
    reservationTtlMs: 60_000,
    openMaxCount: 100,
  };
  const onboarding = onboardingCalls(db);
  const time = () => ({ timeoutMs: 30_000, signal: new AbortController().signal });
  let projectId: string;
  let caller: { projectId: string; network: string; origin: typeof TEST_ORIGIN };
  let dwallet: TestDWalletRow;

  beforeEach(async () => {
    projectId = await projectWith(db, 1_000n * PRICE);
    caller = { projectId, network: "localnet", origin: TEST_ORIGIN };
    dwallet = await dwalletOf(db, projectId, { userReference: "alice" });
    await readyPresigns(db, dwallet.bucket, 2 * COUNT);
  });

  const reserveOne = async () => {
    const request = { dwalletId: dwallet.objectId, triple: TEST_TRIPLE, idempotency: undefined };
    return (await reserve(deps, caller, { ...request, message: Uint8Array.of(1) }, time())).id;
  };
  const submitOne = (id: string) =>
    submit(deps, caller, { signRequestId: id, userSignMessage: layoutOfSignMessage() });
  const countOf = async (status: string) =>
    (await db.query("SELECT 1 FROM sign_request WHERE project_id = $1 AND status = $2", [projectId, status]))
      .length;
  const freeze = () => freezeUser(db, caller, "alice");
  const times = <T>(call: () => Promise<T>) => Promise.all(Array.from({ length: COUNT }, call));

  it("that has returned lets nothing more of the user be queued, whatever was reserved before", async () => {
    for (let round = 0; round < 5; round++) {
      const ids = await times(reserveOne);
      const before = await countOf("queued");
      const first = ids.slice(0, 6).map((id) => refusalOf(submitOne(id)));
      await Promise.race(first);
      const frozen = freeze();
      const rest = ids.slice(6, -1).map((id) => refusalOf(submitOne(id)));
      await frozen;
      const queued = await countOf("queued");
      const late = ids.slice(-1).map((id) => refusalOf(submitOne(id)));
      const outcomes = await Promise.all([...first, ...rest, ...late]);
      expect(await countOf("queued")).toBe(queued);
      expect(outcomes.filter((outcome) => outcome === "not refused")).toHaveLength(queued - before);
      expect(new Set(outcomes.filter((outcome) => outcome !== "not refused"))).toEqual(
        new Set(["USER_FROZEN"]),
      );
      expect(await refusalOf(reserveOne())).toBe("USER_FROZEN");
      await unfreezeUser(db, caller, "alice");
      for (const id of ids) await submitOne(id);
      await readyPresigns(db, dwallet.bucket, COUNT);
    }
    expect((await moneyOf(db, projectId)).differences).toEqual([]);
  });

  /** Runs a call while a transaction that has changed the user is still open, and commits it once the call waits for it. */
  async function during(change: (tx: Queryable) => Promise<unknown>, call: () => Promise<unknown>) {
    const { outcome } = await db.transaction(async (tx) => {
      await change(tx);
      const [self] = await tx.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
      let ended = false;
      const refusal = refusalOf(call()).finally(() => {
        ended = true;
      });
      const waiting = "SELECT 1 FROM pg_stat_activity WHERE $1::int = ANY(pg_blocking_pids(pid))";
      await pollUntil(async () => ended || (await db.query(waiting, [self!.pid])).length > 0);
      return { outcome: refusal };
    });
    return await outcome;
  }
  const freezing = (tx: Queryable) => freezeUser(tx, caller, "alice");

  it("stops a submission that began before it was committed", async () => {
    const id = await reserveOne();
    expect(await during(freezing, () => submitOne(id))).toBe("USER_FROZEN");
    expect(await countOf("queued")).toBe(0);
  });

  it("stops a reservation that began before it was committed", async () => {
    expect(await during(freezing, reserveOne)).toBe("USER_FROZEN");
    expect(await countOf("prepared")).toBe(0);
  });

  it("stops a DKG that began before it was committed", async () => {
    const [{ keyId, signer } = { keyId: "", signer: new Uint8Array() }] = await db.query<{
      keyId: string;
      signer: Uint8Array;
    }>(
      `UPDATE encryption_key k SET signer_public_key = decode(repeat('07', 32), 'hex') FROM dwallet d
       WHERE d.id = $1 AND k.id = d.encryption_key_id RETURNING k.object_id AS "keyId", k.signer_public_key AS signer`,
      [dwallet.rowId],
    );
    const request = () =>
      onboarding.dkgRequest(
        { rowId: "", objectId: keyId, signerPublicKey: signer },
        { userReference: "alice" },
      );
    expect(await during(freezing, () => onboarding.createDWallet(projectId, request()))).toBe("USER_FROZEN");
    await unfreezeUser(db, caller, "alice");
    expect(await refusalOf(onboarding.createDWallet(projectId, request()))).toBe("not refused");
  });

  it("waits for a submission that came first, which then goes on", async () => {
    const id = await reserveOne();
    let isFrozen = false;
    const { frozen } = await db.transaction(async (tx) => {
      await submit({ ...deps, database: tx }, caller, {
        signRequestId: id,
        userSignMessage: layoutOfSignMessage(),
      });
      const frozen = freeze().then(() => {
        isFrozen = true;
      });
      const [self] = await tx.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
      const waiting = "SELECT 1 FROM pg_stat_activity WHERE $1::int = ANY(pg_blocking_pids(pid))";
      await pollUntil(async () => isFrozen || (await db.query(waiting, [self!.pid])).length > 0);
      expect(isFrozen).toBe(false);
      return { frozen };
    });
    await frozen;
    expect(await countOf("queued")).toBe(1);
    expect((await submitOne(id)).status).toBe("queued");
  });

  it("of one user leaves another user and the project's own dWallets alone", async () => {
    const others = [
      await dwalletOf(db, projectId, { ...dwallet.bucket, userReference: "bob" }),
      await dwalletOf(db, projectId, dwallet.bucket),
    ];
    await freeze();
    for (dwallet of others) expect((await submitOne(await reserveOne())).status).toBe("queued");
  });

  it("and a deletion see each other: a dWallet is made for a deleted user by no one", async () => {
    const user = { projectId, reference: "carol" };
    await createUser(db, caller, "carol", 100);
    const making = () =>
      db.transaction(async (tx) => {
        await ensureUser(tx, user, 100);
      });
    const deleting = (tx: Queryable) =>
      deleteUser({ transaction: async (work) => await work(tx) }, caller, "carol");
    expect(await during(deleting, making)).toBe("USER_DELETED");
  });

  it("limit holds for many first mentions at once, and one reference counts once", async () => {
    const mention = (reference: string) =>
      refusalOf(db.transaction((tx) => ensureUser(tx, { projectId, reference }, 8)));
    const same = await Promise.all(Array.from({ length: 8 }, () => mention("dave")));
    expect(new Set(same)).toEqual(new Set(["not refused"]));
    const outcomes = await Promise.all(Array.from({ length: 20 }, (_, index) => mention(`user-${index}`)));
    // Alice and Dave are two of the eight.
    expect(outcomes.filter((outcome) => outcome === "not refused")).toHaveLength(6);
    expect(new Set(outcomes)).toEqual(new Set(["not refused", "TOO_MANY_USERS"]));
  });
});
