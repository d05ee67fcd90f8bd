import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { emptyTransactions } from "../../../../src/service/chain/submit/outbox.ts";
import { verifyLedger } from "../../../../src/service/ledger/verify-ledger.ts";
import { createSharedMetrics } from "../../../../src/service/operator/metrics/shared-figures.ts";
import { createLocalSignals } from "../../../../src/service/platform/coordination/local-coordination.ts";
import { systemClock } from "../../../../src/service/platform/lifecycle/clock.ts";
import type { Database } from "../../../../src/service/platform/store/database.ts";
import { createMetrics } from "../../../../src/service/platform/telemetry/metrics.ts";
import {
  createRetentionLoop,
  deleteLapsedReservations,
  emptyRequests,
  RETENTION_BATCH_COUNT,
} from "../../../../src/service/signing/loops/retention-loop.ts";
import { signSteps } from "../../../support/crypto/sign-steps.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { ageRequest, endOperation, oldTransaction } from "../../../support/database/retention-rows.ts";
import {
  dwalletOf,
  moneyOf,
  projectWith,
  readyPresigns,
  type TestDWalletRow,
} from "../../../support/database/rows.ts";
import { createPauseClock } from "../../../support/pause-clock.ts";
import { silentLog } from "../../../support/silent-log.ts";

const DAYS = 30;
let database: Database;
let steps: ReturnType<typeof signSteps>;
let projectId: string;
let dwallet: TestDWalletRow;

