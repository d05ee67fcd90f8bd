/** The coins of a transaction that pays several addresses. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { recordPayments } from "../../../../../src/service/billing/deposits/record-payment.ts";
import type { Database } from "../../../../../src/service/platform/store/database.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../../support/database/database.ts";
import { recordAddress } from "../../../../support/database/deposit-rows.ts";
import { IKA, SUI } from "../../../../support/database/deposits.ts";
import { objectId, projectWith } from "../../../../support/database/rows.ts";

let database: Database;
beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());

it("belong to the deposit of their own address and coin, and are recorded once", async () => {
  const owners = [];
  // An index reads the other address first, too.
  for (const address of [objectId(), objectId()].sort()) {
    const owner = { projectId: await projectWith(database, 0n), address };
    await recordAddress(database, owner);
    owners.push(owner);
  }
  const payments = owners.flatMap(({ address }) =>
    [SUI, IKA].map(({ coinType }) => ({
      ...{ address, coinType, amount: 3n, funds: 1n },
      coins: [{ objectId: objectId(), version: "7", digest: "digest", amount: 2n }],
    })),
  );
  const network = "localnet";
  for (const isNew of [true, false])
    for (const owner of owners)
      expect(await recordPayments({ database, network }, owner, "paid", payments)).toEqual({
        count: 2,
        hasNew: isNew,
      });
  const coins = await database.query<{ address: string; objectId: string }>(
    `SELECT d.address, d.coin_type AS "coinType", c.coin_type AS "itsType", c.object_id AS "objectId", c.amount::text
     FROM deposit_coin c JOIN deposit d ON d.id = c.deposit_id WHERE NOT c.in_address_balance`,
  );
  const byId = (a: { objectId: string }, b: { objectId: string }) => (a.objectId < b.objectId ? -1 : 1);
  expect(coins.sort(byId)).toEqual(
    payments
      .map(({ address, coinType, coins: [coin] }) => ({
        ...{ address, coinType, itsType: coinType, objectId: coin!.objectId, amount: "2" },
      }))
      .sort(byId),
  );
});
