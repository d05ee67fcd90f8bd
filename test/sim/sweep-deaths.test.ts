/**
 * A process that sweeps is killed before and after its calls to the database and the fullnode: all of them at night, and
 * otherwise every third.
 */

import type { SuiGrpcClient } from "@mysten/sui/grpc";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { Transaction } from "@mysten/sui/transactions";
import { describe, expect, it } from "vitest";
import { openLocalChain } from "../../src/localnet/local-chain.ts";
import { localnetHotWalletSecret } from "../../src/localnet/seed.ts";
import { deriveDepositKey } from "../../src/service/billing/deposits/request-address.ts";
import { scanAddress } from "../../src/service/billing/deposits/scan-address.ts";
import { createSweepLoop } from "../../src/service/billing/sweeps/sweep-loop.ts";
import { createSweepOperation } from "../../src/service/billing/sweeps/sweep-operation.ts";
import { createDepositSigner } from "../../src/service/billing/sweeps/sweep-signer.ts";
import { type ChainNetwork, connectNetwork } from "../../src/service/chain/fullnodes/network.ts";
import type { OperationKind } from "../../src/service/chain/operation.ts";
import { createPaymentReader } from "../../src/service/chain/payment-reader.ts";
import { createNetworkReader } from "../../src/service/chain/reader.ts";
import { createGasKeeper } from "../../src/service/chain/submit/gas-keeper.ts";
import { createLanes } from "../../src/service/chain/submit/lane.ts";
import { prepareLanes } from "../../src/service/chain/submit/prepare-lanes.ts";
import { createSubmitter } from "../../src/service/chain/submit/submitter.ts";
import { createLocalSignals } from "../../src/service/platform/coordination/local-coordination.ts";
import { pause } from "../../src/service/platform/lifecycle/clock.ts";
import type { Database } from "../../src/service/platform/store/database.ts";
import { Secret } from "../../src/service/platform/telemetry/secret.ts";
import { coinsOf, recordAddress, recordDeposits } from "../support/database/deposit-rows.ts";
import { SUI, testDeposits } from "../support/database/deposits.ts";
import { testDatabase } from "../support/database/postgres.ts";
import { moneyOf, objectId, projectWith } from "../support/database/rows.ts";
import { environment } from "../support/environment.ts";
import { silentLog } from "../support/silent-log.ts";
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
/** How many of its calls a process makes more before each death. */
const STRIDE = environment.isReference ? 1 : 3;
const ascending = (a: bigint, b: bigint) => (a < b ? -1 : 1);
const probe = await testDatabase();
await probe?.drop();

describe.skipIf(probe === undefined)("in simulated time", () => {
  it.each([
    ["of coins", recordsCoins],
    ["of an address balance", scansAddressBalance],
  ] as const)(
    "a sweep %s is finished once, wherever its process was killed",
    {
      timeout: 600_000,
    },
    async (_what, takesDeposits) => {
      const server = (await openSimServer(1))!;
      try {
        const scheduler = createScheduler({
          random: createRandom(1),
          stepMaxCount: 1_000_000,
          server: { ...server, setTime: (ms) => server.setTime(BEGIN_MS + ms) },
        });
        await server.begin(scheduler);
        await scheduler.drive(killEverywhere(server, scheduler, takesDeposits));
      } finally {
        await server.close();
      }
    },
  );
});

/** How deposits reach the address and the database. */
type TakesDeposits = (place: {
  readonly database: Database;
  readonly network: ChainNetwork;
  readonly owner: { readonly projectId: string; readonly reference: string; readonly address: string };
}) => {
  /** Makes and credits a deposit. Returns its amount. */
  make(step: number): Promise<bigint>;
  /** Expects that each deposit was credited once. */
  check(): Promise<void>;
};

function recordsCoins({
  database,
  network: { client },
  owner,
}: Parameters<TakesDeposits>[0]): ReturnType<TakesDeposits> {
  return {
    async make(step) {
      await pay(client, (transaction) =>
        transaction.transferObjects([transaction.splitCoins(transaction.gas, [step])[0]!], owner.address),
      );
      const [[, amount] = ["", 0n]] = await recordDeposits(database, client, owner, { state: "credited" });
      return amount;
    },
    async check() {},
  };
}

function scansAddressBalance({
  database,
  network,
  owner,
}: Parameters<TakesDeposits>[0]): ReturnType<TakesDeposits> {
  const deposits = testDeposits(
    database,
    { SUI: "3.5", IKA: undefined },
    { coins: [SUI], reader: createPaymentReader(network), masterSeed: SEED, minimumMicroUsd: 1n },
  );
  let total = 0n;
  return {
    async make(step) {
      const amount = BigInt(step) * 10_000_000n;
      await pay(network.client, (transaction) =>
        transaction.moveCall({
          target: "0x2::balance::send_funds",
          typeArguments: [SUI.coinType],
          arguments: [transaction.balance({ balance: amount }), transaction.pure.address(owner.address)],
        }),
      );
      expect(await scanAddress(deposits, owner)).toMatchObject({ foundCount: 1, creditedCount: 1 });
      total += amount;
      return amount;
    },
    async check() {
      expect(await scanAddress(deposits, owner)).toMatchObject({ foundCount: 0, unexplained: [] });
      const balance = (total * 35n) / 10_000n;
      expect(await moneyOf(database, owner.projectId)).toEqual({ balance, held: 0n, differences: [] });
    },
  };
}

async function pay(client: SuiGrpcClient, add: (transaction: Transaction) => void): Promise<void> {
  const transaction = new Transaction();
  transaction.setSender(hotWallet.toSuiAddress());
  add(transaction);
  const { $kind } = await client.signAndExecuteTransaction({ transaction, signer: hotWallet });
  expect($kind).toBe("Transaction");
}

async function killEverywhere(
  server: SimServer,
  { clock }: Scheduler,
  takesDeposits: TakesDeposits,
): Promise<void> {
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
  const signals = { ...createLocalSignals(), notify() {} };
  await createGasKeeper({ clock, database, network, reader, laneIds, signals, log: silentLog }).assign();

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
      clock,
      database: mine,
      network: "localnet",
      reader,
      signals,
      log: silentLog,
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
  const deposits = takesDeposits({ database, network, owner });
  const credited: bigint[] = [];
  const arrived = async () => [...(await coinsOf(client, destination)).values()].sort(ascending);
  let deaths = 0;
  for (let lastStep = 1, isOver = false; !isOver; lastStep += STRIDE) {
    credited.push(await deposits.make(lastStep));
    isOver = await sweep(lastStep);
    if (isOver) break;
    deaths++;
    expect(await sweep(Number.POSITIVE_INFINITY)).toBe(true);
    expect(await arrived()).toEqual(credited);
    await deposits.check();
  }
  expect(deaths).toBeGreaterThan(20 / STRIDE);
  expect(await arrived()).toEqual(credited);
  const { balance } = await client.getBalance({ owner: address });
  expect(balance.balance).toBe("0");
  // Each sweep was one transaction, and all of them succeeded.
  const [counts] = await database.query(
    `SELECT count(*)::int AS sweeps, count(DISTINCT tx_digest)::int AS digests,
            (SELECT count(*)::int FROM chain_transaction) AS transactions,
            (SELECT count(*)::int FROM chain_transaction WHERE state = 'landed') AS landed FROM sweep`,
  );
  const sweeps = credited.length;
  expect(counts).toEqual({ sweeps, digests: sweeps, transactions: sweeps, landed: sweeps });
  await localnet.close();
}
