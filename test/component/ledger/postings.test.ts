import sql, { raw } from "sql-template-tag";
/** Each movement of money: what it posts, and when it posts nothing. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { postings } from "../../../src/ledger/postings.ts";
import type { Database } from "../../../src/store/database.ts";
import { newId } from "../../../src/store/ids.ts";
import { execute } from "../../../src/store/statements.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../support/database.ts";
import { projectWith } from "../../support/rows.ts";

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

/** Returns whether the movement was posted. */
async function post(
  name: "hold" | "charge" | "refund",
  projectId: string,
  { id = newId(), refundsPerDay = null }: { id?: string; refundsPerDay?: number | null } = {},
): Promise<boolean> {
  const posted = await execute(
    database,
    sql`WITH source AS (SELECT ${id}::uuid AS id, ${projectId}::uuid AS project_id, ${PRICE}::bigint AS price_micro_usd,
                               ${refundsPerDay}::integer AS refunds_per_day), ${postings[name](sql`source`)}
        SELECT id FROM ${raw(`posting_${name}`)}`,
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
