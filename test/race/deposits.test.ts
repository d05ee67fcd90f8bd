/** Two replicas see the same coins on a localnet at the same time, on a real PostgreSQL. */

import { Transaction } from "@mysten/sui/transactions";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Localnet, startLocalnet } from "../../src/localnet/localnet.ts";
import { localnetHotWalletSecret } from "../../src/localnet/seed.ts";
import { creditDeposits } from "../../src/service/billing/deposits/credit-deposits.ts";
import { declareDeposit } from "../../src/service/billing/deposits/declare-deposit.ts";
import { depositAddress } from "../../src/service/billing/deposits/deposit-address.ts";
import type { Deposits } from "../../src/service/billing/deposits/deposits.ts";
import { deriveDepositKey } from "../../src/service/billing/deposits/request-address.ts";
import { scanAddress } from "../../src/service/billing/deposits/scan-address.ts";
import { createDepositWatcher } from "../../src/service/billing/deposits/watch-deposits.ts";
import { type ChainNetwork, connectNetwork } from "../../src/service/chain/fullnodes/network.ts";
import { createPaymentReader } from "../../src/service/chain/payment-reader.ts";
import { createLocalSignals } from "../../src/service/platform/coordination/local-coordination.ts";
import { systemClock } from "../../src/service/platform/lifecycle/clock.ts";
import type { Database } from "../../src/service/platform/store/database.ts";
import { Secret } from "../../src/service/platform/telemetry/secret.ts";
import {
  acceptedCoin,
  fundedPayer,
  type Payer,
  SUI,
  type TestPrices,
  testDeposits,
} from "../support/database/deposits.ts";
import { migratedDatabase } from "../support/database/postgres.ts";
import { moneyOf, projectWith, TEST_ORIGIN } from "../support/database/rows.ts";
import { openTestPool } from "../support/database/test-pool.ts";
import { silentLog } from "../support/silent-log.ts";
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

