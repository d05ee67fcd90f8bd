/** A process that sweeps is killed before and after each of its calls to the database and the fullnode. */

import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { expect, it, vi } from "vitest";
import { deriveDepositKey } from "../../../../src/billing/deposits/deposit-key.ts";
import { createSweepLoop } from "../../../../src/billing/sweeps/sweep-loop.ts";
import { createSweepOperation } from "../../../../src/billing/sweeps/sweep-operation.ts";
import { createDepositSigner } from "../../../../src/billing/sweeps/sweep-signer.ts";
import { connectNetwork } from "../../../../src/chain/network.ts";
import type { OperationKind } from "../../../../src/chain/operation.ts";
import { createNetworkReader } from "../../../../src/chain/reader.ts";
import { createGasKeeper } from "../../../../src/chain/submit/gas-keeper.ts";
import { createLanes } from "../../../../src/chain/submit/lane.ts";
import { prepareLanes } from "../../../../src/chain/submit/prepare-lanes.ts";
import { createSubmitter } from "../../../../src/chain/submit/submitter.ts";
import { createLocalSignals } from "../../../../src/coordination/local-signals.ts";
import { systemClock } from "../../../../src/lifecycle/clock.ts";
import { localnetHotWalletSecret } from "../../../../src/localnet/seed.ts";
import { Secret } from "../../../../src/telemetry/secret.ts";
import { createLife, mortalDatabase, mortalFetch } from "../../../sim/mortal.ts";
import { openTestDatabase, silentLog } from "../../../support/database.ts";
import { coinsOf, recordAddress, recordDeposits } from "../../../support/deposit-rows.ts";
import { objectId, projectWith } from "../../../support/rows.ts";
import { startHarness } from "../../localnet/harness.ts";

const SEED = new Secret(new Uint8Array(32).fill(3));
const SPONSOR = new Uint8Array(32).fill(7);
const sponsorAddress = Ed25519Keypair.fromSecretKey(SPONSOR).toSuiAddress();
const signerOf = createDepositSigner(SEED, "localnet");

it("a sweep is finished once, wherever its process was killed", { timeout: 600_000 }, async () => {
  const harness = await startHarness({ operatorCount: 1, accounts: [sponsorAddress] });
  const database = await openTestDatabase();
  const projectId = await projectWith(database, 0n);
  const owner = {
    projectId,
    reference: "",
    address: deriveDepositKey(SEED, "localnet", { projectId, reference: "" }).toSuiAddress(),
  };
  const destination = objectId();
  await recordAddress(database, owner);
  let reach: typeof fetch = fetch;
  const network = await connectNetwork({
    clock: systemClock,
    name: "localnet",
    fullnodeUrl: new Secret(harness.net.url),
    ikaConfig: harness.net.ikaConfig,
    treasury: harness.net.treasury,
    hotWalletSecret: new Secret(localnetHotWalletSecret()),
    // The hot wallet makes the deposits here, with coins that no lane may use.
    gasStationSecret: new Secret(SPONSOR),
    fetch: (...call) => reach(...call),
  });
  const reader = createNetworkReader(network);
  const laneIds = network.treasury.operatorCapIds;
  await prepareLanes({ database, network, reader, afterRestore: false, log: silentLog });
  await createGasKeeper({ clock: systemClock, database, network, reader, laneIds, log: silentLog }).assign();

  /** Sweeps until everything is swept; returns false if the process was killed first. */
  const sweep = async (lastStep: number): Promise<boolean> => {
    let isDead = false;
    const life = createLife(lastStep, () => {
      isDead = true;
    });
    const mine = mortalDatabase(database, life);
    reach = mortalFetch(life);
    const signals = createLocalSignals();
    const common = { database: mine, network: "localnet", reader, signals, log: silentLog, intervalMs: 10 };
    const submitter = createSubmitter({
      clock: systemClock,
      ...common,
      lanes: createLanes(network, reader),
      kinds: [createSweepOperation({ reader, signerOf, log: silentLog }) as OperationKind],
      leaseMs: 50,
      retryBaseMs: 5,
    });
    const loop = createSweepLoop({
      clock: systemClock,
      ...common,
      destination,
      signerOf,
      minValueMicroUsd: 1n,
    });
    loop.start();
    submitter.start();
    await vi.waitUntil(async () => isDead || (await isSwept()), { timeout: 30_000, interval: 5 });
    await Promise.all([loop.stop(), submitter.stop()]);
    await signals.close();
    reach = fetch;
    return !isDead;
  };
  const isSwept = async () => {
    const open = await database.query(
      `SELECT 1 FROM deposit_coin c LEFT JOIN sweep s ON s.id = c.sweep_id JOIN deposit d ON d.id = c.deposit_id
       WHERE d.state = 'credited' AND s.state IS DISTINCT FROM 'landed'`,
    );
    return open.length === 0;
  };

  const credited = new Map<string, bigint>();
  let deaths = 0;
  for (let lastStep = 1, isOver = false; !isOver; lastStep++) {
    await harness.run((tx) => tx.transferObjects([tx.splitCoins(tx.gas, [lastStep])[0]!], owner.address));
    const paid = await recordDeposits(database, harness.client, owner, { state: "credited" });
    for (const [id, amount] of paid) credited.set(id, amount);
    isOver = await sweep(lastStep);
    if (isOver) break;
    deaths++;
    expect(await sweep(Number.POSITIVE_INFINITY)).toBe(true);
    expect(await coinsOf(harness.client, destination)).toEqual(credited);
  }
  expect(deaths).toBeGreaterThan(20);
  expect(await coinsOf(harness.client, destination)).toEqual(credited);
  expect(await coinsOf(harness.client, owner.address)).toEqual(new Map());
  // Each sweep was one transaction, and all of them succeeded.
  const [counts] = await database.query(
    `SELECT count(*)::int AS sweeps, count(DISTINCT tx_digest)::int AS digests,
            (SELECT count(*)::int FROM chain_transaction) AS transactions,
            (SELECT count(*)::int FROM chain_transaction WHERE state = 'landed') AS landed FROM sweep`,
  );
  const sweeps = credited.size;
  expect(counts).toEqual({ sweeps, digests: sweeps, transactions: sweeps, landed: sweeps });
  await database.close();
  await harness.close();
});
