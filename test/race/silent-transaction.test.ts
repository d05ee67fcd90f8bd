/** A process that falls silent within a transaction, as if its machine were lost, on a real PostgreSQL. */
import { afterAll, describe, expect, it } from "vitest";
import type { Database } from "../../src/service/platform/store/database.ts";
import { migratedDatabase } from "../support/database/postgres.ts";
import { moneyOf, projectWith } from "../support/database/rows.ts";
import { openTestPool } from "../support/database/test-pool.ts";

const test = await migratedDatabase();
const pools: Database[] = [];
if (test !== undefined) {
  pools.push(await openTestPool(test.url, { silentTransactionMs: 200 }));
  pools.push(await openTestPool(test.url));
}
afterAll(async () => {
  for (const pool of pools) await pool.close();
  await test?.drop();
});

describe.skipIf(test === undefined)("a transaction whose process is silent", () => {
  const [silent, other] = pools as [Database, Database];

  it("is ended by the server, which releases its locks and rolls it back", async () => {
    const projectId = await projectWith(other, 100n);
    const raise = "UPDATE project SET balance_micro_usd = balance_micro_usd + $2 WHERE id = $1";
    const ended = silent.transaction(async (db) => {
      await db.query(raise, [projectId, 1_000n]);
      await other.query(raise, [projectId, 1n]);
    });
    await expect(ended).rejects.toThrow();
    expect(await moneyOf(other, projectId)).toMatchObject({ balance: 101n });
    expect(await silent.transaction((db) => db.query("SELECT 1 AS one", []))).toEqual([{ one: 1 }]);
  });

  it("may be silent for a minute by default", async () => {
    const read = "SELECT current_setting('idle_in_transaction_session_timeout') AS timeout";
    const within = await other.transaction((db) => db.query(read, []));
    expect(within).toEqual([{ timeout: "1min" }]);
  });
});
