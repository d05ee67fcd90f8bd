/** Shares of one dWallet that are made, accepted and removed at once, on a real PostgreSQL. */
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { removeHolder } from "../../src/service/onboarding/sharing/holders.ts";
import { shareDWallet } from "../../src/service/onboarding/sharing/share-dwallet.ts";
import { markAccepted } from "../../src/service/onboarding/sharing/share-state.ts";
import { createLocalSignals } from "../../src/service/platform/coordination/local-coordination.ts";
import { topics } from "../../src/service/platform/coordination/topics.ts";
import { systemClock } from "../../src/service/platform/lifecycle/clock.ts";
import type { Database, Queryable } from "../../src/service/platform/store/database.ts";
import { openRaceDatabase } from "../support/database/database.ts";
import { moneyOf, objectId, projectWith, TEST_ORIGIN } from "../support/database/rows.ts";
import { recipientOf, type Sharable, sharable, sharedWith } from "../support/database/shares.ts";
import { pollUntil } from "../support/poll-until.ts";
import { refusalOf } from "../support/service/service-client.ts";

const PRICE = 10n;
const CREDIT = 1_000n;
const AT_ONCE = 4;

const database = await openRaceDatabase({
  count: AT_ONCE + 2,
  because: "several calls, their operations and a look at the locks run at once",
});
afterAll(() => database?.close());

describe.skipIf(database === undefined)("a dWallet's shares", () => {
  const db = database!;
  const signals = createLocalSignals();
  signals.subscribe(topics.outbox("localnet"), () => void endAll());
  const deps = {
    database: db,
    signals,
    network: { name: "localnet", clock: systemClock },
    readerFor: () => ({ epoch: async () => ({ epoch: 5n }) }),
    dkgsPerDay: 100,
    usersMaxCount: 100,
    refundsPerDay: 1,
    sharePriceMicroUsd: PRICE,
  } as never;
  const time = () => ({ timeoutMs: 30_000, signal: new AbortController().signal });
  let projectId: string;
  let wallet: Sharable;
  const owner = () => ({ origin: TEST_ORIGIN, projectId, allowance: undefined }) as never;

  beforeEach(async () => {
    projectId = await projectWith(db, CREDIT);
    wallet = await sharable(db, projectId, { userReference: "alice" });
  });

  /** Ends every queued operation as the chain does. */
  async function endAll(): Promise<void> {
    const ended = await db.query<{ subjectId: string }>(
      `WITH ended AS (UPDATE chain_operation SET state = 'landed' WHERE state = 'queued' RETURNING subject_id)
       UPDATE dwallet_share s SET state = 'AwaitingNetworkVerification', object_id = '0x' || md5(s.id::text) || md5(s.id::text)
       FROM ended WHERE s.id = ended.subject_id RETURNING s.id AS "subjectId"`,
    );
    for (const { subjectId } of ended) signals.notify(topics.operation(subjectId));
  }

  const states = async () =>
    (
      await db.query<{ state: string }>(
        "SELECT state FROM dwallet_share WHERE dwallet_id = $1 ORDER BY state",
        [wallet.rowId],
      )
    ).map(({ state }) => state);

  it("are one share and one charge for several calls with one recipient", async () => {
    const bob = await recipientOf(db, projectId, "bob");
    const calls = Array.from({ length: AT_ONCE }, () =>
      shareDWallet(deps, owner(), wallet.request(bob) as never, time()),
    );
    const rows = await Promise.all(calls);
    expect(new Set(rows.map(({ id }) => id)).size).toBe(1);
    expect(await states()).toEqual(["AwaitingNetworkVerification"]);
    expect((await moneyOf(db, projectId)).balance).toBe(CREDIT - PRICE);
  });

  it("are never more than eight, and only those that are made are charged", async () => {
    for (let held = 0; held < 7; held++) await sharedWith(db, wallet, await recipientOf(db, projectId));
    const recipients = [];
    for (let one = 0; one < AT_ONCE; one++) recipients.push(await recipientOf(db, projectId));
    const outcomes = await Promise.all(
      recipients.map((recipient) =>
        refusalOf(shareDWallet(deps, owner(), wallet.request(recipient) as never, time())),
      ),
    );
    expect(outcomes.toSorted()).toEqual([
      ...Array.from({ length: AT_ONCE - 1 }, () => "TOO_MANY_HOLDERS"),
      "not refused",
    ]);
    expect(await states()).toHaveLength(8);
    expect((await moneyOf(db, projectId)).balance).toBe(CREDIT - PRICE);
  });

  describe("that are accepted and removed at once", () => {
    let rowId: string;
    let holderAddress: string;
    beforeEach(async () => {
      const bob = await recipientOf(db, projectId, "bob");
      holderAddress = bob.address;
      ({ rowId } = await sharedWith(db, wallet, bob, "AwaitingAcceptance"));
    });
    const removing = (tx: Queryable) => {
      const within = { transaction: async (work: (inner: Queryable) => Promise<unknown>) => await work(tx) };
      const request = { dwalletId: wallet.objectId, holderAddress } as never;
      return removeHolder({ database: { ...db, ...within } as Database }, owner(), request);
    };
    const accepting = (tx: Queryable) => markAccepted(tx, rowId, objectId());

    it.each([
      ["removed first", removing, (one: Database) => accepting(one), ["dwallet.holder_removed"]],
      [
        "accepted first",
        accepting,
        (one: Database) => one.transaction(removing),
        ["dwallet.shared", "dwallet.holder_removed"],
      ],
    ] as const)("let nobody sign: %s", async (_, first, second, kinds) => {
      const { done } = await db.transaction(async (tx) => {
        await first(tx);
        const [self] = await tx.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
        const done = second(db);
        const waiting = "SELECT 1 FROM pg_stat_activity WHERE $1::int = ANY(pg_blocking_pids(pid))";
        await pollUntil(async () => (await db.query(waiting, [self!.pid])).length > 0);
        return { done };
      });
      await done;
      expect(await states()).toEqual(["Removed"]);
      const [row] = await db.query<{ users: string[] }>(
        "SELECT holder_users AS users FROM dwallet WHERE id = $1",
        [wallet.rowId],
      );
      expect(row!.users).toEqual([]);
      const told = await db.query<{ kind: string }>(
        "SELECT kind FROM event WHERE project_id = $1 ORDER BY id",
        [projectId],
      );
      expect(told.map(({ kind }) => kind).toSorted()).toEqual([...kinds].toSorted());
    });
  });
});
