/** A lane whose own transaction was marked as dropped, and landed or aborted all the same. */
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import type { TransactionOutcome } from "../../../../../src/service/chain/outcome.ts";
import { catchUp } from "../../../../../src/service/chain/submit/lane-driver.ts";
import { addGasCoin, addLane, readLaneObjects } from "../../../../../src/service/chain/submit/lane-table.ts";
import type { Database } from "../../../../../src/service/platform/store/database.ts";
import { changedRows } from "../../../../support/database/changed-rows.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../../support/database/database.ts";
import { LANE, NETWORK } from "../fake-chain.ts";

const COIN = "0xc014";
const moved = (objectId: string) => ({ objectId, version: "8", digest: "d8" });
const ABORTED: TransactionOutcome = {
  kind: "aborted",
  error: { kind: "MoveAbort", message: "abort 4" },
  gasUsedMist: 3n,
  changes: {
    inputVersions: new Map(),
    written: new Map([LANE, COIN].map((id) => [id, moved(id)])),
    owners: new Map(),
    deleted: [],
    dependencies: [],
  },
};
let database: Database;
let outcome: TransactionOutcome | undefined;

beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(async () => {
  for (const table of ["gas_coin", "lane", "chain_transaction"]) await database.query(`DELETE FROM ${table}`);
  await addLane(database, NETWORK, { objectId: LANE, version: "1", digest: "d1" });
  await addGasCoin(database, LANE, { objectId: COIN, version: "1", digest: "d1" });
  await database.query(
    `INSERT INTO chain_transaction (digest, network, sender, lane, bytes, state, error, resolved_at)
     VALUES ('tx', $1, '0x1', $2, '\\x01', 'dropped', 'lost', now())`,
    [NETWORK, LANE],
  );
  outcome = ABORTED;
});

const catchUpWith = async (expected = readLaneObjects(database, LANE)) =>
  catchUp(database, { transaction: async () => outcome }, LANE, await expected, "tx");
const changes = (action: () => Promise<unknown>) =>
  changedRows(database, ["lane", "gas_coin", "chain_transaction"], action);

it("a lane moves to the result of its transaction, which then has its outcome, once", async () => {
  const before = await readLaneObjects(database, LANE);
  expect(await changes(async () => expect(await catchUpWith()).toBe(true))).toEqual({
    lane: { [LANE]: ["digest", "version"] },
    gas_coin: { [`${NETWORK} ${COIN}`]: ["digest", "version"] },
    chain_transaction: { tx: ["error", "gas_used_mist", "state"] },
  });
  expect(await readLaneObjects(database, LANE)).toEqual({
    operatorCap: moved(LANE),
    gasCoins: [moved(COIN)],
  });
  // Another process has moved the lane meanwhile.
  expect(await changes(async () => expect(await catchUpWith(Promise.resolve(before))).toBe(false))).toEqual(
    {},
  );
});

it("a lane stays while the fullnode lags again, or if the transaction was not marked as dropped", async () => {
  outcome = undefined;
  expect(await changes(async () => expect(await catchUpWith()).toBe(false))).toEqual({});
  outcome = ABORTED;
  await database.query("UPDATE chain_transaction SET state = 'landed', error = NULL");
  expect(await changes(async () => expect(await catchUpWith()).toBe(false))).toEqual({});
});
