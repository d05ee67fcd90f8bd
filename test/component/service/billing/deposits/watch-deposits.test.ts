/** When the watcher of deposits scans an address again, and how long it rests. */
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { createDepositWatcher } from "../../../../../src/service/billing/deposits/watch-deposits.ts";
import { createLocalSignals } from "../../../../../src/service/platform/coordination/local-coordination.ts";
import { topics } from "../../../../../src/service/platform/coordination/topics.ts";
import type { Database } from "../../../../../src/service/platform/store/database.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../../support/database/database.ts";
import { recordQuietAddress } from "../../../../support/database/deposit-rows.ts";
import { quietAddresses } from "../../../../support/database/deposit-watch.ts";
import { type FakePayments, fakePayments, SUI, testDeposits } from "../../../../support/database/deposits.ts";
import { projectWith } from "../../../../support/database/rows.ts";
import { createPauseClock } from "../../../../support/pause-clock.ts";
import { silentLog } from "../../../../support/silent-log.ts";

const POLL_MS = 3_600_000;
let database: Database;
let chain: FakePayments;
let projectId: string;
let address: string;

beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(async () => {
  for (const table of [
    "deposit_coin",
    "deposit",
    "address_balance_mark",
    "checkpoint_follower",
    "deposit_address",
  ])
    await database.query(`DELETE FROM ${table}`);
  chain = fakePayments();
  projectId = await projectWith(database, 0n);
  address = await recordQuietAddress(database, projectId);
});

it("rests while no address is due, or while there is none", async () => {
  expect(await pauseAfterPass()).toBe(30_000);
  await database.query(
    "UPDATE deposit_address SET network = 'testnet', due_at = date_trunc('milliseconds', now())",
  );
  expect(await pauseAfterPass()).toBe(30_000);
});

it("rests no longer than until the next address is due", async () => {
  await database.query("UPDATE deposit_address SET due_at = now() + interval '9 seconds'");
  const pauseMs = await pauseAfterPass();
  expect(pauseMs).toBeLessThanOrEqual(9_000);
  expect(pauseMs).toBeGreaterThan(0);
});

it("looks again soon after it has scanned an address, which is then due after its interval", async () => {
  await dueNow();
  await database.query("UPDATE deposit_address SET wanted_at = now()");
  expect(await pauseAfterPass()).toBe(1_000);
  expect(await minutesToScan()).toBe(60);
});

it("scans an address again within the hour of a payment, unless checkpoints announce the next one", async () => {
  chain.pay(address, [SUI, 1n]);
  await dueNow();
  await pauseAfterPass();
  expect([await minutesToScan(), await isWanted()]).toEqual([60, true]);
  chain.pay(address, [SUI, 1n]);
  await quietAddresses(database);
  await database.query("INSERT INTO checkpoint_follower (network, is_following) VALUES ('localnet', true)");
  await dueNow();
  await pauseAfterPass();
  expect(await minutesToScan()).toBeGreaterThanOrEqual(60);
  expect(await isWanted()).toBe(false);
});

it("scans an address again at once that has more than one scan reads", async () => {
  let version = 120n;
  let scans = 0;
  chain.addressBalances = async (_, [coinType]) =>
    coinType === SUI.coinType ? [{ coinType, version: 120n, amount: 0n, settlement: "s" }] : [];
  chain.settlement = async () => {
    scans++;
    const previous = { version: --version, settlement: "s" };
    return { payments: [], previous: version === 0n ? undefined : previous };
  };
  await dueNow();
  await pauseAfterPass();
  expect(scans).toBe(120);
});

it("keeps an address due that a caller requested during its scan", async () => {
  const { ownedCoins } = chain;
  chain.ownedCoins = async (...args) => {
    await database.query("UPDATE deposit_address SET due_at = now() + interval '30 minutes'");
    return ownedCoins(...args);
  };
  await dueNow();
  await pauseAfterPass();
  expect(await minutesToScan()).toBe(30);
});

it("leaves a claimed address to its replica for a minute", async () => {
  let minutes: number | undefined;
  const { ownedCoins } = chain;
  chain.ownedCoins = async (...args) => {
    minutes ??= await minutesToScan();
    return ownedCoins(...args);
  };
  await dueNow();
  await pauseAfterPass();
  expect(minutes).toBe(1);
});

it("reports a balance that the known payments do not explain", async () => {
  chain.addressBalances = async (_, [coinType]) =>
    coinType === SUI.coinType ? [{ coinType, version: 1n, amount: 5n, settlement: "s" }] : [];
  chain.settlement = async () => ({ payments: [], previous: undefined });
  const errors: object[] = [];
  await dueNow();
  await pauseAfterPass({ error: (fields) => void errors.push(fields) });
  expect(errors).toEqual([{ projectId, address, coinTypes: [SUI.coinType] }]);
});

it("begins at once with an address that is announced while it rests", async () => {
  const signals = createLocalSignals();
  const { watcher, clock } = watcherOf({}, signals);
  let scan: () => void = () => {};
  const scanned = new Promise<void>((resolve) => {
    scan = resolve;
  });
  const { ownedCoins } = chain;
  chain.ownedCoins = (...args) => {
    scan();
    return ownedCoins(...args);
  };
  watcher.start();
  await clock.paused();
  await dueNow();
  signals.notify(topics.depositDue("localnet"));
  await scanned;
  await watcher.stop();
});

function watcherOf(
  log: { error?: (fields: object) => void } = {},
  signals: Pick<ReturnType<typeof createLocalSignals>, "subscribe"> = createLocalSignals(),
) {
  const clock = createPauseClock();
  const prices = { SUI: "3.5", IKA: undefined };
  const watcher = createDepositWatcher(testDeposits(database, prices, { reader: chain, coins: [SUI] }), {
    ...{ pollMs: POLL_MS, clock, log: { ...silentLog, ...log } },
    signals: {
      ...createLocalSignals(),
      subscribe: (...args) => signals.subscribe(...args),
      isComplete: () => true,
    },
  });
  return { watcher, clock };
}

/** Runs one pass. Returns the pause that follows. */
async function pauseAfterPass(log: { error?: (fields: object) => void } = {}): Promise<number> {
  const { watcher, clock } = watcherOf(log);
  watcher.start();
  const pauseMs = await clock.paused();
  await watcher.stop();
  return pauseMs;
}

function dueNow(): Promise<unknown> {
  return database.query("UPDATE deposit_address SET due_at = date_trunc('milliseconds', now())");
}

async function minutesToScan(): Promise<number> {
  const [row] = await database.query<{ seconds: number }>(
    "SELECT extract(epoch FROM due_at - now())::float8 AS seconds FROM deposit_address WHERE address = $1",
    [address],
  );
  return Math.round(row!.seconds / 60);
}

async function isWanted(): Promise<boolean> {
  const rows = await database.query(
    "SELECT 1 FROM deposit_address WHERE address = $1 AND wanted_at > now() - interval '1 minute'",
    [address],
  );
  return rows.length > 0;
}
