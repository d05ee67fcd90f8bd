/** Each statement about deposits and prices changes its own rows, among those of other projects, coins and networks. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  creditableProjects,
  creditDeposits,
  waitingValue,
} from "../../../../src/service/billing/deposits/credit-deposits.ts";
import type { PriceState } from "../../../../src/service/billing/prices/check-price.ts";
import {
  acceptPrice,
  listStoredPrices,
  lockPrice,
  takeReading,
} from "../../../../src/service/billing/prices/stored-prices.ts";
import { type Database, newId } from "../../../../src/service/platform/store/database.ts";
import { changedRows } from "../../../support/database/changed-rows.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { recordAddress } from "../../../support/database/deposit-rows.ts";
import { IKA, SUI, type TestPrices, testDeposits } from "../../../support/database/deposits.ts";
import { moneyOf, objectId, projectWith, TEST_ORIGIN } from "../../../support/database/rows.ts";

let database: Database;
beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());

const changes = (tables: readonly string[], action: () => Promise<unknown>) =>
  changedRows(database, tables, action);

describe("the credit of a project's deposits", () => {
  const ONE_SUI = 1_000_000_000n;
  let projectId: string;
  let otherId: string;
  let prices: TestPrices;
  beforeEach(async () => {
    prices = { SUI: "1", IKA: undefined };
    projectId = await projectWith(database, 0n);
    otherId = await projectWith(database, 0n);
  });
  const deps = () => testDeposits(database, prices);
  const credit = () => creditDeposits(database, TEST_ORIGIN, deps(), projectId);

  it("changes its waiting deposits that have a price, and its balance", async () => {
    const own = await deposit(projectId, SUI.coinType, ONE_SUI);
    await deposit(projectId, IKA.coinType, ONE_SUI);
    await deposit(projectId, SUI.coinType, ONE_SUI, "testnet");
    await deposit(otherId, SUI.coinType, 3n * ONE_SUI);
    expect(await changes(["project", "deposit"], credit)).toEqual({
      project: { [projectId]: ["balance_micro_usd"] },
      deposit: { [own]: ["credited_at", "ledger_key", "price_pico_usd", "state", "value_micro_usd"] },
    });
    expect(await moneyOf(database, projectId)).toEqual({ balance: 1_000_000n, held: 0n, differences: [] });
    // A second call finds none.
    expect(await changes(["project", "deposit"], credit)).toEqual({});
  });

  it("needs the minimum, to the micro-USD, of all its deposits together", async () => {
    await deposit(projectId, SUI.coinType, ONE_SUI / 2n);
    const last = await deposit(projectId, SUI.coinType, ONE_SUI / 2n - 1_000n);
    expect(await waitingValue(database, deps(), projectId)).toBe(999_999n);
    expect(await creditable()).toEqual([]);
    expect(await credit()).toBe(0);
    await database.query("UPDATE deposit SET amount = $2 WHERE id = $1", [last, ONE_SUI / 2n]);
    await deposit(otherId, SUI.coinType, 2n * ONE_SUI);
    expect(await waitingValue(database, deps(), projectId)).toBe(1_000_000n);
    expect(await creditable()).toEqual([projectId, otherId].sort());
    expect(await creditableProjects(database, deps(), 1)).toHaveLength(1);
    expect(await credit()).toBe(2);
  });

  async function creditable(): Promise<string[]> {
    const found = await creditableProjects(database, deps(), 10);
    return found.filter((id) => [projectId, otherId].includes(id)).sort();
  }

  async function deposit(owner: string, coinType: string, amount: bigint, network = "localnet") {
    const [id, address] = [newId(), objectId()];
    await recordAddress(database, { projectId: owner, address, reference: id });
    await database.query(
      `INSERT INTO deposit (id, project_id, network, address, tx_digest, coin_type, amount)
       VALUES ($1, $2, $3, $4, $5, $6, $7::numeric)`,
      [id, owner, network, address, objectId(), coinType, String(amount)],
    );
    return id;
  }
});

describe("a reading of a price", () => {
  const TABLES = ["coin_price", "coin_price_range"];
  const BOUNDS = { maxStepPercent: 20, maxHourPercent: 30, maxDayPercent: 60, holdMs: 60_000 };
  const HOUR_MS = 3_600_000;
  const START_MS = Date.UTC(2026, 0, 1, 12);
  const own = { network: "localnet", coinType: "0x2::a::A" };
  const others = [
    { network: "localnet", coinType: "0x2::b::B" },
    { network: "testnet", coinType: "0x2::a::A" },
  ];
  const key = (ms: number) => `localnet 0x2::a::A ${new Date(ms).toISOString().slice(0, 19)}+00:00`;
  const take = (picoUsd: number, atMs: number, coin = own): Promise<PriceState> =>
    takeReading(
      database,
      coin,
      { picoUsd: BigInt(picoUsd), time: new Date(atMs), sourceCount: 1 },
      atMs,
      BOUNDS,
    );
  beforeEach(async () => {
    for (const table of TABLES) await database.query(`DELETE FROM ${table}`, []);
    for (const coin of [own, ...others]) await take(100, START_MS, coin);
  });

  it("changes the price of its coin on its network alone", async () => {
    expect(await changes(TABLES, () => take(110, START_MS + 1))).toEqual({
      coin_price: { "localnet 0x2::a::A": ["price_pico_usd", "read_at"] },
      coin_price_range: { [key(START_MS)]: ["high_pico_usd"] },
    });
    // An older one, also of the same time, changes nothing.
    expect(await changes(TABLES, () => take(105, START_MS + 1))).toEqual({});
    expect(await changes(TABLES, () => take(105, START_MS))).toEqual({});
    const doubted = await changes(TABLES, () => take(150, START_MS + 2));
    expect(doubted).toEqual({
      coin_price: {
        "localnet 0x2::a::A": ["doubted_at", "doubted_for", "doubted_pico_usd", "doubted_since"],
      },
    });
    const [stored, other] = await listStoredPrices(database, "localnet");
    expect(stored).toMatchObject({ picoUsd: 110n, doubted: { price: { picoUsd: 150n }, beyond: "hour" } });
    expect(other).toMatchObject({ coinType: "0x2::b::B", picoUsd: 100n, doubted: undefined });
    expect(await listStoredPrices(database, "testnet")).toHaveLength(1);
  });

  it("widens the range of its five minutes in both directions, with the price that counted until then", async () => {
    await take(110, START_MS + 1);
    await take(95, START_MS + 2);
    await take(100, START_MS + 3);
    expect(await rangesOf(own)).toEqual([{ low: 95n, high: 110n }]);
    await take(104, START_MS + 300_000);
    expect(await rangesOf(own)).toEqual([
      { low: 95n, high: 110n },
      { low: 100n, high: 104n },
    ]);
    expect(await rangesOf(others[0]!)).toEqual([{ low: 100n, high: 100n }]);
  });

  it("knows the ranges of an hour and of a day, each until it has ended", async () => {
    await take(110, START_MS + 1);
    const day = async (atMs: number) => {
      const { hour, day } = await take(112, atMs);
      return [hour?.lowPicoUsd, day?.lowPicoUsd];
    };
    expect(await day(START_MS + HOUR_MS + 299_999)).toEqual([100n, 100n]);
    expect(await day(START_MS + HOUR_MS + 300_000)).toEqual([110n, 100n]);
    expect(await day(START_MS + 24 * HOUR_MS + 299_999)).toEqual([112n, 100n]);
    expect(await day(START_MS + 24 * HOUR_MS + 300_000)).toEqual([112n, 110n]);
    // A range that has left both windows is forgotten, of this coin alone.
    expect((await rangesOf(own))[0]).toEqual({ low: 110n, high: 112n });
    for (const other of others) expect(await rangesOf(other)).toHaveLength(1);
  });

  it("counts no range that has left its window, however long no price was accepted", async () => {
    const rangesAt = async (atMs: number) => {
      const { hour, day } = await database.transaction((db) => lockPrice(db, own, atMs));
      return [hour?.lowPicoUsd, day?.lowPicoUsd];
    };
    expect(await rangesAt(START_MS + HOUR_MS + 299_999)).toEqual([100n, 100n]);
    expect(await rangesAt(START_MS + HOUR_MS + 300_000)).toEqual([undefined, 100n]);
    expect(await rangesAt(START_MS + 24 * HOUR_MS + 299_999)).toEqual([undefined, 100n]);
    expect(await rangesAt(START_MS + 24 * HOUR_MS + 300_000)).toEqual([undefined, undefined]);
  });

  it("that an operator accepts starts the bounds of its coin again", async () => {
    await take(110, START_MS + 1);
    const price = { picoUsd: 500n, time: new Date(START_MS + 2) };
    await acceptPrice(database, own, price, START_MS + 300_000);
    expect(await rangesOf(own)).toEqual([{ low: 500n, high: 500n }]);
    for (const other of others) expect(await rangesOf(other)).toEqual([{ low: 100n, high: 100n }]);
  });

  const rangesOf = ({ network, coinType }: typeof own) =>
    database.query<{ low: bigint; high: bigint }>(
      `SELECT low_pico_usd AS low, high_pico_usd AS high FROM coin_price_range
       WHERE network = $1 AND coin_type = $2 ORDER BY began_at`,
      [network, coinType],
    );
});
