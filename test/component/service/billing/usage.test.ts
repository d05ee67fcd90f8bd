import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import sql from "sql-template-tag";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Billing, GetUsageRequest_Step as Step } from "../../../../gen/proto/tss/v1/billing_pb.ts";
import { createBillingService } from "../../../../src/service/billing/billing-service.ts";
import { postings } from "../../../../src/service/ledger/postings.ts";
import { chargeDkg } from "../../../../src/service/onboarding/create-dwallet.ts";
import { createLocalSignals } from "../../../../src/service/platform/coordination/local-coordination.ts";
import { systemClock } from "../../../../src/service/platform/lifecycle/clock.ts";
import { type Database, execute, newId } from "../../../../src/service/platform/store/database.ts";
import { sealToken } from "../../../../src/service/platform/store/read-page.ts";
import { signSteps } from "../../../support/crypto/sign-steps.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { flatPrices } from "../../../support/database/prices.ts";
import { dwalletOf, projectWith, readyPresigns, TEST_ORIGIN } from "../../../support/database/rows.ts";
import { clientOf, refusalOf } from "../../../support/service/service-client.ts";

let database: Database;
let projectId: string;
let billing: ReturnType<typeof clientOf<typeof Billing>>;

beforeAll(async () => {
  database = await openTestDatabase();
  billing = clientOf(
    Billing,
    createBillingService({
      database,
      signals: createLocalSignals(),
      clock: systemClock,
      prices: flatPrices(10n),
    }),
    () => ({
      kind: "project",
      projectId,
      apiKeyId: "key",
      network: "localnet",
      scopes: [],
      origin: TEST_ORIGIN,
    }),
  );
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(async () => {
  projectId = await projectWith(database, 1_000n);
});

/** Two signatures, of which one is refunded, at the price of 10. */
async function signTwice(userReference?: string): Promise<void> {
  const steps = signSteps(database, createLocalSignals());
  const dwallet = await dwalletOf(database, projectId, userReference === undefined ? {} : { userReference });
  await readyPresigns(database, dwallet.bucket, 2);
  const [first, second] = [await steps.reserve(projectId, dwallet), await steps.reserve(projectId, dwallet)];
  await steps.submit(projectId, first);
  await steps.submit(projectId, second);
  await steps.refuse(second);
}

/** Books an entry at a time in the past. */
const book = (kind: string, amount: number, at: string) =>
  database.query(
    `INSERT INTO ledger_entry (project_id, kind, amount_micro_usd, key, description, created_at)
     VALUES ($1, $2, $3, gen_random_uuid()::text, 'test', $4)`,
    [projectId, kind, amount, at],
  );

const from = (time: string) => timestampFromDate(new Date(time));

it("usage equals the sum of what the project's calls booked", async () => {
  await signTwice();
  const dwallet = await dwalletOf(database, projectId);
  const dkg = { dwalletId: dwallet.rowId, operationId: newId(), priority: 0, traceParent: undefined };
  await chargeDkg(database, { ...dkg, projectId, network: "localnet", priceMicroUsd: 25n });
  const { total, steps } = await billing.getUsage({ step: Step.hour });
  expect(total).toMatchObject({
    signCount: 2n,
    signRefundCount: 1n,
    dwalletCount: 1n,
    dwalletRefundCount: 0n,
    chargedMicroUsd: 35n,
    depositCount: 0n,
    depositedMicroUsd: 0n,
    adjustedMicroUsd: 1_000n,
  });
  expect(steps.reduce((sum, { usage }) => sum + usage!.chargedMicroUsd, 0n)).toBe(35n);
});

it("a user's usage equals what was booked for the user's dWallets, with refunds, and nothing else", async () => {
  const usageOf = async (userReference: string) =>
    (await billing.getUsage({ step: Step.hour, userReference })).total;
  await signTwice("alice");
  await signTwice("bob");
  await signTwice();
  const dwallet = await dwalletOf(database, projectId, { userReference: "alice" });
  const dkg = { dwalletId: dwallet.rowId, operationId: newId(), priority: 0, traceParent: undefined };
  await chargeDkg(database, { ...dkg, projectId, network: "localnet", priceMicroUsd: 25n });
  const refused = await dwalletOf(database, projectId, { userReference: "alice" });
  const failed = { ...dkg, dwalletId: refused.rowId, operationId: newId() };
  await chargeDkg(database, { ...failed, projectId, network: "localnet", priceMicroUsd: 25n });
  const source = sql`SELECT ${refused.rowId}::uuid AS id, ${projectId}::uuid AS project_id,
    25::bigint AS price_micro_usd, NULL::int AS refunds_per_day`;
  await execute(
    database,
    sql`WITH s AS (${source}), ${postings.refund(sql`s`, "dkg")} SELECT id FROM posting_refund`,
  );
  await book("sign", -7, new Date().toISOString());
  expect(await usageOf("alice")).toMatchObject({
    ...{ signCount: 2n, signRefundCount: 1n, dwalletCount: 2n, dwalletRefundCount: 1n, chargedMicroUsd: 35n },
    ...{ depositCount: 0n, depositedMicroUsd: 0n, adjustedMicroUsd: 0n },
  });
  expect(await usageOf("bob")).toMatchObject({ signCount: 2n, dwalletCount: 0n, chargedMicroUsd: 10n });
  expect(await usageOf("carl")).toMatchObject({ signCount: 0n, chargedMicroUsd: 0n });
  const { total } = await billing.getUsage({ step: Step.hour });
  expect(total).toMatchObject({ signCount: 7n, chargedMicroUsd: 62n });
  // Another project has a user of the same name.
  projectId = await projectWith(database, 0n);
  expect(await usageOf("alice")).toMatchObject({ signCount: 0n, chargedMicroUsd: 0n });
});

it("each booking is in the hour, or the day, in which it was made", async () => {
  await book("sign", -10, "2026-03-01T23:59:59.999Z");
  await book("sign", -20, "2026-03-02T00:00:00Z");
  await book("refund", 20, "2026-03-02T05:00:00Z");
  await book("deposit", 500, "2026-03-02T05:59:00Z");
  const window = { startTime: from("2026-03-01T00:00:00Z"), endTime: from("2026-03-03T00:00:00Z") };
  const charged = async (step: Step) =>
    (await billing.getUsage({ ...window, step })).steps.map(({ startTime, usage }) => [
      timestampDate(startTime!).toISOString(),
      usage!.chargedMicroUsd,
      usage!.depositedMicroUsd,
    ]);
  expect(await charged(Step.hour)).toEqual([
    ["2026-03-01T23:00:00.000Z", 10n, 0n],
    ["2026-03-02T00:00:00.000Z", 20n, 0n],
    ["2026-03-02T05:00:00.000Z", -20n, 500n],
  ]);
  expect(await charged(Step.day)).toEqual([
    ["2026-03-01T00:00:00.000Z", 10n, 0n],
    ["2026-03-02T00:00:00.000Z", 0n, 500n],
  ]);
});

it("another project's bookings are not shown", async () => {
  await signTwice();
  projectId = await projectWith(database, 0n);
  const { total, steps } = await billing.getUsage({});
  expect(total).toMatchObject({ signCount: 0n, chargedMicroUsd: 0n, adjustedMicroUsd: 0n });
  expect(steps).toEqual([]);
});

it("the hours add up to the ledger, even if one statement books several entries", async () => {
  await signTwice();
  await database.query(
    `INSERT INTO ledger_entry (project_id, kind, amount_micro_usd, key, description)
     SELECT $1::uuid, 'credit', n, 'credit:many-' || n || $1::uuid, 'test' FROM generate_series(1, 5) n`,
    [projectId],
  );
  const sumOf = (table: string, count: string) =>
    database.query(
      `SELECT kind, sum(amount_micro_usd)::bigint AS amount, ${count}::bigint AS count FROM ${table}
       WHERE project_id = $1 GROUP BY kind ORDER BY kind`,
      [projectId],
    );
  expect(await sumOf("ledger_hour", "sum(entry_count)")).toEqual(await sumOf("ledger_entry", "count(*)"));
});

it("a rolled-back booking does not count in its hour", async () => {
  const rolledBack = database.transaction(async (db) => {
    await db.query(
      `INSERT INTO ledger_entry (project_id, kind, amount_micro_usd, key, description)
       VALUES ($1, 'credit', 7, 'credit:undone', 'test')`,
      [projectId],
    );
    throw new Error("undo");
  });
  await expect(rolledBack).rejects.toThrow("undo");
  expect((await billing.getUsage({})).total!.adjustedMicroUsd).toBe(1_000n);
});

it("a window that is too long is refused", async () => {
  const window = { startTime: from("2026-01-01T00:00:00Z"), endTime: from("2026-11-01T00:00:00Z") };
  expect(await refusalOf(billing.getUsage({ ...window, step: Step.day }))).toBe("VALIDATION");
});

describe("a list of users", () => {
  const usersOf = async (request: Parameters<typeof billing.listUserUsage>[0] = {}) => {
    const { users, nextPageToken } = await billing.listUserUsage(request);
    return { users: users.map(({ userReference }) => userReference), nextPageToken };
  };
  /** Adds up an hour of a user, in the past. */
  const spend = (user: string, amountMicroUsd: number, hour: string) =>
    database.query(
      `INSERT INTO ledger_user_hour (project_id, user_reference, hour, kind, entry_count, amount_micro_usd)
       VALUES ($1, $2, $3, 'sign', 1, $4)`,
      [projectId, user, hour, -amountMicroUsd],
    );

  it("has what each user was charged and refunded, the highest spending first, and nothing of another project", async () => {
    await signTwice("alice");
    await signTwice("bob");
    await signTwice();
    const dwallet = await dwalletOf(database, projectId, { userReference: "bob" });
    const dkg = { dwalletId: dwallet.rowId, operationId: newId(), priority: 0, traceParent: undefined };
    await chargeDkg(database, { ...dkg, projectId, network: "localnet", priceMicroUsd: 25n });
    const { users, nextPageToken } = await billing.listUserUsage({});
    const signed = { signCount: 2n, shareCount: 0n, refundCount: 1n };
    expect(users).toMatchObject([
      { userReference: "bob", ...signed, dwalletCount: 1n, chargedMicroUsd: 35n },
      { userReference: "alice", ...signed, dwalletCount: 0n, chargedMicroUsd: 10n },
    ]);
    expect(nextPageToken).toBe("");
    projectId = await projectWith(database, 0n);
    expect(await usersOf()).toMatchObject({ users: [] });
  });

  it("counts the hours of its window alone, which are whole", async () => {
    await spend("before", 1, "2026-03-01T09:00:00Z");
    await spend("first", 2, "2026-03-01T10:00:00Z");
    await spend("last", 3, "2026-03-01T11:00:00Z");
    await spend("after", 4, "2026-03-01T12:00:00Z");
    const window = { startTime: from("2026-03-01T10:30:00Z"), endTime: from("2026-03-01T11:30:00Z") };
    expect(await usersOf(window)).toMatchObject({ users: ["last", "first"] });
    expect(await billing.listUserUsage(window)).toMatchObject({
      startTime: from("2026-03-01T10:00:00Z"),
      endTime: from("2026-03-01T12:00:00Z"),
    });
  });

  it("neither repeats nor skips users of the same spending, and keeps the window of its first page", async () => {
    const spending = { "a:b": 5, b: 5, c: 5, top: 9, refunded: -2 };
    for (const [user, amount] of Object.entries(spending)) await spend(user, amount, "2026-03-01T10:00:00Z");
    await spend("later", 100, "2026-03-01T11:00:00Z");
    const window = { startTime: from("2026-03-01T10:00:00Z"), endTime: from("2026-03-01T11:00:00Z") };
    const seen: string[] = [];
    let page = await usersOf({ ...window, pageSize: 2 });
    for (; page.nextPageToken !== ""; page = await usersOf({ pageSize: 2, pageToken: page.nextPageToken }))
      seen.push(...page.users);
    expect([...seen, ...page.users]).toEqual(["top", "a:b", "b", "c", "refunded"]);
  });

  it("has at most 100 users on a page", async () => {
    await database.query(
      `INSERT INTO ledger_user_hour (project_id, user_reference, hour, kind, entry_count, amount_micro_usd)
       SELECT $1, 'user-' || n, date_trunc('hour', now()), 'sign', 1, -n FROM generate_series(1, 101) n`,
      [projectId],
    );
    const { users, nextPageToken } = await usersOf({ pageSize: 200 });
    expect(users).toHaveLength(100);
    expect(await usersOf({ pageToken: nextPageToken })).toEqual({ users: ["user-1"], nextPageToken: "" });
    expect((await usersOf()).users).toHaveLength(50);
  });

  it("refuses a window that is empty or too long, also in a token, and the token of another project", async () => {
    for (const window of [
      { startTime: from("2026-01-01T00:00:00Z"), endTime: from("2026-02-02T00:00:00Z") },
      { startTime: from("2026-01-02T00:00:00Z"), endTime: from("2026-01-01T00:00:00Z") },
    ])
      expect(await refusalOf(billing.listUserUsage(window))).toBe("VALIDATION");
    const forged = sealToken(["user_usage", projectId], `0:${Date.now()}:1:user`);
    expect(await refusalOf(billing.listUserUsage({ pageToken: forged }))).toBe("VALIDATION");
    await spend("one", 1, new Date().toISOString().replace(/:.*/, ":00:00Z"));
    await spend("two", 1, new Date().toISOString().replace(/:.*/, ":00:00Z"));
    const { nextPageToken: pageToken } = await usersOf({ pageSize: 1 });
    projectId = await projectWith(database, 0n);
    expect(await refusalOf(billing.listUserUsage({ pageToken }))).toBe("VALIDATION");
  });
});
