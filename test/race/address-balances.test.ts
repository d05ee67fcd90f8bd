/** Payments to address balances, which two replicas see at once or in parts, on a real PostgreSQL. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Localnet, startLocalnet } from "../../src/localnet/localnet.ts";
import { localnetHotWalletSecret } from "../../src/localnet/seed.ts";
import { declareDeposit } from "../../src/service/billing/deposits/declare-deposit.ts";
import { depositAddress } from "../../src/service/billing/deposits/deposit-address.ts";
import type { Deposits } from "../../src/service/billing/deposits/deposits.ts";
import { scanAddress } from "../../src/service/billing/deposits/scan-address.ts";
import type { BalanceSettlement } from "../../src/service/chain/address-balance-reader.ts";
import { createCheckpointReader } from "../../src/service/chain/checkpoint-reader.ts";
import { type ChainNetwork, connectNetwork } from "../../src/service/chain/fullnodes/network.ts";
import { createPaymentReader, type Payment } from "../../src/service/chain/payment-reader.ts";
import { systemClock } from "../../src/service/platform/lifecycle/clock.ts";
import { type Database, newId } from "../../src/service/platform/store/database.ts";
import { Secret } from "../../src/service/platform/telemetry/secret.ts";
import { quietAddresses, watchDeposits } from "../support/database/deposit-watch.ts";
import { fakePayments, fundedPayer, type Payer, SUI, testDeposits } from "../support/database/deposits.ts";
import { migratedDatabase } from "../support/database/postgres.ts";
import { moneyOf, projectWith, TEST_ORIGIN } from "../support/database/rows.ts";
import { openTestPool } from "../support/database/test-pool.ts";
import { createCheapMpc } from "../unit/localnet/cheap-mpc.ts";

const test = await migratedDatabase();
const RACING = { count: 8, because: "16 calls run at the same time, half of them on each replica" };
const pools: Database[] = [];
if (test !== undefined) {
  for (let pool = 0; pool < 2; pool++) pools.push(await openTestPool(test.url, { connections: RACING }));
}
afterAll(async () => {
  for (const pool of pools) await pool.close();
  await test?.drop();
});

const prices = { SUI: "3.5", IKA: undefined };
const ONE_SUI = 1_000_000_000n;
const ONE_SUI_MICRO_USD = 3_500_000n;

async function projectOf(deposits: Deposits) {
  const projectId = await projectWith(pools[0]!, 0n);
  return { projectId, address: await depositAddress(deposits, { projectId, reference: "" }) };
}

async function partsOf(address: string) {
  return pools[0]!.query<{ digest: string; amount: string; inBalance: boolean }>(
    `SELECT d.tx_digest AS digest, c.amount::text, c.in_address_balance AS "inBalance"
     FROM deposit_coin c JOIN deposit d ON d.id = c.deposit_id WHERE d.address = $1 ORDER BY d.id, c.in_address_balance`,
    [address],
  );
}

describe.skipIf(test === undefined)(
  "payments to an address balance on a localnet",
  { timeout: 60_000 },
  () => {
    let localnet: Localnet;
    let network: ChainNetwork;
    let payer: Payer;
    let replicas: Deposits[];

    beforeAll(async () => {
      localnet = await startLocalnet({ mpc: createCheapMpc() });
      const { url, ikaConfig, treasury } = localnet;
      network = await connectNetwork({
        name: "localnet",
        clock: systemClock,
        ikaConfig,
        treasury,
        fullnodeUrl: new Secret(url),
        hotWalletSecret: new Secret(localnetHotWalletSecret()),
      });
      payer = await fundedPayer(network.client, url, localnet.ikaCoinType);
      const reader = createPaymentReader(network);
      replicas = pools.map((pool) => testDeposits(pool, prices, { coins: [SUI], reader }));
    });
    afterAll(() => localnet.close());

    it("are credited once with the coins of the same transaction, even if they are declared and seen several times", async () => {
      const watched = await projectOf(replicas[0]!);
      const digests = [
        await payer.payFunds(watched.address, ONE_SUI),
        await payer.payFunds(watched.address, 2n * ONE_SUI, ONE_SUI),
      ];
      const declarer = { projectId: watched.projectId, origin: TEST_ORIGIN };
      await Promise.all(
        Array.from({ length: 16 }, (_, index) =>
          index % 4 === 0
            ? declareDeposit(replicas[index % 8 === 0 ? 0 : 1]!, declarer, digests[index % 8 === 0 ? 0 : 1]!)
            : scanAddress(replicas[index % 2]!, watched),
        ),
      );
      expect(await moneyOf(pools[0]!, watched.projectId)).toEqual({
        balance: 4n * ONE_SUI_MICRO_USD,
        held: 0n,
        differences: [],
      });
      expect(new Set((await partsOf(watched.address)).map((part) => JSON.stringify(part)))).toEqual(
        new Set(
          [
            { digest: digests[0]!, amount: String(ONE_SUI), inBalance: true },
            { digest: digests[1]!, amount: String(ONE_SUI), inBalance: false },
            { digest: digests[1]!, amount: String(2n * ONE_SUI), inBalance: true },
          ].map((part) => JSON.stringify(part)),
        ),
      );
      const { unexplained, foundCount } = await scanAddress(replicas[0]!, watched);
      expect([unexplained, foundCount]).toEqual([[], 0]);
    });

    it("are credited at a quiet address as soon as a checkpoint announces them", async () => {
      const { projectId, address } = await projectOf(replicas[0]!);
      await quietAddresses(pools[0]!);
      const watching = watchDeposits(replicas[0]!, createCheckpointReader(network, [SUI.coinType]));
      try {
        await watching.following();
        await payer.payFunds(address, ONE_SUI);
        await watching.credited(projectId);
      } finally {
        await watching.stop();
      }
      expect(await moneyOf(pools[0]!, projectId)).toMatchObject({
        balance: ONE_SUI_MICRO_USD,
        differences: [],
      });
    });

    it("wait while a lagging fullnode does not show them, and are credited when it does", async () => {
      const watched = await projectOf(replicas[0]!);
      await payer.payFunds(watched.address, ONE_SUI);
      await scanAddress(replicas[0]!, watched);
      const old = await replicas[0]!.reader.addressBalances(watched.address, [SUI.coinType]);
      await payer.payFunds(watched.address, ONE_SUI);
      await scanAddress(replicas[0]!, watched);
      // A replica of the provider that lags shows the older version, which changes nothing.
      const lagging = { ...replicas[1]!.reader, addressBalances: async () => old };
      await scanAddress({ ...replicas[1]!, reader: lagging }, watched);
      const fresh = await scanAddress(replicas[0]!, watched);
      expect(fresh).toMatchObject({ foundCount: 0, unexplained: [] });
      expect(await moneyOf(pools[0]!, watched.projectId)).toMatchObject({ balance: 2n * ONE_SUI_MICRO_USD });
    });
  },
);

describe.skipIf(test === undefined)("a long history of an address balance", { timeout: 60_000 }, () => {
  const COUNT = 120;
  const digestOf = (version: bigint | number) => `payment-${address}-${version}`;
  let address = "";
  let watched: { projectId: string; address: string };
  let deposits: Deposits;
  let newest: bigint;
  /** The number of calls until the process dies, or the fullnode lacks something. */
  let budget: number;
  let isForked: boolean;

  beforeEach(async () => {
    budget = Number.POSITIVE_INFINITY;
    isForked = false;
    newest = BigInt(COUNT);
    const reader = {
      ...fakePayments(),
      async addressBalances(_owner: string, coinTypes: readonly string[]) {
        const settlement = isForked ? "settlement-9999" : `settlement-${newest}`;
        const version = isForked ? 9_999n : newest;
        return coinTypes.map((coinType) => ({ coinType, version, amount: newest * ONE_SUI, settlement }));
      },
      async settlement(digest: string): Promise<BalanceSettlement | undefined> {
        if (budget-- <= 0) throw new Error("killed");
        const version = BigInt(digest.slice("settlement-".length));
        if (version === 9_999n) return { payments: [], previous: undefined };
        const previous = { version: version - 1n, settlement: `settlement-${version - 1n}` };
        return { payments: [digestOf(version)], previous: version === 1n ? undefined : previous };
      },
      async payments(): Promise<readonly Payment[]> {
        if (budget-- <= 0) throw new Error("killed");
        return [{ address, coinType: SUI.coinType, amount: ONE_SUI, funds: ONE_SUI, coins: [] }];
      },
    };
    deposits = testDeposits(pools[0]!, prices, { coins: [SUI], reader });
    watched = await projectOf(deposits);
    address = watched.address;
  });

  const scanAll = async (scanner = deposits) => {
    for (;;) {
      const scan = await scanAddress(scanner, watched);
      if (!scan.hasMore) return scan;
    }
  };
  const expectCredited = async (count: number) => {
    const { balance, differences } = await moneyOf(pools[0]!, watched.projectId);
    expect(differences).toEqual([]);
    expect(balance).toBe(BigInt(count) * ONE_SUI_MICRO_USD);
    expect(await partsOf(address)).toHaveLength(count);
  };

  it("is credited in several bounded scans, and then only its new part is read", async () => {
    const first = await scanAddress(deposits, watched);
    expect(first).toMatchObject({ foundCount: 50, hasMore: true });
    newest += 5n;
    expect(await scanAll()).toMatchObject({ unexplained: [] });
    await expectCredited(COUNT + 5);
    newest += 1n;
    budget = 2;
    await scanAll();
    await expectCredited(COUNT + 6);
  });

  it("is credited once, whichever step a scan dies at, and whatever other scans do meanwhile", async () => {
    for (let step = 0; step < 60; step += 7) {
      budget = step;
      await scanAddress(deposits, watched).catch((error: Error) => expect(error.message).toBe("killed"));
    }
    budget = Number.POSITIVE_INFINITY;
    const other = { ...deposits, database: pools[1]! };
    await Promise.all([scanAll(), scanAll(other), scanAll(), scanAll(other)]);
    await expectCredited(COUNT);
  });

  it("is found again after a fullnode has claimed a version that does not exist", async () => {
    isForked = true;
    await scanAll();
    isForked = false;
    await scanAll();
    await expectCredited(0);
    await pools[0]!.query("UPDATE address_balance_mark SET updated_at = now() - interval '1 hour'", []);
    await scanAll();
    await expectCredited(COUNT);
  });

  it("is reported if the balance still has what a landed sweep took", async () => {
    await scanAll();
    const sweepId = newId();
    await pools[0]!.query(
      `INSERT INTO sweep (id, network, address, coin_type, destination, amount, coin_count, state, tx_digest)
       VALUES ($1, 'localnet', $2, $3, $2, 1, 1, 'queued', NULL)`,
      [sweepId, address, SUI.coinType],
    );
    await pools[0]!.query(
      "UPDATE deposit_coin SET sweep_id = $1 WHERE deposit_id IN (SELECT id FROM deposit WHERE address = $2)",
      [sweepId, address],
    );
    newest += 1n;
    expect(await scanAll()).toMatchObject({ unexplained: [] });
    await pools[0]!.query("UPDATE sweep SET state = 'landed', tx_digest = 'x' WHERE id = $1", [sweepId]);
    newest += 1n;
    expect(await scanAll()).toMatchObject({ unexplained: [SUI.coinType] });
  });

  it("is reported as long as it does not explain the balance", async () => {
    isForked = true;
    expect(await scanAddress(deposits, watched)).toMatchObject({ unexplained: [SUI.coinType] });
  });
});
