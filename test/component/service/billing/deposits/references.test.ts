import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Billing } from "../../../../../gen/proto/tss/v1/billing_pb.ts";
import { createBillingService } from "../../../../../src/service/billing/billing-service.ts";
import {
  depositAddress,
  makeRequestedAddress,
} from "../../../../../src/service/billing/deposits/deposit-address.ts";
import type { Deposits } from "../../../../../src/service/billing/deposits/deposits.ts";
import { createAddressMaker } from "../../../../../src/service/billing/deposits/request-address.ts";
import { scanAddress } from "../../../../../src/service/billing/deposits/scan-address.ts";
import { createDepositWatcher } from "../../../../../src/service/billing/deposits/watch-deposits.ts";
import { createLocalSignals } from "../../../../../src/service/platform/coordination/local-coordination.ts";
import { systemClock } from "../../../../../src/service/platform/lifecycle/clock.ts";
import type { Database } from "../../../../../src/service/platform/store/database.ts";
import { createUser, deleteUser } from "../../../../../src/service/users/users.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../../support/database/database.ts";
import { type FakePayments, fakePayments, SUI, testDeposits } from "../../../../support/database/deposits.ts";
import { flatPrices } from "../../../../support/database/prices.ts";
import { moneyOf, objectId, projectWith, TEST_ORIGIN } from "../../../../support/database/rows.ts";
import { clientOf, refusalOf } from "../../../../support/service/service-client.ts";
import { silentLog } from "../../../../support/silent-log.ts";
import { insertDeposit } from "../../../../support/sweep-rows.ts";

let database: Database;
let chain: FakePayments;
let deposits: Deposits;
let projectId: string;
let billing: ReturnType<typeof clientOf<typeof Billing>>;

beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(async () => {
  chain = fakePayments();
  deposits = testDeposits(database, { SUI: "3.5", IKA: "0.02" }, { reader: chain, maxReferences: 5 });
  projectId = await projectWith(database, 0n);
  billing = clientOf(
    Billing,
    createBillingService({
      database,
      signals: createLocalSignals(),
      clock: systemClock,
      prices: flatPrices(10n),
      deposits,
    }),
    () => ({
      kind: "project",
      projectId,
      apiKeyId: "key",
      network: "localnet",
      scopes: [],
      origin: TEST_ORIGIN,
    }),
  );
});

const ONE_SUI = 1_000_000_000n;
const addressOf = async (reference: string) => (await billing.getDepositAddress({ reference })).address;

describe("a reference", () => {
  it("has one address, which is not the project's own, another reference's or another project's", async () => {
    const own = await billing.getDepositAddress({});
    expect(own.reference).toBeUndefined();
    const first = await billing.getDepositAddress({ reference: "user-1" });
    expect(first.reference).toBe("user-1");
    expect(await addressOf("user-1")).toBe(first.address);
    const other = await projectWith(database, 0n);
    const addresses = [
      own.address,
      first.address,
      await addressOf("user-2"),
      await depositAddress(deposits, { projectId: other, reference: "user-1" }),
    ];
    expect(new Set(addresses).size).toBe(addresses.length);
  });

  it("has 1 to 128 printable ASCII characters", async () => {
    await addressOf(" ~".repeat(64));
    for (const reference of ["", "a".repeat(129), "a\n", "a\x7f", "a\0", "ü"]) {
      expect(await refusalOf(billing.getDepositAddress({ reference }))).toBe("VALIDATION");
    }
  });

  it("beyond the project's limit is refused, and the existing ones stay", async () => {
    const known: string[] = [];
    for (let count = 0; count < deposits.maxReferences; count++) known.push(await addressOf(`user-${count}`));
    expect(await refusalOf(billing.getDepositAddress({ reference: "one-more" }))).toBe(
      "TOO_MANY_DEPOSIT_REFERENCES",
    );
    expect(await addressOf("user-0")).toBe(known[0]);
    const rows = await billing.listDepositAddresses({});
    expect(rows.depositAddresses.map(({ reference }) => reference)).not.toContain("one-more");
  });
});

