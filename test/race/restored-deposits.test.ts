/** Deposits to a database that is restored from a pg_dump while checkpoints are followed, on a real PostgreSQL. */
import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import type { Signer } from "@mysten/sui/cryptography";
import { Transaction } from "@mysten/sui/transactions";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Localnet, startLocalnet } from "../../src/localnet/localnet.ts";
import { localnetHotWalletSecret } from "../../src/localnet/seed.ts";
import { declareDeposit } from "../../src/service/billing/deposits/declare-deposit.ts";
import { depositAddress } from "../../src/service/billing/deposits/deposit-address.ts";
import type { Deposits } from "../../src/service/billing/deposits/deposits.ts";
import { deriveDepositKey } from "../../src/service/billing/deposits/request-address.ts";
import { createCheckpointReader } from "../../src/service/chain/checkpoint-reader.ts";
import { type ChainNetwork, connectNetwork } from "../../src/service/chain/fullnodes/network.ts";
import { createPaymentReader } from "../../src/service/chain/payment-reader.ts";
import { createNetworkReader } from "../../src/service/chain/reader.ts";
import { prepareLanes } from "../../src/service/chain/submit/prepare-lanes.ts";
import { systemClock } from "../../src/service/platform/lifecycle/clock.ts";
import type { Database } from "../../src/service/platform/store/database.ts";
import { Secret } from "../../src/service/platform/telemetry/secret.ts";
import { reconcile } from "../../src/service/restore/reconcile.ts";
import { quietAddresses, watchDeposits } from "../support/database/deposit-watch.ts";
import { fundedPayer, SUI, testDeposits } from "../support/database/deposits.ts";
import { type ObservedDatabase, observeDatabase } from "../support/database/observe-database.ts";
import { migratedDatabase, testDatabase } from "../support/database/postgres.ts";
import { flatPrices } from "../support/database/prices.ts";
import { moneyOf, objectId, projectWith, TEST_ORIGIN } from "../support/database/rows.ts";
import { openTestPool } from "../support/database/test-pool.ts";
import { silentLog } from "../support/silent-log.ts";
import { createCheapMpc } from "../unit/localnet/cheap-mpc.ts";

const run = promisify(execFile);
const dumpFile = path.join(tmpdir(), `tss-deposits-${process.pid}.dump`);
const [lost, copy] = [await migratedDatabase(), await testDatabase()];
const ONE_SUI = { sui: 1_000_000_000n, ika: 0n };
const ONE_SUI_MICRO_USD = 3_500_000n;
const NAMES = ["own", "known", "new"] as const;

