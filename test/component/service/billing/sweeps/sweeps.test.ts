/** Sweeps on a localnet with a real fullnode, which checks owners, versions and both signatures. */
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { Transaction } from "@mysten/sui/transactions";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { localnetHotWalletSecret } from "../../../../../src/localnet/seed.ts";
import { deriveDepositKey } from "../../../../../src/service/billing/deposits/request-address.ts";
import { scanAddress } from "../../../../../src/service/billing/deposits/scan-address.ts";
import { createDepositSigner } from "../../../../../src/service/billing/sweeps/sweep-signer.ts";
import { connectNetwork } from "../../../../../src/service/chain/fullnodes/network.ts";
import { createPaymentReader } from "../../../../../src/service/chain/payment-reader.ts";
import { systemClock } from "../../../../../src/service/platform/lifecycle/clock.ts";
import type { Queryable } from "../../../../../src/service/platform/store/database.ts";
import { Secret } from "../../../../../src/service/platform/telemetry/secret.ts";
import {
  type ChainService,
  type ChainServiceOptions,
  startChainService,
} from "../../../../support/chain/chain-service.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../../support/database/database.ts";
import { coinsOf, recordAddress, recordDeposits } from "../../../../support/database/deposit-rows.ts";
import { SUI, testDeposits } from "../../../../support/database/deposits.ts";
import { type ObservedDatabase, observeDatabase } from "../../../../support/database/observe-database.ts";
import { objectId, projectWith } from "../../../../support/database/rows.ts";
import { type Harness, startHarness } from "../../../localnet/harness.ts";

const SEED = new Secret(new Uint8Array(32).fill(3));
const SPONSOR = new Uint8Array(32).fill(7);
const sponsorAddress = Ed25519Keypair.fromSecretKey(SPONSOR).toSuiAddress();
const signerOf = createDepositSigner(SEED, "localnet");

let harness: Harness;
let database: ObservedDatabase;
let service: ChainService | undefined;
let owner: { projectId: string; reference: string; address: string };
let depositKey: Ed25519Keypair;
let destination: string;

beforeEach(async () => {
  harness = await startHarness({ accounts: [sponsorAddress] });
  database = observeDatabase(await openTestDatabase());
  const projectId = await projectWith(database, 0n);
  const reference = "user-42";
  depositKey = deriveDepositKey(SEED, "localnet", { projectId, reference });
  owner = { projectId, reference, address: depositKey.toSuiAddress() };
  destination = objectId();
  await recordAddress(database, owner);
}, DATABASE_TIMEOUT_MS);
afterEach(async () => {
  await service?.stop();
  service = undefined;
  await database.close();
  await harness.close();
});

const start = async (options: Partial<ChainServiceOptions> = {}) => {
  service = await startChainService(database, harness.net, { sweeps: { signerOf, destination }, ...options });
};
/** Pays coins of these amounts to the deposit address in one transaction. */
const pay = (...amounts: number[]) =>
  harness.run((tx) => {
    const coins = tx.splitCoins(tx.gas, amounts);
    tx.transferObjects(
      amounts.map((_, index) => coins[index]!),
      owner.address,
    );
  });
/** Pays into the address balance, and the rest as a coin, in one transaction that uses no coin of a lane. */
const payFunds = async (funds: number, coin = 0) => {
  const transaction = new Transaction();
  transaction.setSender(sponsorAddress);
  transaction.moveCall({
    target: "0x2::coin::send_funds",
    typeArguments: ["0x2::sui::SUI"],
    arguments: [transaction.splitCoins(transaction.gas, [funds]), transaction.pure.address(owner.address)],
  });
  if (coin > 0) transaction.transferObjects([transaction.splitCoins(transaction.gas, [coin])], owner.address);
  const signer = Ed25519Keypair.fromSecretKey(SPONSOR);
  expect((await harness.client.signAndExecuteTransaction({ transaction, signer })).$kind).toBe("Transaction");
};
const balanceOf = async (address: string) => (await harness.client.getBalance({ owner: address })).balance;
/** Scans the deposit address as the service does, at a price that makes every deposit worth a sweep. */
const scanner = async () => {
  const { url, ikaConfig, treasury } = harness.net;
  const network = await connectNetwork({
    name: "localnet",
    clock: systemClock,
    ikaConfig,
    treasury,
    fullnodeUrl: new Secret(url),
    hotWalletSecret: new Secret(localnetHotWalletSecret()),
  });
  const reader = createPaymentReader(network);
  const deposits = testDeposits(
    database,
    { SUI: "1000000", IKA: undefined },
    { coins: [SUI], reader, masterSeed: SEED, minimumMicroUsd: 1n },
  );
  return () => scanAddress(deposits, owner);
};
const credited = (coinType?: string) =>
  recordDeposits(database, harness.client, owner, { state: "credited", ...(coinType ? { coinType } : {}) });