describe.skipIf(test === undefined)("deposits that two replicas see at once", () => {
  const prices: TestPrices = { SUI: "3.5", IKA: "0.02" };
  let localnet: Localnet;
  let network: ChainNetwork;
  let payer: Payer;
  let replicas: Deposits[];

  beforeAll(async () => {
    localnet = await startLocalnet({ mpc: createCheapMpc() });
    const { url, ikaConfig, treasury } = localnet;
    const fullnodeUrl = new Secret(url);
    const hotWalletSecret = new Secret(localnetHotWalletSecret());
    network = await connectNetwork({
      clock: systemClock,
      name: "localnet",
      fullnodeUrl,
      ikaConfig,
      treasury,
      hotWalletSecret,
    });
    const ika = acceptedCoin("IKA", `${ikaConfig.packages.ikaPackage}::ika::IKA`);
    payer = await fundedPayer(network.client, url, ika.coinType);
    replicas = pools.map((pool) =>
      testDeposits(pool, prices, { coins: [SUI, ika], reader: createPaymentReader(network) }),
    );
  });
  afterAll(() => localnet.close());

  const project = async () => {
    const projectId = await projectWith(pools[0]!, 0n);
    return { projectId, address: await depositAddress(replicas[0]!, { projectId, reference: "" }) };
  };

  it("go to one address, which all of many simultaneous first calls return", async () => {
    for (let round = 0; round < 20; round++) {
      const projectId = await projectWith(pools[0]!, 0n);
      const calls = Array.from({ length: 16 }, (_, index) =>
        depositAddress(replicas[index % 2]!, { projectId, reference: "" }),
      );
      const [address] = new Set(await Promise.all(calls));
      const rows = await pools[0]!.query<{ address: string }>(
        "SELECT address FROM deposit_address WHERE project_id = $1",
        [projectId],
      );
      expect(rows).toEqual([{ address }]);
    }
  });

  it("go to one address for each reference, and many simultaneous first calls create no more than allowed", async () => {
    const projectId = await projectWith(pools[0]!, 0n);
    const calls = Array.from({ length: 32 }, (_, index) =>
      depositAddress(replicas[index % 2]!, { projectId, reference: `user-${index % 5}` }),
    );
    const answers = await Promise.allSettled(calls);
    const told = answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
    const rows = await pools[0]!.query<{ address: string }>(
      "SELECT address FROM deposit_address WHERE project_id = $1",
      [projectId],
    );
    expect(rows).toHaveLength(replicas[0]!.maxReferences);
    expect(new Set(told)).toEqual(new Set(rows.map(({ address }) => address)));
    for (const answer of answers)
      if (answer.status === "rejected")
        expect(answer.reason).toMatchObject({ reason: "TOO_MANY_DEPOSIT_REFERENCES" });
    const [project] = await pools[0]!.query<{ count: number }>(
      "SELECT count FROM deposit_reference_count WHERE project_id = $1",
      [projectId],
    );
    expect(project?.count).toBe(rows.length);
  });

  it("are credited once, even if they are declared and seen several times at changing prices", async () => {
    const watched = await project();
    const digest = await payer.pay(watched.address, { sui: 2_000_000_000n, ika: 100_000_000_000n });
    const declarer = { projectId: watched.projectId, origin: TEST_ORIGIN };
    const replies = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const replica = replicas[index % 2]!;
        prices.SUI = String(index + 1);
        if (index >= 10) return scanAddress(replica, watched).then(() => undefined);
        return declareDeposit(replica, declarer, digest);
      }),
    );
    const told = replies.filter((reply) => reply !== undefined);
    expect(new Set(told.map((rows) => JSON.stringify(rows.map(({ id, state }) => [id, state])))).size).toBe(
      1,
    );
    const { balance, differences } = await moneyOf(pools[0]!, watched.projectId);
    expect(differences).toEqual([]);
    expect(balance).toBe(told[0]!.reduce((sum, { valueMicroUsd }) => sum + valueMicroUsd!, 0n));
    const booked = await pools[0]!.query("SELECT 1 FROM ledger_entry WHERE project_id = $1", [
      watched.projectId,
    ]);
    expect(booked).toHaveLength(2);
    const coins = await pools[0]!.query<{ coinType: string; amount: string }>(
      `SELECT c.coin_type AS "coinType", c.amount::text AS amount FROM deposit_coin c
       JOIN deposit d ON d.id = c.deposit_id WHERE d.project_id = $1 ORDER BY c.amount`,
      [watched.projectId],
    );
    expect(coins.map(({ amount }) => amount)).toEqual(["2000000000", "100000000000"]);
    prices.SUI = "3.5";
  });

  it("that are credited are told again although their coins have no price any more", async () => {
    const watched = await project();
    const digest = await payer.pay(watched.address, { sui: 2_000_000_000n, ika: 0n });
    const declare = () =>
      declareDeposit(replicas[0]!, { projectId: watched.projectId, origin: TEST_ORIGIN }, digest);
    const [first] = await declare();
    prices.SUI = undefined;
    try {
      expect(await declare()).toEqual([first]);
    } finally {
      prices.SUI = "3.5";
    }
  });

  it("to a reference are credited once after an older copy of the database forgot the reference and its deposits", async () => {
    const db = pools[0]!;
    const owner = { projectId: await projectWith(db, 0n), reference: "user-42" };
    const address = await depositAddress(replicas[0]!, owner);
    const digest = await payer.pay(address, { sui: 2_000_000_000n, ika: 0n });
    await db.query("DELETE FROM deposit_address WHERE project_id = $1", [owner.projectId]);
    await db.query("DELETE FROM deposit_reference_count WHERE project_id = $1", [owner.projectId]);
    const declarer = { projectId: owner.projectId, origin: TEST_ORIGIN };
    await expect(declareDeposit(replicas[0]!, declarer, digest)).rejects.toMatchObject({
      reason: "DEPOSIT_NOT_FOUND",
    });
    expect(await depositAddress(replicas[1]!, owner)).toBe(address);
    await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        index < 5
          ? scanAddress(replicas[index % 2]!, { address, projectId: owner.projectId })
          : declareDeposit(replicas[index % 2]!, declarer, digest),
      ),
    );
    const { balance, differences } = await moneyOf(db, owner.projectId);
    expect({ balance, differences }).toEqual({ balance: 7_000_000n, differences: [] });
  });

  it("are credited once by many simultaneous passes over waiting deposits", async () => {
    const watched = await project();
    prices.SUI = undefined;
    await payer.pay(watched.address, { sui: 1_000_000_000n, ika: 0n });
    await scanAddress(replicas[0]!, watched);
    prices.SUI = "3.5";
    const counts = await Promise.all(
      Array.from({ length: 16 }, (_, index) =>
        creditDeposits(pools[index % 2]!, TEST_ORIGIN, replicas[0]!, watched.projectId),
      ),
    );
    expect(counts.sort()).toEqual([...Array.from({ length: 15 }, () => 0), 1]);
    expect((await moneyOf(pools[0]!, watched.projectId)).balance).toBe(3_500_000n);
  });

  it("are found once by watchers, and not again after a restart", async () => {
    const watched = await project();
    await payer.pay(watched.address, { sui: 1_000_000_000n, ika: 0n });
    for (let start = 0; start < 2; start++) {
      await pools[0]!.query("UPDATE deposit_address SET due_at = date_trunc('milliseconds', now())");
      const credited = whenCredited(watched.projectId);
      const watchers = replicas.map((replica) =>
        createDepositWatcher(replica, {
          clock: systemClock,
          signals: createLocalSignals(),
          pollMs: 20,
          log: { ...silentLog, info: credited.look },
        }),
      );
      for (const watcher of watchers) watcher.start();
      if (start === 0) await credited.promise;
      await Promise.all(watchers.map((watcher) => watcher.stop()));
    }
    expect(await moneyOf(pools[0]!, watched.projectId)).toEqual({
      balance: 3_500_000n,
      held: 0n,
      differences: [],
    });
  });

  it("ignore empty coins, which are read once", async () => {
    const watched = await project();
    const transaction = new Transaction();
    transaction.transferObjects([transaction.splitCoins(transaction.gas, [0n])[0]!], watched.address);
    await network.client.signAndExecuteTransaction({ transaction, signer: payer.signer });
    await payer.pay(watched.address, { sui: 1_000_000_000n, ika: 0n });
    const { objects } = await network.client.core.listCoins({ owner: watched.address });
    expect(objects).toHaveLength(2);
    const owned = await replicas[0]!.reader.ownedCoins(watched.address, SUI.coinType);
    expect(owned.coins).toHaveLength(1);
    expect(await scanAddress(replicas[0]!, watched)).toMatchObject({ creditedCount: 1, foundCount: 1 });
  });

  it("ignore coins from transactions that spend from the address", async () => {
    const watched = await project();
    const key = deriveDepositKey(replicas[0]!.masterSeed!, "localnet", {
      projectId: watched.projectId,
      reference: "",
    });
    await payer.pay(watched.address, { sui: 5_000_000_000n, ika: 0n });
    await scanAddress(replicas[0]!, watched);
    // From the gas coin the payer pays for gas and more than the address spends, so in total the address gains.
    const { objects } = await network.client.core.listCoins({ owner: watched.address });
    const transaction = new Transaction();
    transaction.setSender(watched.address);
    transaction.setGasOwner(payer.signer.toSuiAddress());
    const [coin] = transaction.splitCoins(transaction.gas, [1_000_000_000n]);
    transaction.mergeCoins(transaction.object(objects[0]!.objectId), [coin!]);
    const bytes = await transaction.build({ client: network.client });
    const signatures = [key, payer.signer].map((signer) => signer.signTransaction(bytes));
    const sent = await network.client.executeTransaction({
      transaction: bytes,
      signatures: (await Promise.all(signatures)).map(({ signature }) => signature),
    });
    const txDigest = sent.Transaction!.digest;
    await scanAddress(replicas[1]!, watched);
    const declared = declareDeposit(
      replicas[0]!,
      { projectId: watched.projectId, origin: TEST_ORIGIN },
      txDigest,
    );
    await expect(declared).rejects.toMatchObject({ reason: "DEPOSIT_NOT_FOUND" });
    expect((await moneyOf(pools[0]!, watched.projectId)).balance).toBe(17_500_000n);
  });
});

/** Resolves when a watcher logs that it credited the project. */
function whenCredited(projectId: string) {
  let resolve: () => void = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return {
    promise,
    look: (fields: object) => {
      if ("projectId" in fields && fields.projectId === projectId) resolve();
    },
  };
}
