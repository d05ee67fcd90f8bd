/** A holder is removed or frozen while its calls are under way, on a real PostgreSQL. */
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { removeHolder } from "../../src/service/onboarding/sharing/holders.ts";
import { createLocalSignals } from "../../src/service/platform/coordination/local-coordination.ts";
import { systemClock } from "../../src/service/platform/lifecycle/clock.ts";
import { type Database, newId, type Queryable } from "../../src/service/platform/store/database.ts";
import { createPresignQueue } from "../../src/service/presigns/presign-queue.ts";
import { reserve } from "../../src/service/signing/reserve.ts";
import { submit } from "../../src/service/signing/submit.ts";
import { freezeUser } from "../../src/service/users/users.ts";
import { checkHalfInline } from "../support/crypto/inline-verifier.ts";
import { openRaceDatabase } from "../support/database/database.ts";
import { flatPrices } from "../support/database/prices.ts";
import {
  layoutOfSignMessage,
  projectWith,
  readyPresigns,
  TEST_ORIGIN,
  TEST_TRIPLE,
} from "../support/database/rows.ts";
import { recipientOf, type Sharable, sharable, sharedWith } from "../support/database/shares.ts";
import { pollUntil } from "../support/poll-until.ts";
import { refusalOf } from "../support/service/service-client.ts";

const database = await openRaceDatabase({
  count: 4,
  because: "a change, a call, a look at the locks and a submission run at once",
});
afterAll(() => database?.close());

describe.skipIf(database === undefined)("a holder's call that began before", () => {
  const db = database!;
  const signals = createLocalSignals();
  const deps = {
    database: db,
    signals,
    presigns: createPresignQueue({ clock: systemClock, signals, waitingMaxCount: 0 }),
    checkHalf: checkHalfInline,
    prices: flatPrices(10n),
    reservationTtlMs: 60_000,
    openMaxCount: 100,
  };
  let projectId: string;
  let wallet: Sharable;
  let holderAddress: string;

  beforeEach(async () => {
    projectId = await projectWith(db, 1_000n);
    wallet = await sharable(db, projectId, { userReference: "alice" });
    await readyPresigns(db, wallet.bucket, 2);
    const bob = await recipientOf(db, projectId, "bob");
    await sharedWith(db, wallet, bob);
    holderAddress = bob.address;
  });

  const callerOf = (user: string) => ({
    projectId,
    network: "localnet",
    origin: TEST_ORIGIN,
    allowance: {
      id: newId(),
      userReferences: [user],
      dwalletIds: undefined,
      algorithms: undefined,
      budget: undefined,
    },
  });
  const reserveOne = async (user: string) => {
    const request = { dwalletId: wallet.objectId, triple: TEST_TRIPLE, idempotency: undefined };
    const time = { timeoutMs: 30_000, signal: new AbortController().signal };
    return (await reserve(deps, callerOf(user), { ...request, message: Uint8Array.of(1) }, time)).id;
  };
  const submitOne = (user: string, signRequestId: string) =>
    submit(deps, callerOf(user), { signRequestId, userSignMessage: layoutOfSignMessage() });
  const removing = (tx: Queryable) => {
    const within = { transaction: async (work: (db: Queryable) => Promise<unknown>) => await work(tx) };
    return removeHolder({ database: { ...db, ...within } as Database }, callerOf("alice"), {
      dwalletId: wallet.objectId,
      holderAddress,
    } as never);
  };
  const freezing = (tx: Queryable) => freezeUser(tx, callerOf("alice"), "bob");

  /** Runs a call while a transaction with a change is still open, and commits it once the call waits for it. */
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

  it.each([
    ["its removal", removing],
    ["its freeze", freezing],
  ])("%s submits nothing after it", async (_what, change) => {
    const id = await reserveOne("bob");
    expect(await during(change, () => submitOne("bob", id))).toBe("SIGN_REQUEST_NOT_FOUND");
    expect((await submitOne("alice", id)).status).toBe("queued");
  });

  it("its removal submits nothing after it, also while it waits for another lock", async () => {
    const id = await reserveOne("bob");
    const { outcome } = await db.transaction(async (tx) => {
      await tx.query("SELECT 1 FROM project_user WHERE project_id = $1 AND reference = 'alice' FOR UPDATE", [
        projectId,
      ]);
      const [self] = await tx.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
      const refusal = refusalOf(submitOne("bob", id));
      const waiting = "SELECT 1 FROM pg_stat_activity WHERE $1::int = ANY(pg_blocking_pids(pid))";
      await pollUntil(async () => (await db.query(waiting, [self!.pid])).length > 0);
      await db.transaction(removing);
      return { outcome: refusal };
    });
    expect(await outcome).toBe("SIGN_REQUEST_NOT_FOUND");
    expect((await submitOne("alice", id)).status).toBe("queued");
  });

  it("its removal reserves nothing after it", async () => {
    expect(await during(removing, () => reserveOne("bob"))).not.toBe("not refused");
    expect(await refusalOf(reserveOne("bob"))).toBe("DWALLET_NOT_FOUND");
  });
});