const states = async (db: Queryable = database) =>
  (await db.query<{ state: string }>("SELECT state FROM sweep ORDER BY id")).map(({ state }) => state);
const until = (...expected: string[]) =>
  database.until(async (db) => (await states(db)).join() === expected.join());

describe("a sweep", { timeout: 60_000 }, () => {
  it("moves the credited coins of every type, and no others", async () => {
    await pay(5_000, 7_000);
    const sui = await credited();
    await harness.net.fund(owner.address);
    const ika = await credited(harness.net.ikaCoinType);
    // The faucet's SUI coin is not credited, and a coin without a row is not even recorded.
    const waiting = await recordDeposits(database, harness.client, owner, { state: "waiting" });
    await pay(9_000);
    await start();
    await until("landed", "landed");
    expect(await coinsOf(harness.client, destination)).toEqual(sui);
    expect(await coinsOf(harness.client, destination, harness.net.ikaCoinType)).toEqual(ika);
    const left = await coinsOf(harness.client, owner.address);
    expect(left.size).toBe(2);
    for (const [id, balance] of waiting) expect(left.get(id)).toBe(balance);
    expect(service!.alarms).toEqual([]);
  });

  it("takes the address balance with the coins, and again after it was emptied", async () => {
    const scan = await scanner();
    await payFunds(40_000, 2_000);
    await payFunds(6_000);
    await scan();
    await start();
    await until("landed");
    const amounts = async () => [...(await coinsOf(harness.client, destination)).values()].sort();
    expect(await amounts()).toEqual([2_000n, 46_000n]);
    expect(await balanceOf(owner.address)).toMatchObject({ balance: "0" });
    await payFunds(9_000);
    await scan();
    await until("landed", "landed");
    expect(await amounts()).toEqual([2_000n, 46_000n, 9_000n]);
    const sweeps = await database.query(
      "SELECT amount::text, coin_count, (SELECT count(*)::int FROM deposit_coin c WHERE c.sweep_id = s.id) AS parts FROM sweep s ORDER BY id",
    );
    expect(sweeps).toEqual([
      { amount: "48000", coin_count: 3, parts: 3 },
      { amount: "9000", coin_count: 1, parts: 1 },
    ]);
    expect(service!.alarms).toEqual([]);
  });

  it("of an address balance that another transaction took is refused, and goes out once the money is there again", async () => {
    const scan = await scanner();
    await payFunds(40_000);
    await scan();
    const taken = new Transaction();
    taken.transferObjects([taken.coin({ balance: 1_000n, useGasCoin: false })], objectId());
    await sendByHand(taken);
    await start();
    await until("refused");
    const [refused] = await database.query("SELECT failure_reason FROM sweep");
    expect(refused).toEqual({ failure_reason: "FUNDS_SPENT" });
    await payFunds(1_000);
    await until("failed", "landed");
    expect([...(await coinsOf(harness.client, destination)).values()]).toEqual([40_000n]);
    expect(await balanceOf(owner.address)).toMatchObject({ balance: "0" });
  });

  it("is a transaction of the deposit address, with gas from the gas station", async () => {
    await pay(5_000);
    await credited();
    await start({ gasStationSecret: SPONSOR });
    await until("landed");
    const [stored] = await database.query<{ sender: string; bytes: Uint8Array; signatures: string[] }>(
      "SELECT sender, bytes, signatures FROM chain_transaction WHERE sender = $1",
      [owner.address],
    );
    expect(stored?.signatures).toHaveLength(2);
    const data = Transaction.from(stored!.bytes).getData();
    expect([data.sender, data.gasData.owner]).toEqual([owner.address, sponsorAddress]);
    const bounds = "SELECT version FROM lane";
    // No OperatorCap was used: they still have their genesis versions.
    expect(
      new Set((await database.query<{ version: string }>(bounds)).map(({ version }) => version)).size,
    ).toBe(1);
  });

  it("leaves an audit event that names the actor and the coins", async () => {
    await pay(5_000);
    await credited();
    await start();
    await until("landed");
    const [sweep] = await database.query<{ id: string }>("SELECT id FROM sweep");
    expect(
      await database.query(
        "SELECT actor, action, subject FROM audit_event WHERE action LIKE 'sweep.%' ORDER BY id",
      ),
    ).toEqual([
      { actor: "system", action: "sweep.queue", subject: sweep!.id },
      { actor: "system", action: "sweep.land", subject: sweep!.id },
    ]);
  });

  it("is refused if another transaction used a coin, and the other coins go with the next one", async () => {
    await pay(5_000, 7_000);
    const coins = [...(await credited())];
    await moveByHand(coins[0]![0], objectId());
    await start();
    await until("failed", "landed");
    expect(await coinsOf(harness.client, destination)).toEqual(new Map([coins[1]!]));
    const [failed] = await database.query(
      "SELECT failure_reason, failure_message FROM sweep WHERE state = 'failed'",
    );
    expect(failed).toMatchObject({
      failure_reason: "COIN_SPENT",
      failure_message: expect.stringContaining(coins[0]![0]),
    });
    // A coin that another transaction moved proves nothing about the hot wallet.
    expect(await database.query("SELECT 1 FROM lane WHERE foreign_digest IS NOT NULL")).toEqual([]);
  });

  it("is recorded when an older copy of the database finds it on the chain", async () => {
    await pay(5_000);
    const coins = await credited();
    const { digest } = await moveByHand([...coins.keys()][0]!, destination);
    await start();
    await until("landed");
    expect(await database.query("SELECT tx_digest FROM sweep")).toEqual([{ tx_digest: digest }]);
  });

  it("is sent again with the coin's new version after a transaction of the address failed on the chain", async () => {
    await pay(5_000, 7_000);
    const coins = await credited();
    await failByHand([...coins.keys()][0]!);
    await start();
    await until("failed", "landed");
    expect(await coinsOf(harness.client, destination)).toEqual(coins);
  });

  it("happens once even if the fullnode refuses versions that are right", async () => {
    await pay(5_000);
    const coins = await credited();
    harness.net.faults.set({ versionConflict: 1 });
    await start();
    await database.until(
      async (db) => (await db.query("SELECT 1 FROM chain_transaction WHERE sends > 1")).length > 0,
    );
    expect(await states()).toEqual(["queued"]);
    harness.net.faults.set({ versionConflict: 0 });
    await until("landed");
    expect(await coinsOf(harness.client, destination)).toEqual(coins);
  });

  it("is not signed with another seed's key, and goes out once the right seed is back", async () => {
    await pay(5_000);
    const coins = await credited();
    await start({
      sweeps: {
        signerOf: createDepositSigner(new Secret(new Uint8Array(32).fill(4)), "localnet"),
        destination,
      },
    });
    expect(await service!.firstAlarm()).toMatchObject({
      reason: "DEPOSIT_SEED_CHANGED",
      projectId: owner.projectId,
    });
    expect(await states()).toEqual([]);
    await service!.stop();
    await start();
    await until("landed");
    expect(await coinsOf(harness.client, destination)).toEqual(coins);
  });

  it("does not go to a deposit address", async () => {
    await pay(5_000);
    await credited();
    await start({ sweeps: { signerOf, destination: owner.address } });
    await service!.firstAlarm();
    expect(await states()).toEqual([]);
  });
});

