/** What becomes of a sweep and its coins, by what the chain shows of them. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { releaseCoins } from "../../../../../src/service/billing/sweeps/sweep-loop.ts";
import { createSweepOperation } from "../../../../../src/service/billing/sweeps/sweep-operation.ts";
import { type Database, newId } from "../../../../../src/service/platform/store/database.ts";
import { changedRows } from "../../../../support/database/changed-rows.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../../support/database/database.ts";
import { recordAddress } from "../../../../support/database/deposit-rows.ts";
import { objectId, projectWith } from "../../../../support/database/rows.ts";
import { silentLog } from "../../../../support/silent-log.ts";
import { insertCoin, insertDeposit, type TestCoin } from "../../../../support/sweep-rows.ts";

const SUI = "0x2::sui::SUI";
const DESTINATION = objectId();
let database: Database;
let projectId: string;
let address: string;
/** The transaction that used each coin, and its owner after that; null if the coin is gone. */
let used: Map<string, { readonly by: string; readonly owner: string } | null>;
/** False if the fullnode lacks the transactions of the coins. */
let knowsHistory: boolean;
let balance: bigint;
let errors: object[];

beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(async () => {
  for (const table of ["deposit_coin", "sweep", "deposit", "deposit_address"])
    await database.query(`DELETE FROM ${table}`);
  projectId = await projectWith(database, 0n);
  address = objectId();
  await recordAddress(database, { projectId, address });
  [used, knowsHistory, balance, errors] = [new Map(), true, 0n, []];
});

const chain = {
  async ownedObjects(ids: readonly string[]) {
    return new Map(
      ids.flatMap((id) => {
        const use = used.get(id);
        if (use === null) return [];
        const ref = {
          objectId: id,
          version: use === undefined ? "1" : "2",
          digest: use === undefined ? "d" : "d2",
        };
        return [[id, { ...ref, lastChange: use?.by }] as const];
      }),
    );
  },
  async effects(digest: string) {
    if (!knowsHistory) return undefined;
    const ids = [...used].flatMap(([id, use]) => (use?.by === digest ? [id] : []));
    return {
      inputVersions: new Map(ids.map((id) => [id, "1"])),
      written: new Map(ids.map((id) => [id, { objectId: id, version: "2", digest: "d2" }])),
      owners: new Map(ids.map((id) => [id, used.get(id)!.owner])),
      ...{ deleted: [], dependencies: [] },
    };
  },
  transaction: async () => (knowsHistory ? ({} as never) : undefined),
  addressBalance: async () => balance,
};

describe("a sweep that the chain may have", () => {
  const log = silentLog;
  const operation = createSweepOperation({ reader: chain, signerOf: () => undefined, log });
  const load = async (id: string) => (await operation.load(database, [id])).get(id)!;
  const failure = { reason: "X", message: "" };

  it("landed if one transaction took all its coins to the destination, which is audited once", async () => {
    const { id, coins } = await sweep({ coinCount: 2 });
    const subject = await load(id);
    const adopt = () => operation.adopt(database, subject, failure);
    used.set(coins[0]!.objectId, { by: "sweep", owner: DESTINATION });
    expect(await adopt()).toBe(false);
    used.set(coins[1]!.objectId, { by: "another", owner: DESTINATION });
    expect(await adopt()).toBe(false);
    used.set(coins[1]!.objectId, { by: "sweep", owner: objectId() });
    expect(await adopt()).toBe(false);
    expect(await stateOf(id)).toEqual({ state: "queued", digest: null });
    used.set(coins[1]!.objectId, { by: "sweep", owner: DESTINATION });
    expect(await adopt()).toBe(true);
    expect(await adopt()).toBe(true);
    expect(await stateOf(id)).toEqual({ state: "landed", digest: "sweep" });
    expect(await database.query("SELECT action FROM audit_event WHERE subject = $1", [id])).toEqual([
      { action: "sweep.land" },
    ]);
  });

  it("can never land if another transaction used a coin, or made it part of another one", async () => {
    const { id, coins } = await sweep({ coinCount: 2 });
    const subject = await load(id);
    const [first, second] = coins.map((coin) => coin.objectId).sort();
    expect(await operation.findSpent!(subject)).toBeUndefined();
    used.set(second!, { by: "another", owner: address });
    expect(await operation.findSpent!(subject)).toEqual({
      ...{ reason: "COIN_SPENT", message: `the coin ${second} was used by another` },
    });
    used.set(first!, null);
    expect(await operation.findSpent!(subject)).toMatchObject({
      message: `the coin ${first} was made part of another one`,
    });
    // A fullnode that shows too little proves nothing.
    knowsHistory = false;
    expect(await operation.findSpent!(subject)).toBeUndefined();
    knowsHistory = true;
    for (const coin of [first!, second!]) used.set(coin, { by: "sweep", owner: DESTINATION });
    expect(await operation.findSpent!(subject)).toBeUndefined();
  });

  it("can never land if the address balance has less than it withdraws", async () => {
    const { id } = await sweep({ coinCount: 1, funds: 5n });
    const subject = await load(id);
    balance = 5n;
    expect(await operation.findSpent!(subject)).toBeUndefined();
    balance = 4n;
    expect(await operation.findSpent!(subject)).toEqual({
      ...{ reason: "FUNDS_SPENT", message: "the address balance has 4, the sweep needs 5" },
    });
    const withoutFunds = await load((await sweep({ coinCount: 1 })).id);
    expect(await operation.findSpent!(withoutFunds)).toBeUndefined();
  });
});