describe.skipIf(!lost || !copy)("a database that forgot deposits, references and checkpoints", () => {
  let localnet: Localnet;
  let before: Database;
  let after: ObservedDatabase;
  /**
   * The three projects are paid at their own address, at a reference, and at a reference that is created after the
   * copy.
   */
  const projects = new Map<(typeof NAMES)[number], string>();

  beforeAll(async () => {
    localnet = await startLocalnet({ mpc: createCheapMpc() });
    before = await openTestPool(lost!.url);
  });
  afterAll(async () => {
    await after?.close();
    await before?.close();
    await localnet?.close();
    await Promise.all([lost?.drop(), copy?.drop()]);
    rmSync(dumpFile, { force: true });
  });

  async function connect() {
    const { url, ikaConfig, treasury } = localnet;
    const network = await connectNetwork({
      name: "localnet",
      clock: systemClock,
      ikaConfig,
      treasury,
      fullnodeUrl: new Secret(url),
      hotWalletSecret: new Secret(localnetHotWalletSecret()),
    });
    const on = (database: Database): Deposits =>
      testDeposits(
        database,
        { SUI: "3.5", IKA: undefined },
        { coins: [SUI], reader: createPaymentReader(network) },
      );
    return {
      network,
      on,
      reader: createNetworkReader(network),
      checkpoints: createCheckpointReader(network, [SUI.coinType]),
      payer: await fundedPayer(network.client, url, `${ikaConfig.packages.ikaPackage}::ika::IKA`),
    };
  }

  async function dump(): Promise<void> {
    await run("pg_dump", ["--format=custom", `--file=${dumpFile}`, `--dbname=${lost!.url}`]);
  }

  async function restoreCopy(): Promise<void> {
    await after?.close();
    await run("pg_restore", [
      ...["--exit-on-error", "--clean", "--if-exists"],
      ...[`--dbname=${copy!.url}`, dumpFile],
    ]);
    after = observeDatabase(await openTestPool(copy!.url));
    await quietAddresses(after);
  }

  it.each([
    ["read one after another", 0],
    ["skipped, because the fullnode has pruned them", 1],
  ])("credits each coin once, with the missed checkpoints %s", { timeout: 120_000 }, async (_, kept) => {
    const { network, reader, checkpoints, payer, on } = await connect();
    const addressOn = (database: Database, name: (typeof NAMES)[number]) =>
      depositAddress(on(database), {
        projectId: projects.get(name)!,
        reference: name === "own" ? "" : name,
      });
    for (const name of NAMES) projects.set(name, await projectWith(before, 0n));

    await before.query("DELETE FROM checkpoint_follower", []);
    const first = watchDeposits(on(before), checkpoints);
    await first.following();
    const addresses = {
      own: await addressOn(before, "own"),
      known: await addressOn(before, "known"),
      new: "",
    };
    for (const name of ["own", "known"] as const) {
      await payer.pay(addresses[name], ONE_SUI);
      await first.credited(projects.get(name)!);
    }
    await dump();
    addresses.new = await addressOn(before, "new");
    for (const name of NAMES) {
      await payer.pay(addresses[name], ONE_SUI);
      await first.credited(projects.get(name)!);
    }
    await first.stop();
    // This is paid while no service runs.
    for (const name of NAMES) await payer.pay(addresses[name], ONE_SUI);

    await restoreCopy();
    // The lease in the copy expires half a minute later.
    await after.query("UPDATE checkpoint_follower SET leased_until = now()", []);
    const life = { database: after, network, reader, log: silentLog };
    await prepareLanes({ ...life, afterRestore: true });
    const config = { prices: flatPrices(1n, 1n) };
    const report = await reconcile({ ...life, kinds: [], deposits: on(after), config });
    expect(report.creditedCount).toBeGreaterThanOrEqual(4);
    for (let others = 0; others < 3; others++) await payer.pay(objectId(), ONE_SUI);

    localnet.faults.set({ keptCheckpoints: kept });
    const second = watchDeposits(on(after), checkpoints);
    // The project requests the lost reference again, and the follower also meets all of its payments.
    expect(await addressOn(after, "new")).toBe(addresses.new);
    for (const name of NAMES) await payer.pay(addresses[name], ONE_SUI);
    const deposits = { own: 4n, known: 4n, new: 3n };
    const moneyIn = (name: (typeof NAMES)[number], db: Database = after) => moneyOf(db, projects.get(name)!);
    for (const name of NAMES)
      await after.until(async (db) => {
        const { balance } = await moneyIn(name, db);
        return balance! >= deposits[name] * ONE_SUI_MICRO_USD;
      });
    const latest = await checkpoints.latest();
    await after.until(async (db) => {
      const [row] = await db.query<{ next: bigint }>(
        "SELECT next_checkpoint AS next FROM checkpoint_follower",
        [],
      );
      return row!.next > latest;
    });
    await second.stop();
    localnet.faults.set({ keptCheckpoints: 0 });
    for (const name of NAMES)
      expect(await moneyIn(name)).toEqual({
        balance: deposits[name] * ONE_SUI_MICRO_USD,
        held: 0n,
        differences: [],
      });
  });

  it("reports a swept deposit to a forgotten reference, which is credited once when it is declared", {
    timeout: 120_000,
  }, async () => {
    const { network, reader, payer, on } = await connect();
    const projectId = await projectWith(before, 0n);
    await dump();
    const owner = { projectId, reference: "forgotten" };
    const address = await depositAddress(on(before), owner);
    const paidIn = await payer.pay(address, ONE_SUI);
    const sweptIn = await sweep(network, deriveDepositKey(on(before).masterSeed!, "localnet", owner));

    await restoreCopy();
    const life = { database: after, network, reader, log: silentLog };
    await prepareLanes({ ...life, afterRestore: true });
    const restore = () =>
      reconcile({ ...life, kinds: [], deposits: on(after), config: { prices: flatPrices(1n, 1n) } });
    const { unrecoverable } = await restore();
    expect(unrecoverable).toEqual([
      {
        what: "deposit address",
        id: address,
        reason: expect.stringContaining(`transaction ${sweptIn} swept`),
      },
    ]);
    expect(unrecoverable[0]!.reason).toContain(`declares ${paidIn}`);
    expect(await moneyOf(after, projectId)).toMatchObject({ balance: 0n });

    expect(await depositAddress(on(after), owner)).toBe(address);
    const declare = () => declareDeposit(on(after), { projectId, origin: TEST_ORIGIN }, paidIn);
    await Promise.all([declare(), declare()]);
    await declare();
    expect((await restore()).unrecoverable).toEqual([]);
    expect(await moneyOf(after, projectId)).toEqual({
      balance: ONE_SUI_MICRO_USD,
      held: 0n,
      differences: [],
    });
  });
});

/** Moves every coin of a deposit address to the hot wallet, which pays the gas. Returns the digest. */
async function sweep(network: ChainNetwork, signer: Signer): Promise<string> {
  const { client, hotWallet, senderAddress } = network;
  const owner = signer.toSuiAddress();
  const { objects } = await client.core.listCoins({ owner, coinType: SUI.coinType });
  const transaction = new Transaction();
  transaction.setSender(owner);
  transaction.setGasOwner(senderAddress);
  transaction.transferObjects(
    objects.map(({ objectId: coin }) => coin),
    senderAddress,
  );
  const bytes = await transaction.build({ client });
  const signed = await Promise.all([signer, hotWallet!].map((one) => one.signTransaction(bytes)));
  const result = await client.core.executeTransaction({
    transaction: bytes,
    signatures: signed.map(({ signature }) => signature),
  });
  if (result.$kind === "FailedTransaction") throw new Error("the sweep failed");
  return result.Transaction.digest;
}
