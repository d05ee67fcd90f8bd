/** Reservations and submissions of a project that share statements, on a real PostgreSQL. */
import { afterAll, describe, expect, it } from "vitest";
import { creditProject } from "../../src/service/ledger/credit-project.ts";
import { createLocalSignals } from "../../src/service/platform/coordination/local-coordination.ts";
import type { Idempotency } from "../../src/service/platform/idempotency/idempotency.ts";
import { newId, type Queryable } from "../../src/service/platform/store/database.ts";
import { readSignRequest } from "../../src/service/signing/sign-request.ts";
import { submit } from "../../src/service/signing/submit.ts";
import { takeReservation } from "../../src/service/signing/take-reservation.ts";
import { openRaceDatabase } from "../support/database/database.ts";
import {
  dwalletOf,
  keyed,
  moneyOf,
  projectWith,
  readyPresigns,
  TEST_ORIGIN,
  TEST_TRIPLE,
  type TestDWalletRow,
} from "../support/database/rows.ts";
import { pollUntil } from "../support/poll-until.ts";

const PRICE = 10n;
/** Finds the connections that wait for a lock of the connection $1. */
const WAITING = "SELECT 1 FROM pg_stat_activity WHERE $1::int = ANY(pg_blocking_pids(pid))";
const database = await openRaceDatabase({ count: 4, because: "statements of two projects run at once" });
afterAll(() => database?.close());

interface Wanted {
  readonly id?: string;
  readonly price?: bigint;
  readonly openMax?: number;
  readonly message?: string;
  readonly requestId?: string;
  readonly users?: string[];
  readonly idempotency?: Idempotency;
  readonly signal?: AbortSignal;
}