describe("a deposit to a reference", () => {
  it("is credited to the project once, and shown with the reference in the deposit and the ledger", async () => {
    const address = await addressOf("user-1");
    const txDigest = chain.pay(address, [SUI, ONE_SUI]);
    await scanAddress(deposits, { address, projectId });
    const declared = await billing.declareDeposit({ txDigest });
    await scanAddress(deposits, { address, projectId });
    expect(declared.deposits).toMatchObject([{ address, reference: "user-1" }]);
    expect(await moneyOf(database, projectId)).toMatchObject({ balance: 3_500_000n, differences: [] });
    const { ledgerEntries } = await billing.listLedgerEntries({});
    expect(ledgerEntries).toMatchObject([{ amountMicroUsd: 3_500_000n, depositReference: "user-1" }]);
  });

  it("is credited when the project declares it, together with those to its other addresses", async () => {
    const own = (await billing.getDepositAddress({})).address;
    const addresses = [await addressOf("a"), await addressOf("b")];
    const pays = fakePayments();
    const digests = [own, ...addresses].map((address) => pays.pay(address, [SUI, ONE_SUI]));
    const payments = await Promise.all(digests.map((digest) => pays.payments(digest, [])));
    chain.payments = async () => payments.flatMap((each) => each ?? []);
    const { deposits: declared } = await billing.declareDeposit({ txDigest: digests[0]! });
    expect(declared.map(({ address }) => address).sort()).toEqual([own, ...addresses].sort());
    expect(declared.map(({ reference }) => reference ?? "").sort()).toEqual(["", "a", "b"]);
    expect(await moneyOf(database, projectId)).toMatchObject({ balance: 10_500_000n, differences: [] });
  });

  it("counts only in the sums of its own reference", async () => {
    for (const [reference, count] of [
      ["a", 1],
      ["b", 2],
    ] as const) {
      const address = await addressOf(reference);
      for (let paid = 0; paid < count; paid++) chain.pay(address, [SUI, ONE_SUI]);
      await scanAddress(deposits, { address, projectId });
    }
    const { depositAddresses } = await billing.listDepositAddresses({});
    expect(depositAddresses).toMatchObject([
      { reference: "a", creditedCount: 1n, creditedMicroUsd: 3_500_000n, waitingCount: 0n },
      { reference: "b", creditedCount: 2n, creditedMicroUsd: 7_000_000n, waitingCount: 0n },
    ]);
    expect((await billing.listDeposits({})).deposits).toHaveLength(3);
    const { deposits: ofB } = await billing.listDeposits({ reference: "b" });
    expect(ofB.map(({ reference }) => reference)).toEqual(["b", "b"]);
    expect((await billing.listDeposits({ reference: "c" })).deposits).toEqual([]);
  });
});

describe("the list of deposits", () => {
  it("has the newest first, in whatever state, and the pages of one reference are not those of another", async () => {
    const address = await addressOf("a");
    const credited = async () => {
      chain.pay(address, [SUI, ONE_SUI]);
      await scanAddress(deposits, { address, projectId });
      const [newest] = (await billing.listDeposits({})).deposits;
      return newest!.depositId;
    };
    // No deposit of a coin without a price is credited.
    const waiting = () => insertDeposit(database, { projectId, owner: address, coinType: "0x9::x::X" });
    const ids: string[] = [];
    for (const make of [credited, waiting, waiting, waiting, credited]) ids.unshift(await make());
    const first = await billing.listDeposits({ reference: "a", pageSize: 2 });
    const page = { pageSize: 2, pageToken: first.nextPageToken };
    const second = await billing.listDeposits({ reference: "a", ...page });
    expect([first, second].map((list) => list.deposits.map(({ depositId }) => depositId))).toEqual([
      ids.slice(0, 2),
      ids.slice(2, 4),
    ]);
    for (const other of [{ reference: "b" }, { reference: "" }, {}])
      expect(await refusalOf(billing.listDeposits({ ...other, ...page }))).toBe("VALIDATION");
  });
});

