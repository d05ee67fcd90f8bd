/** Which coins a sweep takes, among coins of other addresses, types, states and networks. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  countUnsweptCoins,
  type QueueSweepsOptions,
  queueSweeps,
} from "../../../../../src/service/billing/sweeps/queue-sweeps.ts";
import { type Database, newId } from "../../../../../src/service/platform/store/database.ts";
import { changedRows } from "../../../../support/database/changed-rows.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../../support/database/database.ts";
import { recordAddress } from "../../../../support/database/deposit-rows.ts";
import { objectId, projectWith } from "../../../../support/database/rows.ts";

const [SUI, IKA] = ["0x2::sui::SUI", "0xabc::ika::IKA"];
const MIN = 100n;
let database: Database;
let projectId: string;
let errors: unknown[];
const destination = objectId();

beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(async () => {
  for (const table of ["deposit_coin", "sweep", "deposit", "deposit_address"])
    await database.query(`DELETE FROM ${table}`, []);
  projectId = await projectWith(database, 0n);
  errors = [];
});

describe("a sweep", () => {
  it("takes the free credited coins of one address, type and network", async () => {
    const [own, other] = [await address(), await address()];
    const taken = [await coin(own, SUI, 60n), await coin(own, SUI, 40n)].sort();
    await coin(other, SUI, 99n);
    await coin(own, IKA, 99n);
    await coin(own, SUI, 500n, { network: "testnet" });
    await coin(own, SUI, 500n, { state: "waiting" });
    const swept = await coin(own, SUI, 500n);
    const earlier = await sweep(own, "landed");
    await database.query("UPDATE deposit_coin SET sweep_id = $1 WHERE object_id = $2", [earlier, swept]);
    const changed = await changedRows(database, ["deposit_coin", "sweep"], () => queueAll(1));
    expect(
      Object.keys(changed["deposit_coin"]!)
        .map((key) => key.split(" ")[1])
        .sort(),
    ).toEqual(taken);
    const [made, ...others] = Object.keys(changed["sweep"]!);
    expect(others).toEqual([]);
    const [row] = await database.query("SELECT address, coin_type, amount::text FROM sweep WHERE id = $1", [
      made,
    ]);
    expect(row).toEqual({ address: own, coin_type: SUI, amount: "100" });
    const queued = await database.query("SELECT kind FROM chain_operation WHERE subject_id = $1", [made]);
    expect(queued).toEqual([{ kind: "sweep" }]);
    await queueAll(0);
  });

  it("is worth the minimum, to the micro-USD, and moves something", async () => {
    const [own, emptied] = [await address(), await address()];
    await coin(own, SUI, 60n);
    await coin(own, SUI, 39n);
    await coin(emptied, SUI, 0n, { value: 200n });
    await queueAll(0);
    await coin(own, SUI, 1n);
    await queueAll(1);
  });

  it("takes the most valuable coins first, and the others with the next one", async () => {
    const own = await address();
    const values = [110n, 300n, 105n, 200n, 50n];
    for (const value of values) await coin(own, SUI, value);
    await queueAll(2, { maxCoinCount: 2 });
    const sweeps = await database.query("SELECT amount::text FROM sweep ORDER BY id");
    expect(sweeps).toEqual([{ amount: "500" }, { amount: "215" }]);
    expect(await countUnsweptCoins(database, "localnet", { destination, minValueMicroUsd: MIN })).toEqual({
      toSweepCount: 0,
      leftCount: 1,
    });
  });

  it("reaches the addresses of every page, in order, and skips those without a signer", async () => {
    for (let count = 0; count < 101; count++) await coin(await address(), SUI, MIN);
    const broken = await address();
    await coin(broken, SUI, MIN);
    await queueAll(101, {
      signerOf: ((of: { address: string }) =>
        of.address === broken ? signer(objectId()) : signer(of.address)) as never,
    });
    expect(errors).toHaveLength(1);
    const rows = await database.query<{ address: string }>("SELECT address FROM sweep ORDER BY id");
    const addresses = rows.map((row) => row.address);
    expect(addresses).toEqual([...addresses].sort());
    expect(addresses).not.toContain(broken);
  });

  it("does not go to a deposit address", async () => {
    const own = await address();
    await coin(own, SUI, MIN);
    await queueAll(0, { destination: own });
    expect(errors).toHaveLength(1);
  });
});

describe("the count of unswept coins", () => {
  it("is by address and type, with the refused sweeps of the network", async () => {
    const own = await address();
    await coin(own, SUI, 60n);
    await coin(own, SUI, 40n);
    await coin(own, IKA, 99n);
    await coin(own, IKA, 0n, { value: 5n });
    await coin(await address(), SUI, 99n);
    await coin(own, SUI, 500n, { network: "testnet" });
    const count = (more: { destination?: string | undefined } = {}) =>
      countUnsweptCoins(database, "localnet", { destination, minValueMicroUsd: MIN, ...more });
    expect(await count()).toEqual({ toSweepCount: 2, leftCount: 2 });
    expect(await count({ destination: undefined })).toEqual({ toSweepCount: 0, leftCount: 4 });
    await sweep(own, "refused");
    await sweep(own, "landed");
    await sweep(own, "refused", "testnet");
    expect(await count()).toEqual({ toSweepCount: 5, leftCount: 2 });
  });

  it("takes no more coins than one sweep can", async () => {
    const own = await address();
    for (let index = 0; index < 101; index++) await coin(own, SUI, 1n);
    const count = (minValueMicroUsd: bigint) =>
      countUnsweptCoins(database, "localnet", { destination, minValueMicroUsd });
    expect(await count(100n)).toEqual({ toSweepCount: 101, leftCount: 0 });
    expect(await count(101n)).toEqual({ toSweepCount: 0, leftCount: 101 });
  });
});

async function queueAll(expectedCount: number, more: Partial<QueueSweepsOptions> = {}): Promise<void> {
  const count = await queueSweeps({
    database,
    network: "localnet",
    destination,
    minValueMicroUsd: MIN,
    maxCoinCount: 100,
    signerOf: (of: { readonly address: string }) => signer(of.address) as never,
    log: { info() {}, error: (...said: unknown[]) => void errors.push(said) },
    ...more,
  } as QueueSweepsOptions);
  expect(count).toBe(expectedCount);
}

/** A signer of an address. */
function signer(of: string) {
  return { toSuiAddress: () => of };
}