describe("the coins of a refused sweep", () => {
  const release = () =>
    releaseCoins({
      ...{ database, network: "localnet", reader: chain },
      log: { ...silentLog, error: (fields) => void errors.push(fields) },
    });

  it("are free again in the version in which their address has them, and others stay", async () => {
    const { id, coins } = await sweep({ state: "refused", coinCount: 4 });
    const [there, returned, sent, gone] = coins.map((coin) => coin.objectId);
    used.set(returned!, { by: "failed", owner: address });
    used.set(sent!, { by: "foreign", owner: objectId() });
    used.set(gone!, null);
    await release();
    expect(await stateOf(id)).toMatchObject({ state: "failed" });
    const rows = await database.query<{ objectId: string; version: string; digest: string; isFree: boolean }>(
      `SELECT object_id AS "objectId", version, digest, sweep_id IS NULL AS "isFree" FROM deposit_coin`,
    );
    expect(new Map(rows.map(({ objectId: coin, ...row }) => [coin, row]))).toEqual(
      new Map([
        [there, { version: "1", digest: "d", isFree: true }],
        [returned, { version: "2", digest: "d2", isFree: true }],
        [sent, { version: "1", digest: "d", isFree: false }],
        [gone, { version: "1", digest: "d", isFree: false }],
      ]),
    );
    expect(errors).toEqual([{ sweep: id, address, coins: [sent, gone].sort() }]);
    // It ends once.
    expect(await changedRows(database, ["sweep", "deposit_coin"], release)).toEqual({});
  });

  it("wait while the fullnode does not show one of them, without holding up other sweeps", async () => {
    const { id, coins } = await sweep({ state: "refused", coinCount: 2 });
    used.set(coins[1]!.objectId, null);
    knowsHistory = false;
    const other = await sweep({ state: "refused", coinCount: 1 });
    await release();
    expect([await stateOf(id), await stateOf(other.id)]).toMatchObject([
      { state: "refused" },
      { state: "failed" },
    ]);
  });

  it("are those of its own network, and of no sweep in another state", async () => {
    await sweep({ state: "refused", coinCount: 1, network: "testnet" });
    await sweep({ state: "queued", coinCount: 1 });
    await sweep({ state: "failed", coinCount: 1 });
    expect(await changedRows(database, ["sweep", "deposit_coin"], release)).toEqual({});
  });

  it("are free with their funds once the address balance covers these and the queued sweeps", async () => {
    const { id } = await sweep({ state: "refused", coinCount: 1, funds: 5n });
    await sweep({ state: "queued", coinCount: 1, funds: 3n });
    balance = 7n;
    await release();
    expect(await stateOf(id)).toMatchObject({ state: "refused" });
    expect(errors).toEqual([{ sweep: id, address }]);
    balance = 8n;
    await release();
    expect(await stateOf(id)).toMatchObject({ state: "failed" });
    expect(await database.query("SELECT 1 FROM deposit_coin WHERE sweep_id = $1", [id])).toEqual([]);
    expect(errors).toHaveLength(1);
  });

  it("are free without funds, whatever the address balance is", async () => {
    const { id } = await sweep({ state: "refused", coinCount: 1 });
    await sweep({ state: "queued", coinCount: 1, funds: 3n });
    balance = 2n;
    await release();
    expect(await stateOf(id)).toMatchObject({ state: "failed" });
    expect(errors).toEqual([]);
  });
});

/** Inserts a sweep with coins, and with a part of the address balance if it has funds. */
async function sweep({ state = "queued", coinCount = 1, funds = 0n, network = "localnet" }) {
  const id = newId();
  const isRefused = state !== "queued";
  await database.query(
    `INSERT INTO sweep (id, network, address, coin_type, destination, amount, coin_count, state, failure_reason,
                        failure_message)
     VALUES ($1, $2, $3, $4, $5, 1, $6, $7, $8, $8)`,
    [id, network, address, SUI, DESTINATION, coinCount, state, isRefused ? "x" : null],
  );
  const coins: TestCoin[] = [];
  const add = async (change: object) =>
    insertCoin(database, await insertDeposit(database, { projectId, owner: address, network }), {
      ...{ network, sweepId: id },
      ...change,
    });
  for (let index = 0; index < coinCount; index++) coins.push(await add({}));
  if (funds > 0n) await add({ amount: funds, isBalance: true });
  return { id, coins };
}

async function stateOf(id: string) {
  const [row] = await database.query("SELECT state, tx_digest AS digest FROM sweep WHERE id = $1", [id]);
  return row;
}