describe("the list of deposit addresses", () => {
  it("shows its deposits on the project's own network alone", async () => {
    const address = await addressOf("user-1");
    const txDigest = chain.pay(address, [SUI, 1_000_000_000n]);
    await billing.declareDeposit({ txDigest });
    await database.query(
      `INSERT INTO deposit_address (address, project_id, network, reference, due_at)
       VALUES ($1, $2, 'testnet', 'user-1', 'infinity')`,
      [objectId(), projectId],
    );
    const { deposits: listed } = await billing.listDeposits({ reference: "user-1" });
    expect(listed.map((deposit) => deposit.txDigest)).toEqual([txDigest]);
  });

  it("comes in pages in the order of the references, and is searched by reference or prefix", async () => {
    for (const reference of ["b", "A:2", "A:10", "0:1", "A:~"]) await addressOf(reference);
    await depositAddress(deposits, { projectId: await projectWith(database, 0n), reference: "A:3" });
    const listed: string[] = [];
    for (let pageToken = "", isDone = false; !isDone; isDone = pageToken === "") {
      const page = await billing.listDepositAddresses({ pageSize: 2, pageToken });
      listed.push(...page.depositAddresses.map(({ reference }) => reference));
      pageToken = page.nextPageToken;
    }
    expect(listed).toEqual(["0:1", "A:10", "A:2", "A:~", "b"]);
    const found = async (filter: object) =>
      (await billing.listDepositAddresses(filter)).depositAddresses.map(({ reference }) => reference);
    expect(await found({ referencePrefix: "A:" })).toEqual(["A:10", "A:2", "A:~"]);
    expect(await found({ reference: "A:2" })).toEqual(["A:2"]);
    expect(await found({ reference: "A" })).toEqual([]);
    const first = await billing.listDepositAddresses({ pageSize: 1, referencePrefix: "A:" });
    expect(
      await refusalOf(billing.listDepositAddresses({ pageSize: 1, pageToken: first.nextPageToken })),
    ).toBe("VALIDATION");
  });
});

describe("the watcher", () => {
  /** Lets a watcher scan the address once, and returns the seconds until its next scan. */
  async function secondsToNext(address: string): Promise<number> {
    await database.query("UPDATE deposit_address SET due_at = 'infinity' WHERE address <> $1", [address]);
    await database.query("UPDATE deposit_address SET due_at = now() WHERE address = $1", [address]);
    const scanned = new Promise<void>((resolve) => {
      chain.ownedCoins = async () => {
        resolve();
        return { coins: [], cursor: undefined };
      };
    });
    const watcher = createDepositWatcher(deposits, {
      clock: systemClock,
      signals: createLocalSignals(),
      pollMs: 10_000,
      log: silentLog,
    });
    watcher.start();
    await scanned;
    await watcher.stop();
    const [row] = await database.query<{ seconds: number }>(
      "SELECT extract(epoch FROM due_at - now())::float8 AS seconds FROM deposit_address WHERE address = $1",
      [address],
    );
    return row!.seconds;
  }

  it("scans a quiet reference every two hours on average, and the project's own address at the normal pace", async () => {
    const [own, quiet] = [(await billing.getDepositAddress({})).address, await addressOf("user-1")];
    expect(await secondsToNext(quiet)).toBeLessThanOrEqual(10);
    await database.query("UPDATE deposit_address SET wanted_at = now() - interval '2 hours'", []);
    expect(await secondsToNext(own)).toBeLessThanOrEqual(100);
    const seconds = await secondsToNext(quiet);
    expect(seconds).toBeGreaterThan(3_500);
    expect(seconds).toBeLessThanOrEqual(10_800);
  });

  it("scans the project's quiet address as rarely while checkpoints announce payments", async () => {
    const own = (await billing.getDepositAddress({})).address;
    await database.query(
      "INSERT INTO checkpoint_follower (network, is_following) VALUES ('localnet', true), ('other', false)",
      [],
    );
    expect(await secondsToNext(own)).toBeLessThanOrEqual(10);
    await database.query("UPDATE deposit_address SET wanted_at = now() - interval '2 hours'", []);
    expect(await secondsToNext(own)).toBeGreaterThan(3_500);
    await database.query("UPDATE checkpoint_follower SET is_following = network = 'other'", []);
    expect(await secondsToNext(own)).toBeLessThanOrEqual(100);
    await database.query("DELETE FROM checkpoint_follower", []);
  });

  it("scans the references of a project with many of them no more often in total than fifty", async () => {
    const address = await addressOf("user-1");
    await database.query("UPDATE deposit_reference_count SET count = 100000 WHERE project_id = $1", [
      projectId,
    ]);
    expect(await secondsToNext(address)).toBeGreaterThan(19_000);
  });
});