async function address(): Promise<string> {
  const made = objectId();
  await recordAddress(database, { projectId, address: made, reference: made });
  return made;
}

/** Inserts a deposit of one coin, by default worth a micro-USD for each unit. Returns the coin's object id. */
async function coin(
  owner: string,
  coinType: string,
  amount: bigint,
  { network = "localnet", state = "credited", value = amount } = {},
): Promise<string> {
  const [id, object, digest] = [newId(), objectId(), objectId()];
  const isCredited = state === "credited";
  // A coin of 0 units stands for one that another transaction has emptied.
  await database.query(
    `INSERT INTO deposit (id, project_id, network, address, tx_digest, coin_type, amount, state, price_pico_usd,
                          value_micro_usd, ledger_key, credited_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7::numeric, $8, $9, $10, $11, $12)`,
    [id, projectId, network, owner, digest, coinType, String(amount === 0n ? 1n : amount), state].concat(
      isCredited ? ["1", String(value), id, new Date().toISOString()] : ([null, null, null, null] as never),
    ),
  );
  await database.query(
    `INSERT INTO deposit_coin (network, object_id, version, digest, coin_type, amount, deposit_id)
     VALUES ($1, $2, '1', 'd', $3, $4::numeric, $5)`,
    [network, object, coinType, String(amount), id],
  );
  return object;
}

/** Inserts a sweep of three coins. */
async function sweep(owner: string, state: string, network = "localnet"): Promise<string> {
  const id = newId();
  await database.query(
    `INSERT INTO sweep (id, network, address, coin_type, destination, amount, coin_count, state, tx_digest,
                        failure_reason, failure_message)
     VALUES ($1, $2, $3, $4, $5, 1, 3, $6, $7, $8, $9)`,
    [
      id,
      network,
      owner,
      SUI,
      destination,
      state,
      ...(state === "landed" ? ["digest", null, null] : [null, "x", "y"]),
    ],
  );
  return id;
}
