/** Events that warn a project: low credit, a refusing budget, an expiring key. Each is told once. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Allowance } from "../../../../src/service/access/allowances/allowance.ts";
import { insertAllowance } from "../../../../src/service/access/allowances/allowances.ts";
import { REFUSALS_TOLD_PER_DAY } from "../../../../src/service/access/allowances/budget-refusals.ts";
import { insertApiKey, rotateApiKey } from "../../../../src/service/access/keys/api-keys.ts";
import { readEvents } from "../../../../src/service/events/read-events.ts";
import { tellExpiringKeys } from "../../../../src/service/events/tell-expiring-keys.ts";
import { creditProject } from "../../../../src/service/ledger/credit-project.ts";
import { setLowBalance } from "../../../../src/service/ledger/project-warnings.ts";
import { createDWallet } from "../../../../src/service/onboarding/create-dwallet.ts";
import { createLocalSignals } from "../../../../src/service/platform/coordination/local-coordination.ts";
import { type Database, newId } from "../../../../src/service/platform/store/database.ts";
import { signSteps } from "../../../support/crypto/sign-steps.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import {
  dwalletOf,
  projectWith,
  readyPresigns,
  TEST_OPERATOR,
  TEST_ORIGIN,
} from "../../../support/database/rows.ts";
import { onboardingCalls } from "../../../support/service/onboarding-calls.ts";

const signals = createLocalSignals();
let database: Database;
let projectId: string;

beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(async () => {
  projectId = await projectWith(database, 1_000n);
});

/** The events of the project, as consumers see them. */
async function events() {
  const page = await readEvents(database, { projectId, after: undefined, kinds: undefined, count: 200 });
  return page.events.map(({ kind, subject, userReference, data }) => ({
    ...{ kind, subject, userReference },
    data: JSON.parse(data) as Record<string, string>,
  }));
}

describe("balance.low", () => {
  const low = (balance: bigint, threshold: bigint) => ({
    ...{ kind: "balance.low", subject: projectId, userReference: null },
    data: { balance_micro_usd: String(balance), low_balance_micro_usd: String(threshold) },
  });
  const setLow = (threshold?: bigint) =>
    setLowBalance(database, { projectId, origin: TEST_ORIGIN }, threshold);
  const move = (amountMicroUsd: bigint) =>
    creditProject(database, TEST_ORIGIN, {
      ...{ projectId, amountMicroUsd, reference: newId(), description: "test" },
    });

  it("is told by the charge that lowers the balance, and not before", async () => {
    await setLow(1_000n);
    const dwallet = await dwalletOf(database, projectId);
    await readyPresigns(database, dwallet.bucket, 1);
    const steps = signSteps(database, signals);
    const id = await steps.reserve(projectId, dwallet);
    expect(await events()).toEqual([]);
    await steps.submit(projectId, id);
    expect(await events()).toEqual([low(990n, 1_000n)]);
  });

  it("is told once per fall: the next fall counts after the balance was a tenth above the threshold", async () => {
    await setLow(500n);
    for (const amount of [-600n, -10n, 150n, -200n]) await move(amount);
    expect(await events()).toEqual([low(400n, 500n)]);
    await move(210n); // 550, a tenth above.
    await move(-51n);
    expect(await events()).toEqual([low(400n, 500n), low(499n, 500n)]);
  });

  it("is told at once for a threshold above the balance, and counts from a new threshold's own value", async () => {
    await setLow(2_000n);
    await setLow(2_000n);
    expect(await events()).toEqual([low(1_000n, 2_000n)]);
    await setLow(990n);
    await move(-20n);
    expect(await events()).toEqual([low(1_000n, 2_000n), low(980n, 990n)]);
    await setLow(undefined);
    await move(-100n);
    expect(await events()).toHaveLength(2);
  });

  it("does not exist if the transaction of the fall is undone", async () => {
    await setLow(500n);
    const undone = database.transaction(async (db) => {
      const credit = { projectId, amountMicroUsd: -900n, reference: newId(), description: "test" };
      await creditProject(db, TEST_ORIGIN, credit);
      throw new Error("undone");
    });
    await expect(undone).rejects.toThrow("undone");
    expect(await events()).toEqual([]);
    await move(-900n);
    expect(await events()).toEqual([low(100n, 500n)]);
  });
});

