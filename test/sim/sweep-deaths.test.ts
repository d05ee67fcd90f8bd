/** A process that sweeps is killed before and after each of its calls to the database and the fullnode. */
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { Transaction } from "@mysten/sui/transactions";
import { describe, expect, it } from "vitest";
import { deriveDepositKey } from "../../src/billing/deposits/deposit-key.ts";
import { createSweepLoop } from "../../src/billing/sweeps/sweep-loop.ts";
import { createSweepOperation } from "../../src/billing/sweeps/sweep-operation.ts";
import { createDepositSigner } from "../../src/billing/sweeps/sweep-signer.ts";
import { connectNetwork } from "../../src/chain/network.ts";
import type { OperationKind } from "../../src/chain/operation.ts";
import { createNetworkReader } from "../../src/chain/reader.ts";
import { createGasKeeper } from "../../src/chain/submit/gas-keeper.ts";
import { createLanes } from "../../src/chain/submit/lane.ts";
import { prepareLanes } from "../../src/chain/submit/prepare-lanes.ts";
import { createSubmitter } from "../../src/chain/submit/submitter.ts";
import { createLocalSignals } from "../../src/coordination/local-signals.ts";
import { pause } from "../../src/lifecycle/clock.ts";
import { openLocalChain } from "../../src/localnet/local-chain.ts";
import { localnetHotWalletSecret } from "../../src/localnet/seed.ts";
import { Secret } from "../../src/telemetry/secret.ts";
import { silentLog } from "../support/database.ts";
import { coinsOf, recordAddress, recordDeposits } from "../support/deposit-rows.ts";
import { testDatabase } from "../support/postgres.ts";
import { objectId, projectWith } from "../support/rows.ts";
import { IN_PROCESS_URL, inProcessFetch } from "./in-process-fetch.ts";
import { createLife, mortalDatabase, mortalFetch } from "./mortal.ts";
import { createRandom } from "./random.ts";
import { createScheduler, type Scheduler } from "./scheduler.ts";
import { createSimMpc } from "./sim-mpc.ts";
import { openSimServer, type SimServer } from "./sim-server.ts";
import { BEGIN_MS, SIM_PACE, SIM_TIMES } from "./simulate.ts";

const SEED = new Secret(new Uint8Array(32).fill(3));
const SPONSOR = new Uint8Array(32).fill(7);
const hotWallet = Ed25519Keypair.fromSecretKey(localnetHotWalletSecret());
const signerOf = createDepositSigner(SEED, "localnet");
const LOOK_MS = 100;
const probe = await testDatabase();
await probe?.drop();

describe.skipIf(probe === undefined)("in simulated time", () => {
  it("a sweep is finished once, wherever its process was killed", { timeout: 600_000 }, async () => {
    const server = (await openSimServer(1))!;
    try {
      const scheduler = createScheduler({
        random: createRandom(1),
        stepMaxCount: 1_000_000,
        server: { ...server, setTime: (ms) => server.setTime(BEGIN_MS + ms) },
      });
      await server.begin(scheduler);
      await scheduler.drive(killEverywhere(server, scheduler));
    } finally {
      await server.close();
    }
  });
});

