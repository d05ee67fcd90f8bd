/** The slots of a budget compared with a list of everything that was spent, at many times. */
import fc from "fast-check";
import sql from "sql-template-tag";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Budget } from "../../../../../src/service/access/allowances/allowance.ts";
import {
  BUDGET_OUTCOME_COLUMNS,
  budgetParts,
  budgetReturn,
} from "../../../../../src/service/access/allowances/budgets.ts";
import { insertApiKey } from "../../../../../src/service/access/keys/api-keys.ts";
import { bigint, nullable } from "../../../../../src/service/platform/store/columns.ts";
import { type Database, execute, readRows } from "../../../../../src/service/platform/store/database.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../../support/database/database.ts";
import { NO_ROW, projectWith, TEST_ORIGIN } from "../../../../support/database/rows.ts";

const WINDOW_SECONDS = 24_000;
const SLOT_MS = 1_000_000;
const WINDOW_MS = 24 * SLOT_MS;
/** The beginning of a slot. */
const START_MS = Math.floor(Date.UTC(2027, 0, 1) / SLOT_MS) * SLOT_MS;

let database: Database;
let projectId: string;

beforeAll(async () => {
  database = await openTestDatabase();
  projectId = await projectWith(database, 0n);
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());

/** Something that was spent and not given back. */
interface Spend {
  readonly atMs: number;
  readonly microUsd: number;
  readonly slot: bigint;
}

const step = fc.record({
  // Small steps fill a slot, and great ones pass the window.
  passMs: fc.oneof(
    fc.integer({ min: 0, max: SLOT_MS / 4 }),
    fc.integer({ min: 0, max: 3 * SLOT_MS }),
    fc.integer({ min: 20 * SLOT_MS, max: 60 * SLOT_MS }),
    fc.constantFrom(SLOT_MS, WINDOW_MS - 1, WINDOW_MS, WINDOW_MS + SLOT_MS - 1, WINDOW_MS + SLOT_MS),
  ),
  microUsd: fc.integer({ min: 0, max: 60 }),
  /** Gives back one of the spends, by its place in the list, rather than spending. */
  returned: fc.option(fc.nat(30), { freq: 4 }),
});

describe("a budget", () => {
  it("is never exceeded in any window, and refuses nothing that a window and a slot would admit", async () => {
    const plan = fc.record({
      maxCount: fc.integer({ min: 1, max: 8 }),
      maxMicroUsd: fc.integer({ min: 20, max: 200 }),
    });
    await fc.assert(
      fc.asyncProperty(plan, fc.array(step, { minLength: 1, maxLength: 40 }), async (limits, steps) => {
        const budget = { windowSeconds: WINDOW_SECONDS, ...limits, maxMicroUsd: BigInt(limits.maxMicroUsd) };
        const allowanceId = await allowanceWith(budget);
        let spends: Spend[] = [];
        let nowMs = START_MS;
        for (const { passMs, microUsd, returned } of steps) {
          nowMs += passMs;
          const given = returned === null ? undefined : spends[returned];
          if (given !== undefined) {
            await giveBack(allowanceId, given);
            spends = spends.filter((spend) => spend !== given);
            continue;
          }
          const fits = (sinceMs: number) => {
            const counted = [...spends.filter(({ atMs }) => atMs > sinceMs), { microUsd }];
            const sum = counted.reduce((total, spend) => total + spend.microUsd, 0);
            return counted.length <= limits.maxCount && sum <= limits.maxMicroUsd;
          };
          const slot = await spend(allowanceId, budget, { atMs: nowMs, microUsd });
          if (slot !== null) {
            expect(fits(nowMs - WINDOW_MS)).toBe(true);
            spends.push({ atMs: nowMs, microUsd, slot });
          } else expect(fits(nowMs - WINDOW_MS - SLOT_MS)).toBe(false);
        }
      }),
      { numRuns: 60, seed: 31 },
    );
  }, 120_000);

  it("says when it grows: then, and not a moment before, something fits again", async () => {
    const budget = { windowSeconds: WINDOW_SECONDS, maxCount: 2, maxMicroUsd: undefined };
    const allowanceId = await allowanceWith(budget);
    const one = (atMs: number) => spend(allowanceId, budget, { atMs, microUsd: 1 });
    await one(START_MS + 5 * SLOT_MS + 3);
    await one(START_MS + 7 * SLOT_MS);
    const growsAtMs = (await look(allowanceId, budget, START_MS + 8 * SLOT_MS)).growsAt!.getTime();
    expect(growsAtMs - START_MS).toBe(30 * SLOT_MS);
    expect(await one(growsAtMs - 1)).toBeNull();
    expect(await one(growsAtMs)).not.toBeNull();
    expect((await look(allowanceId, budget, growsAtMs)).growsAt!.getTime() - START_MS).toBe(32 * SLOT_MS);
  });

  it("stays where it is while the database's clock is set back", async () => {
    const budget = { windowSeconds: WINDOW_SECONDS, maxCount: 2, maxMicroUsd: undefined };
    const allowanceId = await allowanceWith(budget);
    await spend(allowanceId, budget, { atMs: START_MS + 5 * SLOT_MS, microUsd: 1 });
    await spend(allowanceId, budget, { atMs: START_MS, microUsd: 1 });
    expect(await spend(allowanceId, budget, { atMs: START_MS, microUsd: 1 })).toBeNull();
    expect(await spend(allowanceId, budget, { atMs: START_MS + 29 * SLOT_MS, microUsd: 1 })).toBeNull();
    expect(await spend(allowanceId, budget, { atMs: START_MS + 30 * SLOT_MS, microUsd: 1 })).not.toBeNull();
  });
});

async function allowanceWith(budget: Budget): Promise<string> {
  const key = { projectId, name: "narrow", scopes: ["sign"], limits: { budget } } as const;
  return (await database.transaction((db) => insertApiKey(db, TEST_ORIGIN, key))).id;
}

/** Takes a price at this time. Returns the slot, or null if the price does not fit. */
async function spend(
  id: string,
  budget: Budget,
  { atMs, microUsd }: { readonly atMs: number; readonly microUsd: number },
): Promise<bigint | null> {
  const parts = partsAt(id, budget, atMs, microUsd);
  const [row] = await readRows(
    database,
    sql`WITH account AS (SELECT 1), ${parts.look}posted AS (SELECT 1 WHERE true${parts.andFits}),
          ${parts.take(sql`posted`)}done AS (SELECT 1)
        SELECT CASE WHEN EXISTS (SELECT 1 FROM posted) THEN ${parts.slot} END AS slot`,
    { slot: nullable(bigint) },
  );
  return row!.slot;
}

async function look(id: string, budget: Budget, atMs: number) {
  const parts = partsAt(id, budget, atMs, 0);
  const statement = sql`WITH account AS (SELECT 1), ${parts.look}done AS (SELECT 1) SELECT ${parts.outcome}`;
  const [row] = await readRows(database, statement, BUDGET_OUTCOME_COLUMNS);
  return row!;
}

function partsAt(id: string, budget: Budget, atMs: number, microUsd: number) {
  const at = sql`${new Date(atMs)}::timestamptz`;
  return budgetParts({ id, budget }, BigInt(microUsd), { locked: sql`account`, at });
}

async function giveBack(id: string, { microUsd, slot }: Spend): Promise<void> {
  await execute(
    database,
    sql`WITH source AS (
          SELECT ${NO_ROW}::uuid AS id, ${microUsd}::bigint AS price_micro_usd, ${id}::uuid AS allowance_id,
                 ${slot}::bigint AS allowance_slot
        ), posted AS (SELECT id FROM source), ${budgetReturn(sql`source`, sql`posted`)} SELECT 1`,
  );
}
