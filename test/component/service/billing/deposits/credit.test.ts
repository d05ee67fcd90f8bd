import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Billing, Deposit_State as State } from "../../../../../gen/proto/tss/v1/billing_pb.ts";
import { createBillingService } from "../../../../../src/service/billing/billing-service.ts";
import { depositAddress } from "../../../../../src/service/billing/deposits/deposit-address.ts";
import type { Deposits } from "../../../../../src/service/billing/deposits/deposits.ts";
import { scanAddress } from "../../../../../src/service/billing/deposits/scan-address.ts";
import {
  createDepositWatcher,
  createWaitingCredit,
} from "../../../../../src/service/billing/deposits/watch-deposits.ts";
import { verifyLedger } from "../../../../../src/service/ledger/verify-ledger.ts";
import { createLocalSignals } from "../../../../../src/service/platform/coordination/local-coordination.ts";
import { systemClock } from "../../../../../src/service/platform/lifecycle/clock.ts";
import type { Database } from "../../../../../src/service/platform/store/database.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../../support/database/database.ts";
import {
  type FakePayments,
  fakePayments,
  IKA,
  SUI,
  type TestPrices,
  testDeposits,
} from "../../../../support/database/deposits.ts";
import { flatPrices } from "../../../../support/database/prices.ts";
import { moneyOf, projectWith, TEST_ORIGIN } from "../../../../support/database/rows.ts";
import { clientOf, refusalOf } from "../../../../support/service/service-client.ts";
import { silentLog } from "../../../../support/silent-log.ts";

let database: Database;
let chain: FakePayments;
let prices: TestPrices;
let deposits: Deposits;
let projectId: string;
let address: string;
let billing: ReturnType<typeof clientOf<typeof Billing>>;

beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(async () => {
  prices = { SUI: "3.5", IKA: "0.02" };
  chain = fakePayments();
  deposits = testDeposits(database, prices, { reader: chain });
  projectId = await projectWith(database, 0n);
  address = await depositAddress(deposits, { projectId, reference: "" });
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

const scan = () => scanAddress(deposits, { address, projectId });
const balance = async () => (await moneyOf(database, projectId)).balance;

describe("a deposit", () => {
  it("is credited once at the current price, and shows the price, its value and its ledger entry", async () => {
    const txDigest = chain.pay(address, [SUI, 2_000_000_001n], [IKA, 100_000_000_000n]);
    await scan();
    prices.SUI = "7";
    await scan();
    expect(await moneyOf(database, projectId)).toEqual({ balance: 9_000_000n, held: 0n, differences: [] });
    const { deposits: listed } = await billing.listDeposits({});
    expect(listed).toHaveLength(2);
    expect(listed.find(({ coinType }) => coinType === SUI.coinType)).toMatchObject({
      state: State.credited,
      txDigest,
      amount: "2000000001",
      credit: {
        priceUsd: "3.5",
        valueMicroUsd: 7_000_000n,
        ledgerEntryId: `deposit:localnet:${txDigest}:${address}:${SUI.coinType}`,
      },
      swept: false,
    });
    const { ledgerEntries } = await billing.listLedgerEntries({});
    expect(ledgerEntries.map(({ amountMicroUsd }) => amountMicroUsd).sort()).toEqual([
      2_000_000n,
      7_000_000n,
    ]);
    const audited = await database.query(
      "SELECT 1 FROM audit_event WHERE project_id = $1 AND action = 'deposit.credit'",
      [projectId],
    );
    expect(audited).toHaveLength(2);
  });

  it("below the minimum waits, is listed, and is credited once the sum of deposits reaches it", async () => {
    chain.pay(address, [SUI, 100_000_000n]);
    await scan();
    expect(await balance()).toBe(0n);
    expect(await billing.getDepositAddress({})).toMatchObject({
      minimumDepositMicroUsd: 1_000_000n,
      waitingMicroUsd: 350_000n,
    });
    chain.pay(address, [IKA, 32_499_999_999n]);
    await scan();
    expect(await balance()).toBe(0n);
    chain.pay(address, [IKA, 50_000n]);
    await scan();
    expect((await billing.listDeposits({ state: State.waiting })).deposits).toEqual([]);
    // 0.35, then 0.649999 and 0.000001: each value is rounded down separately.
    expect(await moneyOf(database, projectId)).toEqual({ balance: 1_000_000n, held: 0n, differences: [] });
  });

  it("waits while its coin has no fresh price, and does not hold up others", async () => {
    prices.SUI = undefined;
    const txDigest = chain.pay(address, [SUI, 1_000_000_000n], [IKA, 100_000_000_000n]);
    expect(await refusalOf(billing.declareDeposit({ txDigest }))).toBe("PRICE_FEED_STALE");
    expect(await balance()).toBe(2_000_000n);
    expect((await billing.getDepositAddress({})).coins[0]?.priceUsd).toBeUndefined();
    prices.SUI = "4";
    await scan();
    expect(await balance()).toBe(6_000_000n);
  });

  it("is credited within seconds of a fresh price, without a read of the chain, and not below the minimum", async () => {
    const poor = await projectWith(database, 0n);
    const poorAddress = await depositAddress(deposits, { projectId: poor, reference: "" });
    prices.SUI = undefined;
    chain.pay(address, [SUI, 1_000_000_000n]);
    chain.pay(poorAddress, [SUI, 1_000n]);
    await scan();
    await scanAddress(deposits, { address: poorAddress, projectId: poor });
    prices.SUI = "3.5";
    chain.ownedCoins = () => Promise.reject(new Error("read the chain"));
    let tell: (fields: object) => void = () => {};
    const credited = new Promise<object>((resolve) => {
      tell = resolve;
    });
    const loop = createWaitingCredit(deposits, { clock: systemClock, log: { ...silentLog, info: tell } });
    loop.start();
    expect(await credited).toEqual({ projectId, creditedCount: 1 });
    await loop.stop();
    expect(await moneyOf(database, projectId)).toMatchObject({ balance: 3_500_000n, differences: [] });
    expect((await moneyOf(database, poor)).balance).toBe(0n);
  });

  it("is found although another network has a coin of the same id and version", async () => {
    const txDigest = chain.pay(address, [SUI, 1_000_000_000n]);
    const { coins } = await chain.ownedCoins(address, SUI.coinType);
    await database.query(
      `WITH abroad AS (
         INSERT INTO deposit (id, project_id, network, address, tx_digest, coin_type, amount)
         VALUES (gen_random_uuid(), $1, 'testnet', $2, $3, $4, 1) RETURNING id
       )
       INSERT INTO deposit_coin (network, object_id, version, digest, coin_type, amount, deposit_id)
       SELECT 'testnet', $5, $6, 'digest', $4, 1, id FROM abroad`,
      [projectId, address, txDigest, SUI.coinType, coins[0]!.objectId, coins[0]!.version],
    );
    expect(await scan()).toMatchObject({ foundCount: 1, creditedCount: 1 });
    expect(await scan()).toMatchObject({ foundCount: 0, creditedCount: 0 });
    expect(await balance()).toBe(3_500_000n);
  });

  it("of a cheap coin is valued exactly, to the last digit of its price", async () => {
    prices.IKA = "0.000000000123";
    deposits = { ...deposits, minimumMicroUsd: 0n };
    chain.pay(address, [IKA, 18_000_000_000_000_000_000n]);
    await scan();
    expect(await balance()).toBe(2_214_000n);
  });
});

describe("a declaration", () => {
  it("credits at once, and a repeat returns the same", async () => {
    const txDigest = chain.pay(address, [SUI, 1_000_000_000n]);
    const first = await billing.declareDeposit({ txDigest });
    prices.SUI = "1";
    expect(await billing.declareDeposit({ txDigest })).toEqual(first);
    expect(await balance()).toBe(3_500_000n);
  });

  it("lists the deposits of its transaction in the order of their ids", async () => {
    const txDigest = chain.pay(address, [SUI, 1_000_000_000n], [IKA, 1n]);
    await billing.declareDeposit({ txDigest });
    // Rows that change move in the table.
    await database.query(
      "UPDATE deposit SET created_at = created_at WHERE id = (SELECT min(id::text)::uuid FROM deposit WHERE tx_digest = $1)",
      [txDigest],
    );
    const ids = (await billing.declareDeposit({ txDigest })).deposits.map(({ depositId }) => depositId);
    expect(ids).toHaveLength(2);
    expect(ids).toEqual([...ids].sort());
  });

  it("is refused for a transaction that paid no deposit address or that the fullnode does not know yet", async () => {
    const txDigest = chain.pay(address.replace(/.$/, "z"), [SUI, 1n]);
    expect(await refusalOf(billing.declareDeposit({ txDigest }))).toBe("DEPOSIT_NOT_FOUND");
    chain.knowsTransactions = false;
    const late = chain.pay(address, [SUI, 1_000_000_000n]);
    expect(await refusalOf(billing.declareDeposit({ txDigest: late }))).toBe("DEPOSIT_NOT_FOUND");
    expect(await refusalOf(billing.declareDeposit({ txDigest: "0x12" }))).toBe("VALIDATION");
    chain.knowsTransactions = true;
    await scan();
    expect(await balance()).toBe(3_500_000n);
  });

  it("is refused for another project's deposit and credits nobody", async () => {
    const other = await projectWith(database, 0n);
    const txDigest = chain.pay(await depositAddress(deposits, { projectId: other, reference: "" }), [
      SUI,
      1_000_000_000n,
    ]);
    expect(await refusalOf(billing.declareDeposit({ txDigest }))).toBe("DEPOSIT_TAKEN");
    expect(await balance()).toBe(0n);
  });
});

describe("the list of deposits", () => {
  it("comes in pages, the newest first, with or without a filter by state", async () => {
    for (let count = 0; count < 3; count++) {
      chain.pay(address, [SUI, 1_000_000_000n]);
      await scan();
    }
    chain.pay(address, [IKA, 1n]);
    await scan();
    const whole = (await billing.listDeposits({})).deposits.map(({ depositId }) => depositId);
    expect(whole).toHaveLength(4);
    expect(whole).toEqual([...whole].sort().reverse());
    const first = await billing.listDeposits({ state: State.credited, pageSize: 2 });
    const pageToken = first.nextPageToken;
    const second = await billing.listDeposits({ state: State.credited, pageSize: 2, pageToken });
    expect([...first.deposits, ...second.deposits].map(({ depositId }) => depositId)).toEqual(whole.slice(1));
    expect(await refusalOf(billing.listDeposits({ pageToken }))).toBe("VALIDATION");
  });
});

describe("the recomputation of the ledger", () => {
  it("names a deposit whose entry has another amount, and an entry without a deposit", async () => {
    chain.pay(address, [SUI, 1_000_000_000n]);
    await scan();
    const [row] = await database.query<{ id: string }>("SELECT id FROM deposit WHERE project_id = $1", [
      projectId,
    ]);
    await database.query("UPDATE deposit SET value_micro_usd = 1 WHERE id = $1", [row!.id]);
    await database.query(
      `INSERT INTO ledger_entry (project_id, amount_micro_usd, kind, key, description)
       VALUES ($1, 5, 'deposit', 'deposit:none', '')`,
      [projectId],
    );
    await database.query("UPDATE project SET balance_micro_usd = balance_micro_usd + 5 WHERE id = $1", [
      projectId,
    ]);
    expect(await verifyLedger(database)).toEqual([
      { kind: "deposit", subject: row!.id, expected: 1n, actual: 3_500_000n },
      { kind: "orphan", subject: "deposit:none", expected: 0n, actual: 5n },
    ]);
  });
});

describe("scanning an address", () => {
  it("ignores coins whose transactions paid nothing", async () => {
    for (let count = 0; count < 101; count++) chain.pay(address, [SUI, 1n], [IKA, 0n]);
    const paid = chain.payments;
    chain.payments = async (...call) => (await paid(...call))?.filter(({ amount }) => amount > 0n);
    expect(await scan()).toMatchObject({ foundCount: 100, hasMore: true });
    expect(await scan()).toMatchObject({ foundCount: 1 });
    expect(await scan()).toMatchObject({ foundCount: 0, hasMore: false });
  });

  it("reads the coins in the order in which the fullnode lists them", async () => {
    const paid = Array.from({ length: 150 }, () => chain.pay(address, [SUI, 1n]));
    await scan();
    const found = await database.query<{ digest: string }>(
      "SELECT tx_digest AS digest FROM deposit WHERE project_id = $1",
      [projectId],
    );
    expect(found.map(({ digest }) => digest).sort()).toEqual(paid.slice(0, 100).sort());
  });

  it("does not delay other addresses when the answer is slow", async () => {
    const other = await projectWith(database, 0n);
    const otherAddress = await depositAddress(deposits, { projectId: other, reference: "" });
    chain.pay(address, [SUI, 1_000_000_000n]);
    chain.pay(otherAddress, [SUI, 1_000_000_000n]);
    await database.query("UPDATE deposit_address SET due_at = now() + interval '1 day'", []);
    await database.query(
      "UPDATE deposit_address SET due_at = now() - CASE address WHEN $1 THEN interval '2 s' ELSE interval '1 s' END WHERE address IN ($1, $2)",
      [address, otherAddress],
    );
    const { ownedCoins } = chain;
    let answer: () => void = () => {};
    const credited = new Promise<void>((resolve) => {
      answer = resolve;
    });
    chain.ownedCoins = async (owner, ...rest) => {
      if (owner === address) await credited;
      return ownedCoins(owner, ...rest);
    };
    const watcher = createDepositWatcher(deposits, {
      clock: systemClock,
      signals: createLocalSignals(),
      pollMs: 1_000,
      log: {
        ...silentLog,
        info: (fields) => "projectId" in fields && fields.projectId === other && answer(),
      },
    });
    watcher.start();
    await credited;
    await watcher.stop();
    expect((await moneyOf(database, other)).balance).toBe(3_500_000n);
  });
});