beforeAll(async () => {
  database = await openTestDatabase();
  steps = signSteps(database, createLocalSignals());
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(async () => {
  projectId = await projectWith(database, 1_000n);
  dwallet = await dwalletOf(database, projectId);
  await readyPresigns(database, dwallet.bucket, 10);
});

it("a request that completed or failed long ago loses only the user's half", async () => {
  const [completed, rejected] = [await completedOne(), await rejectedOne()];
  const before = await requestRows(completed, rejected);
  expect(await emptyRequests(database, DAYS, 10)).toBe(2);
  const after = await requestRows(completed, rejected);
  expect(after).toEqual(before.map((row) => ({ ...row, user_sign_message: new Uint8Array() })));
  expect(await emptyRequests(database, DAYS, 10)).toBe(0);
  expect((await moneyOf(database, projectId)).differences).toEqual([]);
});

it("a statement that fails does not keep the others from running", async () => {
  const asked: string[] = [];
  const failing: Pick<Database, "query"> = {
    async query(db) {
      asked.push(/UPDATE (\w+)|DELETE/.exec(db)?.[0] ?? db);
      throw new Error("not now");
    },
  };
  const failed = new Promise<void>((resolve) => {
    const log = { ...silentLog, error: () => resolve(loop.stop()) };
    const loop = createRetentionLoop({ clock: systemClock, database: failing, retentionDays: DAYS, log });
    loop.start();
  });
  await failed;
  expect(asked).toEqual(["UPDATE sign_request", "UPDATE chain_transaction", "DELETE"]);
});

it("a repeat of SubmitSign after that returns the request as it is, and charges nothing", async () => {
  const id = await completedOne();
  await emptyRequests(database, DAYS, 10);
  const money = await moneyOf(database, projectId);
  expect(await steps.submit(projectId, id)).toMatchObject({ id, status: "completed" });
  expect(await moneyOf(database, projectId)).toEqual(money);
});

it("an open request keeps the half, however old it is", async () => {
  const queued = await submittedOne();
  const landed = await submittedOne();
  await steps.land(landed);
  await endOperation(database, landed);
  for (const id of [queued, landed]) await ageRequest(database, id, 1_000);
  expect(await emptyRequests(database, DAYS, 10)).toBe(0);
});

it("a request keeps the half while its operation waits or was sent", async () => {
  const id = await completedOne();
  for (const state of ["queued", "sent"]) {
    await endOperation(database, id, state);
    expect(await emptyRequests(database, DAYS, 10)).toBe(0);
  }
  await endOperation(database, id, "failed");
  expect(await emptyRequests(database, DAYS, 10)).toBe(1);
});

it("rows that ended more recently stay", async () => {
  const id = await completedOne(29);
  const lapsed = await expiredOne(29);
  await oldTransaction(database, { days: 29 });
  expect(await emptyRequests(database, DAYS, 10)).toBe(0);
  expect(await deleteLapsedReservations(database, DAYS, 10)).toBe(0);
  expect(await emptyTransactions(database, DAYS, 10)).toBe(0);
  for (const one of [id, lapsed]) await ageRequest(database, one, 2);
  expect(await emptyRequests(database, DAYS, 10)).toBe(1);
  expect(await deleteLapsedReservations(database, DAYS, 10)).toBe(1);
  await database.query("UPDATE chain_transaction SET resolved_at = resolved_at - interval '2 days'");
  expect(await emptyTransactions(database, DAYS, 10)).toBe(1);
});

it("a resolved transaction loses only its bytes and signatures, and an unresolved one loses nothing", async () => {
  const resolved = [];
  for (const state of ["landed", "aborted", "dropped"])
    resolved.push(await oldTransaction(database, { state }));
  const stored = await oldTransaction(database, { state: "stored", days: 1_000 });
  const before = await transactionRows(...resolved, stored);
  expect(await emptyTransactions(database, DAYS, 10)).toBe(3);
  expect(await transactionRows(...resolved, stored)).toEqual(
    before.map((row) =>
      row["digest"] === stored ? row : { ...row, bytes: new Uint8Array(), signatures: [] },
    ),
  );
  await database.query("DELETE FROM chain_transaction WHERE digest = $1", [stored]);
});

it("a reservation that expired long ago is deleted, and the ledger and the audit trail stay the same", async () => {
  const id = await expiredOne();
  const [audited, money] = [await auditOf(id), await moneyOf(database, projectId)];
  const charged = await rejectedOne();
  expect(await deleteLapsedReservations(database, DAYS, 10)).toBe(1);
  expect(await requestRows(id, charged)).toMatchObject([{ id: charged }]);
  expect(await auditOf(id)).toEqual(audited);
  expect(audited).toEqual(["sign.reserve", "sign.expire"]);
  expect(money.differences).toEqual([]);
  expect(await verifyLedger(database)).toEqual([]);
});

it("a pass deletes at most one batch of each kind, counts it, and leaves the rest to the next pass", async () => {
  await database.query(
    `INSERT INTO chain_transaction (digest, network, sender, lane, bytes, state, resolved_at)
     SELECT 'many' || n, 'localnet', 'sender', 'lane', '\\x01', 'landed', now() - interval '31 days'
     FROM generate_series(0, $1::int) AS n`,
    [RETENTION_BATCH_COUNT],
  );
  const metrics = createMetrics();
  const counted: [string, number][] = [];
  const { onRetained } = createSharedMetrics(metrics);
  await new Promise<void>((resolve) => {
    const loop = createRetentionLoop({
      clock: systemClock,
      database,
      retentionDays: DAYS,
      log: silentLog,
      intervalMs: 1,
      onRetained(what, count) {
        if (what !== "chain_transaction") return;
        counted.push([what, count]);
        onRetained(what, count);
        if (counted.length === 2) resolve(loop.stop());
      },
    });
    loop.start();
  });
  expect(counted).toEqual([
    ["chain_transaction", RETENTION_BATCH_COUNT],
    ["chain_transaction", 1],
  ]);
  const { body } = await metrics.render();
  metrics.close();
  expect(body).toContain(
    `service_retention_rows_total{what="chain_transaction"} ${RETENTION_BATCH_COUNT + 1}`,
  );
  expect(body).toContain('service_retention_rows_total{what="user_sign_message"} 0');
});

it("nothing is deleted if rows are kept forever", async () => {
  await completedOne();
  let asked = 0;
  const counting = {
    async query() {
      asked++;
      return [];
    },
  } as unknown as Database;
  const clock = createPauseClock();
  const loop = createRetentionLoop({ clock, database: counting, retentionDays: 0, log: silentLog });
  loop.start();
  expect(await clock.paused()).toBe(60_000);
  await loop.stop();
  expect(asked).toBe(0);
  const keeping = createRetentionLoop({
    clock: systemClock,
    database: counting,
    retentionDays: 1,
    log: silentLog,
  });
  keeping.start();
  await keeping.stop();
  expect(asked).toBeGreaterThan(0);
});

it("the oldest rows go first", async () => {
  const [newer, older] = [await completedOne(31), await completedOne(40)];
  // An index would return them in this order, too.
  for (const way of ["indexscan", "bitmapscan"]) await database.query(`SET enable_${way} = off`);
  expect(await emptyRequests(database, DAYS, 1)).toBe(1);
  const halves = await database.query<{ id: string; size: number }>(
    `SELECT id, octet_length(user_sign_message) AS size FROM sign_request WHERE id = ANY($1::uuid[])`,
    [[newer, older]],
  );
  expect(halves.find(({ size }) => size === 0)?.id).toBe(older);
  const [later, earlier] = [await expiredOne(31), await expiredOne(40)];
  expect(await deleteLapsedReservations(database, DAYS, 1)).toBe(1);
  for (const way of ["indexscan", "bitmapscan"]) await database.query(`RESET enable_${way}`);
  expect(await requestRows(later, earlier)).toMatchObject([{ id: later }]);
});

it("a pass that removed rows is followed by another soon, and one that found none by a minute's rest", async () => {
  // The rows of other tests.
  await emptyRequests(database, DAYS, 100);
  await deleteLapsedReservations(database, DAYS, 100);
  await completedOne();
  const clock = createPauseClock();
  const retained: unknown[] = [];
  const loop = createRetentionLoop({
    ...{ clock, database, retentionDays: DAYS, log: silentLog },
    onRetained: (...kindAndCount) => retained.push(kindAndCount),
  });
  loop.start();
  expect(await clock.paused()).toBe(1_000);
  clock.elapse();
  expect(await clock.paused()).toBe(60_000);
  await loop.stop();
  expect(retained).toEqual([["user_sign_message", 1]]);
});

it("a loop that stops during a statement begins no other", async () => {
  let asked = 0;
  const stopping: Pick<Database, "query"> = {
    async query() {
      asked++;
      void loop.stop();
      return [];
    },
  };
  const clock = createPauseClock();
  const loop = createRetentionLoop({ clock, database: stopping, retentionDays: DAYS, log: silentLog });
  loop.start();
  await loop.stop();
  expect(asked).toBe(1);
});

async function submittedOne(): Promise<string> {
  const id = await steps.reserve(projectId, dwallet);
  await steps.submit(projectId, id);
  return id;
}

async function completedOne(days = 31): Promise<string> {
  const id = await submittedOne();
  await steps.land(id);
  await steps.complete(id, dwallet);
  await endOperation(database, id);
  await ageRequest(database, id, days);
  return id;
}

async function rejectedOne(): Promise<string> {
  const id = await submittedOne();
  await steps.land(id);
  await steps.reject(id);
  await endOperation(database, id);
  await ageRequest(database, id, 31);
  return id;
}

async function expiredOne(days = 31): Promise<string> {
  const id = await steps.reserve(projectId, dwallet);
  await steps.expire(id);
  await ageRequest(database, id, days);
  return id;
}

function requestRows(...ids: string[]) {
  return database.query<Record<string, unknown>>(
    "SELECT * FROM sign_request WHERE id = ANY($1::uuid[]) ORDER BY id",
    [ids],
  );
}

function transactionRows(...digests: string[]) {
  return database.query<Record<string, unknown>>(
    "SELECT * FROM chain_transaction WHERE digest = ANY($1::text[]) ORDER BY digest",
    [digests],
  );
}

async function auditOf(id: string): Promise<string[]> {
  const rows = await database.query<{ action: string }>(
    "SELECT action FROM audit_event WHERE subject = $1 ORDER BY id",
    [id],
  );
  return rows.map(({ action }) => action);
}