describe("budget.exceeded", () => {
  const BUDGET = { windowSeconds: 3_600, maxCount: 1, maxMicroUsd: undefined };

  async function allowance(change: Partial<typeof BUDGET> = {}): Promise<Allowance> {
    const limits = { budget: { ...BUDGET, ...change } };
    const id = newId();
    await database.transaction((db) => insertAllowance(db, { id, projectId, limits }));
    return { id, userReferences: undefined, dwalletIds: undefined, algorithms: undefined, ...limits };
  }

  async function signWith(...allowances: readonly Allowance[]): Promise<string[]> {
    const dwallet = await dwalletOf(database, projectId, { userReference: "alice" });
    await readyPresigns(database, dwallet.bucket, allowances.length);
    const steps = signSteps(database, signals);
    const reasons: string[] = [];
    for (const one of allowances)
      reasons.push(
        await steps.reserve(projectId, dwallet, one).then(
          () => "granted",
          ({ reason }) => reason,
        ),
      );
    return reasons;
  }

  const backdate = (id: string, seconds: number) =>
    database.query("UPDATE allowance SET refused_at = now() - $2 * interval '1 second' WHERE id = $1", [
      id,
      seconds,
    ]);

  it("is told for the first refusal in a window, for each budget", async () => {
    const [one, other] = [await allowance(), await allowance()];
    const refused = Array(2).fill("BUDGET_EXCEEDED");
    expect(await signWith(one, one, one)).toEqual(["granted", ...refused]);
    expect(await signWith(other, other)).toEqual(["granted", "BUDGET_EXCEEDED"]);
    await backdate(one.id, 3_590);
    await signWith(one);
    const told = await events();
    expect(told.map(({ kind, subject }) => [kind, subject])).toEqual([
      ["budget.exceeded", one.id],
      ["budget.exceeded", other.id],
    ]);
    expect(told[0]).toMatchObject({
      userReference: "alice",
      data: {
        ...{ budget_id: one.id, actor: "system", window_seconds: "3600", max_count: "1", left_count: "0" },
        grow_time: expect.stringMatching(/^20\d\d-.*Z$/),
      },
    });
    expect(told[0]!.data).not.toHaveProperty("max_micro_usd");
    await backdate(one.id, 3_600);
    await signWith(one);
    expect(await events()).toHaveLength(3);
  });

  it("is told for a dWallet too, although the refusal undoes the rest of the call", async () => {
    const calls = onboardingCalls(database, { dkgPriceMicroUsd: 10n });
    const key = await calls.registeredKey(projectId);
    const small = { windowSeconds: 3_600, maxCount: undefined, maxMicroUsd: 9n } as never;
    const { id, ...limits } = await allowance(small);
    const caller = { projectId, origin: TEST_ORIGIN, allowance: { id, ...limits } };
    const time = { timeoutMs: 10_000, signal: new AbortController().signal };
    await expect(createDWallet(calls.deps, caller, calls.dkgRequest(key), time)).rejects.toMatchObject({
      reason: "BUDGET_EXCEEDED",
    });
    expect(await events()).toMatchObject([{ kind: "budget.exceeded", data: { left_micro_usd: "9" } }]);
  });

  it("is told for a bounded number of budgets a day", async () => {
    await database.query(
      "UPDATE project SET refusal_day = (now() AT TIME ZONE 'utc')::date, refusals_on_day = $2 WHERE id = $1",
      [projectId, REFUSALS_TOLD_PER_DAY - 1],
    );
    const [last, beyond] = [await allowance(), await allowance()];
    await signWith(last, last, beyond, beyond);
    expect((await events()).map(({ subject }) => subject)).toEqual([last.id]);
    await database.query("UPDATE project SET refusal_day = refusal_day - 1 WHERE id = $1", [projectId]);
    await signWith(beyond);
    expect((await events()).map(({ subject }) => subject)).toEqual([last.id, beyond.id]);
  });
});