async function killEverywhere(server: SimServer, { clock }: Scheduler): Promise<void> {
  const { database } = server;
  const localnet = await openLocalChain({
    mpc: createSimMpc(),
    operatorCount: 1,
    accounts: [Ed25519Keypair.fromSecretKey(SPONSOR).toSuiAddress()],
    epochDurationMs: 24 * 3_600_000,
    clock: () => BEGIN_MS + clock.now(),
    pause: (durationMs) => pause(clock, durationMs),
  });
  const whole = inProcessFetch(localnet);
  const projectId = await projectWith(database, 0n);
  const address = deriveDepositKey(SEED, "localnet", { projectId, reference: "" }).toSuiAddress();
  const owner = { projectId, reference: "", address };
  const destination = objectId();
  await recordAddress(database, owner);
  let reach = whole;
  const network = await connectNetwork({
    clock,
    name: "localnet",
    fullnodeUrl: new Secret(IN_PROCESS_URL),
    ikaConfig: localnet.ikaConfig,
    treasury: localnet.treasury,
    hotWalletSecret: new Secret(localnetHotWalletSecret()),
    // The hot wallet makes the deposits here, with coins that no lane may use.
    gasStationSecret: new Secret(SPONSOR),
    times: SIM_TIMES,
    fetch: (...call) => reach(...call),
  });
  const { client } = network;
  const reader = createNetworkReader(network);
  const laneIds = network.treasury.operatorCapIds;
  await prepareLanes({ database, network, reader, afterRestore: false, log: silentLog });
  await createGasKeeper({ clock, database, network, reader, laneIds, log: silentLog }).assign();

  /** Sweeps until everything is swept or the process is killed; false if it was killed. */
  const sweep = async (lastStep: number): Promise<boolean> => {
    let isDead = false;
    const life = createLife(lastStep, () => {
      isDead = true;
    });
    const mine = mortalDatabase(server.replicaDatabases[0]!, life);
    reach = mortalFetch(life, whole);
    const signals = createLocalSignals();
    const common = {
      ...{ clock, database: mine, network: "localnet", reader, signals, log: silentLog },
      intervalMs: SIM_PACE.intervalMs,
    };
    const submitter = createSubmitter({
      ...common,
      lanes: createLanes(network, reader),
      kinds: [createSweepOperation({ reader, signerOf, log: silentLog }) as OperationKind],
      leaseMs: SIM_PACE.leaseMs,
      retryBaseMs: SIM_PACE.retryBaseMs,
    });
    const loop = createSweepLoop({ ...common, destination, signerOf, minValueMicroUsd: 1n });
    loop.start();
    submitter.start();
    while (!isDead && !(await isSwept())) await pause(clock, LOOK_MS);
    await Promise.all([loop.stop(), submitter.stop()]);
    await signals.close();
    reach = whole;
    return !isDead;
  };
  const isSwept = async () => {
    const open = await database.query(
      `SELECT 1 FROM deposit_coin c LEFT JOIN sweep s ON s.id = c.sweep_id JOIN deposit d ON d.id = c.deposit_id
       WHERE d.state = 'credited' AND s.state IS DISTINCT FROM 'landed'`,
    );
    return open.length === 0;
  };
  const pay = async (amount: number) => {
    const transaction = new Transaction();
    transaction.transferObjects([transaction.splitCoins(transaction.gas, [amount])[0]!], address);
    const { $kind } = await client.signAndExecuteTransaction({ transaction, signer: hotWallet });
    expect($kind).toBe("Transaction");
  };

  const credited = new Map<string, bigint>();
  let deaths = 0;
  for (let lastStep = 1, isOver = false; !isOver; lastStep++) {
    await pay(lastStep);
    const paid = await recordDeposits(database, client, owner, { state: "credited" });
    for (const [id, amount] of paid) credited.set(id, amount);
    isOver = await sweep(lastStep);
    if (isOver) break;
    deaths++;
    expect(await sweep(Number.POSITIVE_INFINITY)).toBe(true);
    expect(await coinsOf(client, destination)).toEqual(credited);
  }
  expect(deaths).toBeGreaterThan(20);
  expect(await coinsOf(client, destination)).toEqual(credited);
  expect(await coinsOf(client, owner.address)).toEqual(new Map());
  // Each sweep was one transaction, and all of them succeeded.
  const [counts] = await database.query(
    `SELECT count(*)::int AS sweeps, count(DISTINCT tx_digest)::int AS digests,
            (SELECT count(*)::int FROM chain_transaction) AS transactions,
            (SELECT count(*)::int FROM chain_transaction WHERE state = 'landed') AS landed FROM sweep`,
  );
  const sweeps = credited.size;
  expect(counts).toEqual({ sweeps, digests: sweeps, transactions: sweeps, landed: sweeps });
  await localnet.close();
}
