/** Two replicas adjust credit at the same time while signatures are reserved, on a real PostgreSQL. */
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { adjustCredit } from "../../src/service/billing/adjust-credit.ts";
import { createLocalSignals } from "../../src/service/platform/coordination/local-coordination.ts";
import { ServiceError } from "../../src/service/platform/errors/service-error.ts";
import type { Idempotency } from "../../src/service/platform/idempotency/idempotency.ts";
import { type Database, newId } from "../../src/service/platform/store/database.ts";
import { signSteps } from "../support/crypto/sign-steps.ts";
import { migratedDatabase } from "../support/database/postgres.ts";
import {
  dwalletOf,
  keyed,
  moneyOf,
  projectWith,
  readyPresigns,
  TEST_OPERATOR,
} from "../support/database/rows.ts";
import { openTestPool } from "../support/database/test-pool.ts";

const CALLS = 32;
/** The price that {@link signSteps} charges. */
const PRICE = 10n;
const test = await migratedDatabase();
const RACING = { count: 8, because: "16 of the calls run at the same time, half of them on each replica" };
const pools: Database[] = [];
if (test !== undefined) {
  for (let pool = 0; pool < 2; pool++) pools.push(await openTestPool(test.url, { connections: RACING }));
}
afterAll(async () => {
  for (const pool of pools) await pool.close();
  await test?.drop();
});

describe.skipIf(test === undefined)("credit that two replicas adjust at once", () => {
  const [one, other] = pools as [Database, Database];
  const replica = (index: number) => (index % 2 === 0 ? one : other);
  let projectId: string;
  beforeEach(async () => {
    projectId = await projectWith(one, PRICE * BigInt(CALLS));
  });

  const adjust = (index: number, amountMicroUsd: bigint, idempotency?: Idempotency) =>
    adjustCredit(replica(index), TEST_OPERATOR, idempotency, { projectId, amountMicroUsd, reason: "race" });

  it("is posted once for one idempotency key, with the same reply to every caller", async () => {
    const idempotency = { ...keyed(newId()), method: "tss.v1.Admin/AdjustCredit" };
    const replies = await Promise.all(
      Array.from({ length: CALLS }, (_, index) => adjust(index, 5n, idempotency)),
    );
    expect(new Set(replies.map(({ ledgerEntry }) => ledgerEntry?.ledgerEntryId)).size).toBe(1);
    expect(replies[0]?.ledgerEntry?.balanceMicroUsd).toBe(PRICE * BigInt(CALLS) + 5n);
    expect(await moneyOf(one, projectId)).toEqual({
      balance: PRICE * BigInt(CALLS) + 5n,
      held: 0n,
      differences: [],
    });
  });

  it("gives each caller the balance after its own entry", async () => {
    const replies = await Promise.all(Array.from({ length: CALLS }, (_, index) => adjust(index, 1n)));
    const balances = replies.map(({ ledgerEntry }) => ledgerEntry!.balanceMicroUsd - PRICE * BigInt(CALLS));
    expect(balances.sort((a, b) => Number(a - b))).toEqual(
      Array.from({ length: CALLS }, (_, index) => BigInt(index + 1)),
    );
  });

  it("never falls below the held amount, and a refused adjustment changes nothing", async () => {
    const dwallet = await dwalletOf(one, projectId);
    await readyPresigns(one, dwallet.bucket, CALLS);
    const steps = pools.map((pool) => signSteps(pool, createLocalSignals()));
    const [taken, reserved] = await Promise.all([
      Promise.allSettled(Array.from({ length: CALLS }, (_, index) => adjust(index, -PRICE))),
      Promise.allSettled(
        Array.from({ length: CALLS }, (_, index) => steps[index % 2]!.reserve(projectId, dwallet)),
      ),
    ]);
    const successes = (results: readonly PromiseSettledResult<unknown>[]) =>
      BigInt(results.filter(({ status }) => status === "fulfilled").length);
    // The credit suffices for half of the calls, and all of it is spent in one way or the other.
    expect(successes(taken) + successes(reserved)).toBe(BigInt(CALLS));
    expect(await moneyOf(one, projectId)).toEqual({
      balance: PRICE * (BigInt(CALLS) - successes(taken)),
      held: PRICE * successes(reserved),
      differences: [],
    });
    const refusals = [...taken, ...reserved].flatMap((result) =>
      result.status === "rejected" ? [result.reason instanceof ServiceError && result.reason.reason] : [],
    );
    expect(refusals).toEqual(Array(CALLS).fill("INSUFFICIENT_CREDIT"));
  });
});