it("a requested address ends the request of its own project, network and reference", async () => {
  const other = await projectWith(database, 0n);
  const requests = [
    [projectId, "localnet", "a"],
    [projectId, "testnet", "a"],
    [projectId, "localnet", "b"],
    [other, "localnet", "a"],
  ];
  for (const request of requests)
    await database.query(
      "INSERT INTO deposit_address_request (project_id, network, reference) VALUES ($1, $2, $3)",
      request,
    );
  await makeRequestedAddress(database, deposits, { projectId, reference: "a" });
  const left = await database.query<{ projectId: string; network: string; reference: string }>(
    'DELETE FROM deposit_address_request RETURNING project_id AS "projectId", network, reference',
  );
  expect(left.map((request) => Object.values(request))).toEqual(requests.slice(1));
});

it("a requested address is made although its user was deleted meanwhile, so that no request holds up the others", async () => {
  const caller = { projectId, origin: TEST_ORIGIN };
  await createUser(database, caller, "gone", 10);
  const request =
    "INSERT INTO deposit_address_request (project_id, network, reference) VALUES ($1, 'localnet', $2)";
  await database.query(request, [projectId, "gone"]);
  await deleteUser(database, caller, "gone");
  await makeRequestedAddress(database, deposits, { projectId, reference: "gone" });
  expect(await database.query("SELECT 1 FROM deposit_address_request WHERE reference = 'gone'")).toEqual([]);
});

describe("a process without the master seed", () => {
  it("gives out the addresses that a process with the seed makes, and stays within the project's limit", async () => {
    const signals = createLocalSignals();
    const options = { signals, clock: systemClock, log: silentLog };
    const newMaker = () =>
      createAddressMaker(deposits, options, (db, owner) => makeRequestedAddress(db, deposits, owner));
    const keyless = { ...deposits, masterSeed: undefined, requests: { ...options, waitMs: 60_000 } };
    const maker = newMaker();
    maker.start();
    const owners = ["", "user-1", "user-2", "user-1"].map((reference) => ({ projectId, reference }));
    const made = await Promise.all(owners.map((owner) => depositAddress(keyless, owner)));
    expect(made).toEqual(await Promise.all(owners.map((owner) => depositAddress(deposits, owner))));
    await maker.stop();
    // Nobody makes addresses now, and requests count like addresses.
    const waiting = { ...keyless, requests: { ...options, waitMs: 1 } };
    const ask = (reference: string) => refusalOf(depositAddress(waiting, { projectId, reference }));
    for (const reference of ["user-3", "user-4", "user-5", "user-3"])
      expect(await ask(reference)).toBe("DEPOSIT_ADDRESS_PENDING");
    expect(await ask("user-6")).toBe("TOO_MANY_DEPOSIT_REFERENCES");
    expect(await depositAddress(waiting, { projectId, reference: "user-2" })).toBe(made[2]);
    // Another network's makers answer this one.
    await database.query(
      "INSERT INTO deposit_address_request (project_id, network, reference) VALUES ($1, 'testnet', 'abroad')",
      [projectId],
    );
    const next = newMaker();
    next.start();
    const later = await depositAddress(keyless, { projectId, reference: "user-5" });
    expect(later).toBe(await depositAddress(deposits, { projectId, reference: "user-5" }));
    await next.stop();
    const [counted] = await database.query<{ count: number; requests: bigint }>(
      `SELECT count, (SELECT count(*) FROM deposit_address_request) AS requests
       FROM deposit_reference_count WHERE project_id = $1`,
      [projectId],
    );
    expect(counted).toEqual({ count: 5, requests: 1n });
  });

  it("has no address to give out if it cannot ask another process either", async () => {
    const alone = { ...deposits, masterSeed: undefined };
    await expect(depositAddress(alone, { projectId, reference: "user-7" })).rejects.toThrow("was not stored");
  });
});
