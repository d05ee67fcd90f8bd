import sql, { raw } from "sql-template-tag";
/** Each movement of money: what it posts, and when it posts nothing. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { postings } from "../../../../src/service/ledger/postings.ts";
import { number } from "../../../../src/service/platform/store/columns.ts";
import { type Database, execute, newId, readRows } from "../../../../src/service/platform/store/database.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { projectWith } from "../../../support/database/rows.ts";

const PRICE = 10n;
let database: Database;
beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());

describe("a charge without a hold", () => {
  it("takes the price from the balance, with a ledger entry of the request", async () => {
    const projectId = await projectWith(database, 3n * PRICE);
    const id = newId();
    expect(await post("charge", projectId, { id })).toBe(true);
    expect(await fundsOf(projectId)).toEqual({ balance: 2n * PRICE, held: 0n });
    expect(await entriesOf(projectId, "sign")).toEqual([{ key: `sign:${id}`, amount: -PRICE }]);
  });

  it("does not touch what is held for other requests", async () => {
    const projectId = await projectWith(database, 2n * PRICE);
    expect(await post("hold", projectId)).toBe(true);
    expect(await post("charge", projectId)).toBe(true);
    expect(await post("charge", projectId)).toBe(false);
    expect(await fundsOf(projectId)).toEqual({ balance: PRICE, held: PRICE });
  });

  it("is made only once for a request", async () => {
    const projectId = await projectWith(database, 3n * PRICE);
    const id = newId();
    await post("charge", projectId, { id });
    await expect(post("charge", projectId, { id })).rejects.toThrow(/ledger_entry_key_key/);
    expect(await fundsOf(projectId)).toEqual({ balance: 2n * PRICE, held: 0n });
  });
});

describe("a refund", () => {
  it("is made within the day's budget, which starts again each day", async () => {
    const projectId = await projectWith(database, 0n);
    const refund = () => post("refund", projectId, { refundsPerDay: 2 });
    expect([await refund(), await refund(), await refund()]).toEqual([true, true, false]);
    expect(await fundsOf(projectId)).toEqual({ balance: 2n * PRICE, held: 0n });

    await database.query("UPDATE project SET refund_day = refund_day - 1 WHERE id = $1", [projectId]);
    expect([await refund(), await refund(), await refund()]).toEqual([true, true, false]);
    expect(await entriesOf(projectId, "refund")).toHaveLength(4);
  });

  it("without a budget is always made, and uses no budget", async () => {
    const projectId = await projectWith(database, 0n);
    for (let count = 0; count < 3; count++) expect(await post("refund", projectId)).toBe(true);
    expect(await post("refund", projectId, { refundsPerDay: 1 })).toBe(true);
    expect(await post("refund", projectId, { refundsPerDay: 1 })).toBe(false);
    expect(await post("refund", projectId)).toBe(true);
  });
});

describe("each movement", () => {
  const START = { balance: 100n, held: 30n, open: 3, lapsed: 2, entries: [] as unknown[] };
  it.each([
    { name: "hold", changes: { held: 40n, open: 4 } },
    { name: "capture", changes: { balance: 90n, held: 20n, open: 2, lapsed: 1, entries: ["sign", -PRICE] } },
    { name: "release", changes: { held: 20n, open: 2 } },
    { name: "lapse", changes: { held: 20n, open: 2, lapsed: 3 } },
    { name: "charge", changes: { balance: 90n, entries: ["sign", -PRICE] } },
    { name: "refund", changes: { balance: 110n, entries: ["refund", PRICE] } },
  ] as const)("changes only what belongs to it, of its project alone: $name", async ({ name, changes }) => {
    const [projectId, otherId] = [await started(), await started()];
    expect(await post(name, projectId)).toBe(true);
    expect(await accountOf(projectId)).toEqual({ ...START, ...changes });
    expect(await accountOf(otherId)).toEqual(START);
  });

  it.each(["hold", "charge"] as const)("takes the last free credit, and no more: %s", async (name) => {
    const projectId = await started();
    for (let count = 0; count < 7; count++) expect(await post(name, projectId)).toBe(true);
    expect(await post(name, projectId)).toBe(false);
  });

  async function started(): Promise<string> {
    const projectId = await projectWith(database, START.balance);
    await database.query(
      `UPDATE project SET held_micro_usd = 30, open_reservations = 3, lapsed_reservations = 2,
                          lapsed_at = now() - interval '10 minutes' WHERE id = $1`,
      [projectId],
    );
    return projectId;
  }

  async function accountOf(projectId: string) {
    const [account] = await database.query<Omit<typeof START, "entries">>(
      `SELECT balance_micro_usd AS balance, held_micro_usd AS held, open_reservations AS open,
              lapsed_reservations AS lapsed FROM project WHERE id = $1`,
      [projectId],
    );
    const [entry] = await database.query<{ kind: string; amount: bigint }>(
      "SELECT kind, amount_micro_usd AS amount FROM ledger_entry WHERE project_id = $1 AND kind <> 'credit'",
      [projectId],
    );
    return { ...account, entries: entry === undefined ? [] : [entry.kind, entry.amount] };
  }
});

describe("an expired reservation", () => {
  it("counts for an hour after the last one, and each capture takes one off, down to none", async () => {
    const projectId = await projectWith(database, 100n);
    const lapses = async () => {
      const [project] = await readRows(
        database,
        sql`SELECT lapsed_reservations AS stored, ${postings.countedLapses(sql`project`)} AS counted
            FROM project WHERE id = ${projectId}`,
        { stored: number, counted: number },
      );
      return project;
    };
    for (let count = 0; count < 4; count++) await post("hold", projectId);
    await post("lapse", projectId);
    expect(await lapses()).toEqual({ stored: 1, counted: 1 });
    await database.query("UPDATE project SET lapsed_at = now() - interval '59 minutes' WHERE id = $1", [
      projectId,
    ]);
    expect(await lapses()).toEqual({ stored: 1, counted: 1 });
    // An excused one neither counts nor lets the others count longer.
    await post("lapse", projectId, { isExcused: true });
    await database.query("UPDATE project SET lapsed_at = lapsed_at - interval '2 minutes' WHERE id = $1", [
      projectId,
    ]);
    expect(await lapses()).toEqual({ stored: 1, counted: 0 });
    await post("lapse", projectId);
    expect(await lapses()).toEqual({ stored: 1, counted: 1 });
    await post("hold", projectId);
    await post("capture", projectId);
    await post("capture", projectId);
    expect(await lapses()).toEqual({ stored: 0, counted: 0 });
  });
});

/** Returns whether the movement was posted. */
async function post(
  name: "hold" | "capture" | "release" | "lapse" | "charge" | "refund",
  projectId: string,
  {
    id = newId(),
    refundsPerDay = null,
    isExcused = false,
  }: { id?: string; refundsPerDay?: number | null; isExcused?: boolean } = {},
): Promise<boolean> {
  const posted = await execute(
    database,
    sql`WITH source AS (SELECT ${id}::uuid AS id, ${projectId}::uuid AS project_id, ${PRICE}::bigint AS price_micro_usd,
                               ${refundsPerDay}::integer AS refunds_per_day, ${isExcused}::boolean AS is_excused),
             ${postings[name](sql`source`)}
        SELECT id FROM ${raw(`posting_${name === "lapse" ? "release" : name}`)}`,
  );
  return posted === 1;
}

async function fundsOf(projectId: string) {
  const [funds] = await database.query(
    "SELECT balance_micro_usd AS balance, held_micro_usd AS held FROM project WHERE id = $1",
    [projectId],
  );
  return funds;
}

function entriesOf(projectId: string, kind: string) {
  return database.query(
    "SELECT key, amount_micro_usd AS amount FROM ledger_entry WHERE project_id = $1 AND kind = $2",
    [projectId, kind],
  );
}
