/** What a rebuild of sweeps reads and writes, among coins of other addresses, types, deposits and networks. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  findDepositCoin,
  findQueuedWithdrawal,
  findSweptAddress,
  insertLostSweep,
  insertMovedCoin,
  type LostSweep,
} from "../../../../../src/service/billing/sweeps/lost-sweeps.ts";
import type { Database } from "../../../../../src/service/platform/store/database.ts";
import { changedRows } from "../../../../support/database/changed-rows.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../../support/database/database.ts";
import { recordAddress } from "../../../../support/database/deposit-rows.ts";
import { objectId, projectWith } from "../../../../support/database/rows.ts";
import {
  insertCoin,
  insertDeposit,
  type TestCoin,
  type TestDeposit,
} from "../../../../support/sweep-rows.ts";

const [SUI, IKA] = ["0x2::sui::SUI", "0xabc::ika::IKA"];
const NETWORK = "localnet";
let database: Database;
let projectId: string;
let address: string;
let other: string;

beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(async () => {
  for (const table of ["deposit_coin", "sweep", "deposit", "deposit_address"])
    await database.query(`DELETE FROM ${table}`, []);
  projectId = await projectWith(database, 0n);
  [address, other] = [objectId(), objectId()];
  await recordAddress(database, { projectId, address, reference: "user-1" });
  await recordAddress(database, { projectId, address: other, reference: "user-2" });
});

it("a deposit address is found on its network alone", async () => {
  const found = { address, projectId, reference: "user-1" };
  expect(await findSweptAddress(database, NETWORK, address)).toEqual(found);
  expect(await findSweptAddress(database, "testnet", address)).toBeUndefined();
  expect(await findSweptAddress(database, NETWORK, objectId())).toBeUndefined();
});

it("a coin is found in its version on its network alone", async () => {
  const depositId = await deposit();
  const found = await coin(depositId, { amount: 5n });
  expect(await findDepositCoin(database, NETWORK, found)).toEqual({
    ...{ depositId, coinType: SUI, sweepId: null, amount: "5" },
  });
  expect(await findDepositCoin(database, "testnet", found)).toBeUndefined();
  expect(await findDepositCoin(database, NETWORK, { ...found, version: "2" })).toBeUndefined();
  expect(await findDepositCoin(database, NETWORK, { ...found, objectId: objectId() })).toBeUndefined();
});

it("a moved coin is added to its own deposit, and only once", async () => {
  const digest = objectId();
  const depositId = await deposit({ digest });
  await deposit({ digest, network: "testnet" });
  await deposit({ digest, owner: other });
  await deposit({ digest, coinType: IKA });
  await deposit();
  const moved = {
    ...{ objectId: objectId(), version: "3", digest: "d", depositDigest: digest, address },
    ...{ coinType: SUI, amount: 7n },
  };
  const insert = (change: object = {}) => insertMovedCoin(database, NETWORK, { ...moved, ...change });
  for (const change of [{ depositDigest: objectId() }, { address: objectId() }, { coinType: "0x1::c::C" }])
    expect(await changes(() => insert(change))).toEqual({});
  expect(await changes(() => insertMovedCoin(database, "mainnet", moved))).toEqual({});
  await insert();
  expect(await changes(() => insert({ amount: 8n }))).toEqual({});
  expect(await findDepositCoin(database, NETWORK, moved)).toEqual({
    ...{ depositId, coinType: SUI, sweepId: null, amount: "7" },
  });
  expect(await database.query("SELECT 1 FROM deposit_coin")).toHaveLength(1);
});

describe("a lost sweep", () => {
  it("takes the coins that it moved, each in its version, and is audited", async () => {
    const depositId = await deposit();
    const moved = [await coin(depositId, { version: "1" }), await coin(depositId, { version: "2" })];
    // The versions of the two coins the other way round, and the same coin on another network.
    await coin(depositId, { ...moved[0], version: "2" });
    await coin(depositId, { ...moved[1], version: "1" });
    await coin(depositId, { ...moved[0], network: "testnet" });
    const sentAt = new Date("2026-01-02T03:04:05Z");
    let id = "";
    const changed = await changes(async () => {
      id = await insertLostSweep(database, lost({ moved, sentAt, amount: 9n, coinCount: 2 }));
    });
    expect(changed).toEqual({
      sweep: { [id]: ["new"] },
      deposit_coin: Object.fromEntries(
        moved.map(({ objectId, version }) => [`${NETWORK} ${objectId} ${version}`, ["sweep_id"]]),
      ),
    });
    expect((await findDepositCoin(database, NETWORK, moved[0]!))?.sweepId).toBe(id);
    const [row] = await database.query(
      `SELECT network, address, coin_type, amount::text, coin_count, state, created_at FROM sweep WHERE id = $1`,
      [id],
    );
    expect(row).toEqual({
      ...{ network: NETWORK, address, coin_type: SUI, amount: "9", coin_count: 2, state: "queued" },
      created_at: sentAt,
    });
    const audited = await database.query("SELECT action, project_id FROM audit_event WHERE subject = $1", [
      id,
    ]);
    expect(audited).toEqual([{ action: "sweep.rebuild", project_id: projectId }]);
  });

  it("takes the oldest parts of the address balance, as far as its withdrawal covers them", async () => {
    const parts: TestCoin[] = [];
    for (const amount of [4n, 3n, 2n]) parts.push(await coin(await deposit(), { amount, isBalance: true }));
    await coin(await deposit(), { amount: 1n });
    await coin(await deposit({ owner: other }), { amount: 1n, isBalance: true });
    await coin(await deposit({ coinType: IKA }), { amount: 1n, isBalance: true, coinType: IKA });
    expect(
      (await changes(() => insertLostSweep(database, lost({ funds: 0n }))))["deposit_coin"],
    ).toBeUndefined();
    const first = await changes(() => insertLostSweep(database, lost({ funds: 7n })));
    expect(Object.keys(first["deposit_coin"]!).sort()).toEqual(parts.slice(0, 2).map(keyOf).sort());
    // The next sweep takes the parts that are left.
    const second = await changes(() => insertLostSweep(database, lost({ funds: 100n })));
    expect(Object.keys(second["deposit_coin"]!)).toEqual(parts.slice(2).map(keyOf));
  });

  it("was made now if the chain does not say when", async () => {
    const id = await insertLostSweep(database, lost({ sentAt: null }));
    expect(
      await database.query("SELECT 1 FROM sweep WHERE id = $1 AND created_at > now() - interval '1 minute'", [
        id,
      ]),
    ).toHaveLength(1);
  });
});

describe("a queued withdrawal", () => {
  const find = (change: object = {}) =>
    findQueuedWithdrawal(database, { address, coinType: SUI, funds: 6n, ...change });
  /** Queues a sweep of two parts of an address balance. */
  async function queue(amounts: readonly bigint[] = [2n, 4n], change: Partial<TestDeposit> = {}) {
    const owner = change.owner ?? address;
    const coinType = change.coinType ?? SUI;
    const id = await insertLostSweep(
      database,
      lost({ swept: { ...lost().swept, address: owner }, coinType }),
    );
    for (const amount of amounts)
      await coin(await deposit(change), { amount, coinType, isBalance: true, sweepId: id });
    return id;
  }

  it("is the oldest one of exactly this amount of this address and coin", async () => {
    await queue([2n, 3n]);
    const found = await queue();
    const later = await queue([6n]);
    await queue([6n], { owner: other });
    await queue([6n], { coinType: IKA });
    expect(await find()).toBe(found);
    expect(await find({ funds: 7n })).toBeUndefined();
    expect(await find({ address: objectId() })).toBeUndefined();
    await database.query("UPDATE sweep SET state = 'landed', tx_digest = 'd' WHERE id = $1", [found]);
    expect(await find()).toBe(later);
  });

  it("is none that also moves coins", async () => {
    const id = await queue([6n]);
    await coin(await deposit(), { amount: 0n, sweepId: id });
    expect(await find()).toBeUndefined();
  });
});

const changes = (action: () => Promise<unknown>) => changedRows(database, ["deposit_coin", "sweep"], action);

const keyOf = ({ objectId, version }: TestCoin) => `${NETWORK} ${objectId} ${version}`;

/** A sweep of the address that moved no coin, unless the test says which. */
function lost(change: Partial<LostSweep> = {}): LostSweep {
  return {
    ...{ network: NETWORK, swept: { address, projectId, reference: "user-1" }, coinType: SUI },
    ...{ destination: objectId(), amount: 1n, coinCount: 1, moved: [], funds: 0n, sentAt: new Date() },
    ...change,
  };
}

const deposit = (change: Partial<TestDeposit> = {}) =>
  insertDeposit(database, { projectId, owner: address, ...change });
const coin = (depositId: string, change: Parameters<typeof insertCoin>[2] = {}) =>
  insertCoin(database, depositId, change);