describe("key.expiring", () => {
  const HOUR_MS = 3_600_000;
  const inHours = (hours: number) => new Date(Date.now() + hours * HOUR_MS);

  /** A key of this age that expires in some hours; undefined for never. */
  async function keyWith(expiresInHours: number | undefined, ageHours = 10_000): Promise<string> {
    const expiresAt = expiresInHours === undefined ? undefined : inHours(expiresInHours);
    const { id } = await database.transaction((db) =>
      insertApiKey(db, TEST_ORIGIN, { projectId, name: "backend", scopes: ["read"], expiresAt }),
    );
    await age(id, ageHours);
    return id;
  }
  const age = (id: string, hours: number) =>
    database.query("UPDATE api_key SET created_at = now() - $2 * interval '1 hour' WHERE id = $1", [
      id,
      hours,
    ]);
  const expireIn = (id: string, hours: number) =>
    database.query("UPDATE api_key SET expires_at = $2 WHERE id = $1", [id, inHours(hours)]);
  const toldKeys = async () => (await events()).map(({ kind, subject }) => [kind, subject]);

  it("is told 7 days before a key expires, and again 1 day before, once each", async () => {
    const id = await keyWith(7 * 24 + 1);
    await keyWith(undefined);
    expect(await tellExpiringKeys(database, 100)).toEqual([]);
    await expireIn(id, 7 * 24 - 1);
    expect(await tellExpiringKeys(database, 100)).toEqual([projectId]);
    expect(await tellExpiringKeys(database, 100)).toEqual([]);
    await expireIn(id, 23);
    expect(await tellExpiringKeys(database, 100)).toEqual([projectId]);
    expect(await tellExpiringKeys(database, 100)).toEqual([]);
    const [row] = await database.query<{ at: Date; prefix: string }>(
      `SELECT expires_at AS at, prefix FROM api_key WHERE id = $1`,
      [id],
    );
    const told = await events();
    expect(told.map(({ kind, subject }) => [kind, subject])).toEqual(Array(2).fill(["key.expiring", id]));
    expect(told[1]?.data).toEqual({
      ...{ api_key_id: id, name: "backend", prefix: row!.prefix, expire_time: row!.at.toISOString() },
    });
  });

  it("is not told for a revoked, expired, rotated or short-lived key", async () => {
    const revoked = await keyWith(100);
    await database.query("UPDATE api_key SET revoked_at = now() WHERE id = $1", [revoked]);
    await keyWith(-1);
    const rotated = await keyWith(100);
    await rotateApiKey({ database, lookup: { forget() {} } }, TEST_OPERATOR, undefined, {
      apiKeyId: rotated,
    });
    const threeDays = await keyWith(71, 1);
    await keyWith(5, 1);
    await tellExpiringKeys(database, 100);
    expect(await toldKeys()).toEqual([]);
    await age(threeDays, 50);
    await expireIn(threeDays, 22);
    await tellExpiringKeys(database, 100);
    expect(await toldKeys()).toEqual([["key.expiring", threeDays]]);
  });

  it("is told in bounded batches, the soonest first", async () => {
    const [later, sooner] = [await keyWith(30), await keyWith(20)];
    await tellExpiringKeys(database, 1);
    expect(await toldKeys()).toEqual([["key.expiring", sooner]]);
    await tellExpiringKeys(database, 1);
    expect(await toldKeys()).toEqual([
      ["key.expiring", sooner],
      ["key.expiring", later],
    ]);
  });
});
