/** The payments to an address balance that a restore records from a settlement on. */
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { recordSettled } from "../../../../../src/service/billing/deposits/scan-address-balance.ts";
import type { Database } from "../../../../../src/service/platform/store/database.ts";
import { changedRows } from "../../../../support/database/changed-rows.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../../support/database/database.ts";
import { recordAddress } from "../../../../support/database/deposit-rows.ts";
import { fakePayments, SUI } from "../../../../support/database/deposits.ts";
import { objectId, projectWith } from "../../../../support/database/rows.ts";

let database: Database;
let watched: { readonly projectId: string; readonly address: string };

beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(async () => {
  watched = { projectId: await projectWith(database, 0n), address: objectId() };
  await recordAddress(database, watched);
});

/** The settlement of each version pays one MIST. */
const reader = () => ({
  ...fakePayments(),
  async settlement(digest: string) {
    const version = BigInt(digest.slice("settlement-".length));
    const previous = { version: version - 1n, settlement: `settlement-${version - 1n}` };
    return {
      payments: [`${watched.address}-${version}`],
      previous: version === 1n ? undefined : previous,
    };
  },
  payments: async () => [
    { address: watched.address, coinType: SUI.coinType, amount: 1n, funds: 1n, coins: [] },
  ],
});
const record = (version: number) =>
  recordSettled(database, { network: "localnet", coins: [SUI], reader: reader() }, watched, {
    ...{ coinType: SUI.coinType, settlement: `settlement-${version}` },
  });
const recorded = async () => {
  const rows = await database.query<{ digest: string }>(
    "SELECT tx_digest AS digest FROM deposit WHERE address = $1",
    [watched.address],
  );
  return rows.map(({ digest }) => Number(digest.split("-")[1])).sort((a, b) => a - b);
};

it("are all those back to the first one, however many they are", async () => {
  await record(60);
  expect(await recorded()).toEqual(Array.from({ length: 60 }, (_, index) => index + 1));
});

it("are those after the mark of this coin, which stays where it is", async () => {
  for (const [coinType, version] of [
    [SUI.coinType, 57],
    ["0x1::other::OTHER", 59],
  ])
    await database.query(
      "INSERT INTO address_balance_mark (address, coin_type, version) VALUES ($1, $2, $3)",
      [watched.address, coinType, version],
    );
  expect(await changedRows(database, ["address_balance_mark"], () => record(60))).toEqual({});
  expect(await recorded()).toEqual([58, 59, 60]);
});