describe.skipIf(database === undefined)("calls of a project that arrive together", () => {
  const db = database!;
  const signals = createLocalSignals();

  async function take(on: Queryable, projectId: string, dwallet: TestDWalletRow, wanted: Wanted = {}) {
    const {
      id = newId(),
      price = PRICE,
      openMax = 100,
      message = "m",
      requestId,
      users,
      idempotency,
      signal,
    } = wanted;
    const outcome = await takeReservation(on, { actor: "key:one", requestId }, {
      ...{ ...dwallet.bucket, network: "localnet", curve: 0, signatureAlgorithm: 0, id, projectId },
      ...{ dwalletId: dwallet.rowId, hashScheme: TEST_TRIPLE.hashNumber, priceMicroUsd: price },
      ...{ message: new TextEncoder().encode(message), ttlMs: 60_000, openMaxCount: openMax },
      ...{ allowance: users && { id: newId(), userReferences: users, dwalletIds: undefined } },
      ...{ keyScope: projectId, idempotency, signal },
    } as Parameters<typeof takeReservation>[2]);
    return typeof outcome === "object" && "reserved" in outcome ? outcome.reserved.id : outcome;
  }

  const half = (number: number) => new Uint8Array(100 + number).fill(number);
  const send = async (on: Queryable, projectId: string, signRequestId: string, number: number) => {
    const caller = {
      projectId,
      network: "localnet",
      origin: { actor: "key:one", requestId: `call ${number}` },
    };
    const deps = { database: on, signals, checkHalf: async () => {} };
    const { status } = await submit(deps, caller, { signRequestId, userSignMessage: half(number) });
    return status;
  };

  async function started(credit: bigint, presignCount: number) {
    const projectId = await projectWith(db, credit);
    const dwallet = await dwalletOf(db, projectId);
    const presigns = await readyPresigns(db, dwallet.bucket, presignCount);
    return { projectId, dwallet, presigns };
  }

  it("are all reserved by one statement, each with its own message, origin, key and presign, in order", async () => {
    const { projectId, dwallet } = await started(100n * PRICE, 8);
    const on = counted(db);
    const ids = Array.from({ length: 8 }, newId);
    const taken = await Promise.all(
      ids.map((id, index) => {
        const own = {
          message: `message ${index}`,
          requestId: `call ${index}`,
          idempotency: keyed(`key ${index}`),
        };
        return take(on, projectId, dwallet, { id, ...own });
      }),
    );
    expect(taken).toEqual(ids);
    expect(on.statementCount).toBe(1);
    const rows = await db.query(
      `SELECT convert_from(r.message, 'UTF8') AS message, a.request_id AS call, k.key,
         row_number() OVER (ORDER BY r.presign_id) AS turn
       FROM sign_request r JOIN audit_event a ON a.subject = r.id::text AND a.action = 'sign.reserve'
       JOIN idempotency_key k ON k.subject_id = r.id WHERE r.project_id = $1 ORDER BY r.id`,
      [projectId],
    );
    expect(rows).toEqual(
      ids.map((_, index) => ({
        ...{
          message: `message ${index}`,
          call: `call ${index}`,
          key: `key ${index}`,
          turn: BigInt(index + 1),
        },
      })),
    );
    expect(await moneyOf(db, projectId)).toEqual({ balance: 1_000n, held: 80n, differences: [] });
  });

  it("are reserved in their order while credit, limit and presigns last, and the others are refused", async () => {
    const { projectId, dwallet } = await started(3n * PRICE, 8);
    const on = counted(db);
    const all = (wanted: Wanted) =>
      Promise.all(Array.from({ length: 5 }, () => take(on, projectId, dwallet, wanted)));
    const shown = (outcomes: readonly unknown[]) =>
      outcomes.map((outcome) =>
        typeof outcome === "string" && outcome.length === 36 ? "reserved" : outcome,
      );
    expect(shown(await all({ price: PRICE, openMax: 2 }))).toEqual([
      ...["reserved", "reserved"],
      ...Array(3).fill({ openMaxCount: 2 }),
    ]);
    expect(shown(await all({ price: PRICE }))).toEqual(["reserved", ...Array(4).fill("no-credit")]);
    // Two shared statements grant three, and each of the other seven is decided alone.
    expect(on.statementCount).toBe(9);
    const few = await started(100n * PRICE, 2);
    const outcomes = await Promise.all(Array.from({ length: 4 }, () => take(db, few.projectId, few.dwallet)));
    expect(shown(outcomes)).toEqual(["reserved", "reserved", "no-presign", "no-presign"]);
    expect(await moneyOf(db, few.projectId)).toMatchObject({ held: 2n * PRICE, differences: [] });
  });

  it("are judged alone: none is refused for a neighbour that is refused", async () => {
    const { projectId, dwallet } = await started(3n * PRICE, 8);
    const ofAnn = await dwalletOf(db, projectId, { userReference: "ann", ...dwallet.bucket });
    const frozen = await dwalletOf(db, projectId, { userReference: "ben" });
    await readyPresigns(db, frozen.bucket, 1);
    await db.query("UPDATE project_user SET frozen_at = now() WHERE project_id = $1 AND reference = 'ben'", [
      projectId,
    ]);
    const inBucket = (other: TestDWalletRow) => ({ ...other, bucket: dwallet.bucket });
    const outcomes = await Promise.all([
      take(db, projectId, dwallet, { price: 100n * PRICE }),
      take(db, projectId, dwallet, { id: NAMED[0]! }),
      take(db, projectId, inBucket(frozen)),
      take(db, projectId, inBucket(ofAnn), { users: ["ben"] }),
      take(db, projectId, inBucket(ofAnn), { users: ["ann"], id: NAMED[1]! }),
      take(db, projectId, { ...dwallet, rowId: newId() }),
      take(db, projectId, dwallet, { id: NAMED[2]!, idempotency: keyed("one") }),
      take(db, projectId, dwallet, { idempotency: keyed("one") }),
    ]);
    expect(outcomes).toEqual([
      ...["no-credit", NAMED[0], "frozen", "not-active", NAMED[1], "not-active", NAMED[2], "no-credit"],
    ]);
    expect(await moneyOf(db, projectId)).toEqual({ balance: 30n, held: 30n, differences: [] });
  });

  it("with one key are reserved once, and delay no neighbour", async () => {
    const { projectId, dwallet } = await started(100n * PRICE, 8);
    const on = counted(db);
    const [first, second, other] = await Promise.all([
      take(on, projectId, dwallet, { idempotency: keyed("one") }),
      take(on, projectId, dwallet, { idempotency: keyed("one") }),
      take(on, projectId, dwallet, { idempotency: keyed("other") }),
    ]);
    expect([first, second, other]).toEqual([expect.any(String), "no-presign", expect.any(String)]);
    expect(on.statementCount).toBe(2);
    expect(await moneyOf(db, projectId)).toMatchObject({ held: 2n * PRICE, differences: [] });
  });

  it("do not wait for a locked row of another project", async () => {
    const held = await started(PRICE, 2);
    const projectId = await projectWith(db, PRICE);
    const free = { projectId, dwallet: await dwalletOf(db, projectId, held.dwallet.bucket) };
    const waiting = await db.transaction(async (tx) => {
      await tx.query("SELECT 1 FROM project WHERE id = $1 FOR UPDATE", [held.projectId]);
      const first = take(db, held.projectId, held.dwallet);
      expect(await take(db, free.projectId, free.dwallet)).toHaveLength(36);
      return { first };
    });
    expect(await waiting.first).toHaveLength(36);
  });

  it("are paid from credit that arrives while their statement waits, and leave no key without a request", async () => {
    const { projectId, dwallet } = await started(PRICE, 3);
    const on = counted(db);
    const ids = Array.from({ length: 3 }, newId);
    const taking = await db.transaction(async (tx) => {
      const credit = { projectId, amountMicroUsd: 2n * PRICE, reference: newId(), description: "late" };
      await creditProject(tx, TEST_ORIGIN, credit);
      const [self] = await tx.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
      const taken = Promise.all(
        ids.map((id, index) => take(on, projectId, dwallet, { id, idempotency: keyed(`key ${index}`) })),
      );
      await pollUntil(async () => (await db.query(WAITING, [self!.pid])).length > 0);
      return { taken };
    });
    expect(await taking.taken).toEqual(ids);
    // The first had its price before, and each of the others is decided alone.
    expect(on.statementCount).toBe(3);
    const keys = await db.query<{ id: string }>(
      "SELECT subject_id AS id FROM idempotency_key WHERE scope = $1 ORDER BY key",
      [projectId],
    );
    expect(keys.map(({ id }) => id)).toEqual(ids);
    expect(await moneyOf(db, projectId)).toEqual({ balance: 30n, held: 30n, differences: [] });
  });

  it("reserve nothing for a caller that has left before their statement began", async () => {
    const { projectId, dwallet } = await started(100n * PRICE, 3);
    const on = counted(db);
    const leaving = new AbortController();
    const taking = await db.transaction(async (tx) => {
      await tx.query("SELECT 1 FROM project WHERE id = $1 FOR UPDATE", [projectId]);
      const [self] = await tx.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
      const first = take(on, projectId, dwallet);
      await pollUntil(async () => (await db.query(WAITING, [self!.pid])).length > 0);
      const later = [leaving.signal, undefined].map((signal) =>
        take(on, projectId, dwallet, signal && { signal }),
      );
      leaving.abort(new Error("the caller has left"));
      return { ends: Promise.allSettled([first, ...later]) };
    });
    const ends = (await taking.ends).map((end) =>
      end.status === "fulfilled" ? "reserved" : String(end.reason),
    );
    expect(ends).toEqual(["reserved", "Error: the caller has left", "reserved"]);
    expect(on.statementCount).toBe(2);
    expect(await moneyOf(db, projectId)).toMatchObject({ held: 2n * PRICE, differences: [] });
  });

  it("read no dWallets but their own, however many more the project has than others", async () => {
    const { projectId, dwallet } = await started(PRICE, 1);
    const others = await Promise.all(Array.from({ length: 20 }, () => projectWith(db, 0n)));
    await db.query(
      `INSERT INTO dwallet
       SELECT (jsonb_populate_record(d, jsonb_build_object('id', gen_random_uuid(), 'object_id', gen_random_uuid(),
         'session_identifier', '\\x' || md5(gen_random_uuid()::text),
         'project_id', CASE WHEN n <= 5000 THEN d.project_id ELSE ($2::uuid[])[1 + n % 20] END))).*
       FROM dwallet d, generate_series(1, 5040) n WHERE d.id = $1`,
      [dwallet.rowId, others],
    );
    await db.query("ANALYZE dwallet");
    const [read] = await db.transaction(async (tx) => {
      // The plan of a prepared statement, which knows the average project only.
      await tx.query("SET LOCAL plan_cache_mode = force_generic_plan");
      expect(await take(tx, projectId, dwallet)).toHaveLength(36);
      return tx.query<{ rows: bigint }>(
        "SELECT seq_tup_read + idx_tup_fetch AS rows FROM pg_stat_xact_user_tables WHERE relname = 'dwallet'",
      );
    });
    expect(read!.rows).toBeLessThan(10n);
  });

  it("are queued and charged by one statement, each with its own half and origin, and once", async () => {
    const { projectId, dwallet } = await started(100n * PRICE, 6);
    const ids: string[] = [];
    for (let count = 0; count < 6; count++) ids.push(String(await take(db, projectId, dwallet)));
    const [expired = "", ...others] = ids;
    await db.query("UPDATE sign_request SET expires_at = now() WHERE id = $1", [expired]);
    const on = counted(db);
    const results = await Promise.allSettled([
      ...[expired, ...others].map((id, index) => send(on, projectId, id, index)),
      send(on, projectId, others[0]!, 9),
    ]);
    expect(results.map((end) => (end.status === "fulfilled" ? end.value : "refused"))).toEqual([
      ...["refused", ...Array(6).fill("queued")],
    ]);
    const rows = await db.query<{ half: Uint8Array }>(
      `SELECT r.user_sign_message AS half, a.request_id AS call, o.state
       FROM sign_request r JOIN audit_event a ON a.subject = r.id::text AND a.action = 'sign.submit'
       JOIN chain_operation o ON o.subject_id = r.id WHERE r.project_id = $1 ORDER BY r.id`,
      [projectId],
    );
    expect(rows.map((row) => ({ ...row, half: [...row.half] }))).toEqual(
      others.map((_, index) => ({ half: [...half(index + 1)], call: `call ${index + 1}`, state: "queued" })),
    );
    // One reads the requests, one queues them, and one reads the repeated one.
    expect(on.statementCount).toBe(3);
    expect(await moneyOf(db, projectId)).toEqual({ balance: 950n, held: 10n, differences: [] });
    expect(await readSignRequest(db, { id: expired })).toMatchObject({ status: "prepared" });
  });
});

const NAMED = Array.from({ length: 3 }, newId);

/** A handle whose calls share nothing with those of another one. */
function counted(db: Queryable) {
  const handle = {
    statementCount: 0,
    query<Row>(statement: string, parameters?: readonly unknown[]): Promise<Row[]> {
      handle.statementCount++;
      return db.query<Row>(statement, parameters);
    },
  };
  return handle;
}