/** Signs as another holder of the seed would. */
async function moveByHand(coinId: string, recipient: string): Promise<{ readonly digest: string }> {
  const tx = new Transaction();
  tx.transferObjects([tx.object(coinId)], recipient);
  return (await sendByHand(tx)).Transaction!;
}

/** Uses the coin without effect: the transaction takes more from the coin than it holds, and fails. */
async function failByHand(coinId: string): Promise<void> {
  const { object } = await harness.client.getObject({ objectId: coinId });
  const tx = new Transaction();
  tx.setGasBudget(100_000_000);
  tx.setGasPrice(1_000);
  const gas = (await harness.client.listCoins({ owner: sponsorAddress })).objects[0]!;
  tx.setGasPayment([gas]);
  tx.transferObjects([tx.splitCoins(tx.objectRef(object), [1_000_000])], owner.address);
  expect((await sendByHand(tx)).$kind).toBe("FailedTransaction");
}

async function sendByHand(tx: Transaction) {
  tx.setSender(owner.address);
  tx.setGasOwner(sponsorAddress);
  const bytes = await tx.build({ client: harness.client });
  const keys = [depositKey, Ed25519Keypair.fromSecretKey(SPONSOR)];
  const signed = await Promise.all(keys.map((key) => key.signTransaction(bytes)));
  const signatures = signed.map(({ signature }) => signature);
  return harness.client.executeTransaction({ transaction: bytes, signatures });
}
