/** Deposits that checkpoints announce, on a localnet and a real PostgreSQL. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { type Localnet, startLocalnet } from "../../src/localnet/localnet.ts";
import { localnetHotWalletSecret } from "../../src/localnet/seed.ts";
import { leaseFollower, moveFollower } from "../../src/service/billing/deposits/checkpoint-follower.ts";
import { declareDeposit } from "../../src/service/billing/deposits/declare-deposit.ts";
import { depositAddress } from "../../src/service/billing/deposits/deposit-address.ts";
import type { Deposits } from "../../src/service/billing/deposits/deposits.ts";
import {
  type CheckpointGains,
  type CheckpointReader,
  createCheckpointReader,
} from "../../src/service/chain/checkpoint-reader.ts";
import { type ChainNetwork, connectNetwork } from "../../src/service/chain/fullnodes/network.ts";
import { createPaymentReader } from "../../src/service/chain/payment-reader.ts";
import { systemClock } from "../../src/service/platform/lifecycle/clock.ts";
import type { Queryable } from "../../src/service/platform/store/database.ts";
import { Secret } from "../../src/service/platform/telemetry/secret.ts";
import { type DepositWatch, quietAddresses, watchDeposits } from "../support/database/deposit-watch.ts";
import { acceptedCoin, fundedPayer, type Payer, SUI, testDeposits } from "../support/database/deposits.ts";
import {
  createStatementEvents,
  type ObservedDatabase,
  observeDatabase,
} from "../support/database/observe-database.ts";
import { migratedDatabase } from "../support/database/postgres.ts";
import { moneyOf, objectId, projectWith, TEST_ORIGIN } from "../support/database/rows.ts";
import { openTestPool } from "../support/database/test-pool.ts";
import { createCheapMpc } from "../unit/localnet/cheap-mpc.ts";

const test = await migratedDatabase();
const pools: ObservedDatabase[] = [];
/** The statements of both pools. */
const statements = createStatementEvents();
if (test !== undefined) {
  for (let pool = 0; pool < 2; pool++) pools.push(observeDatabase(await openTestPool(test.url), statements));
}
afterAll(async () => {
  for (const pool of pools) await pool.close();
  await test?.drop();
});

const ONE_SUI = { sui: 1_000_000_000n, ika: 0n };
const ONE_SUI_MICRO_USD = 3_500_000n;

describe.skipIf(test === undefined)("deposits that checkpoints announce", { timeout: 60_000 }, () => {
  const db = pools[0]!;
  let localnet: Localnet;
  let network: ChainNetwork;
  let checkpoints: CheckpointReader;
  let payer: Payer;
  let replicas: Deposits[];
  let running: DepositWatch[];

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
    const ika = acceptedCoin("IKA", `${ikaConfig.packages.ikaPackage}::ika::IKA`);
    payer = await fundedPayer(network.client, url, ika.coinType);
    const reader = createPaymentReader(network);
    const prices = { SUI: "3.5", IKA: "0.02" };
    replicas = pools.map((pool) => testDeposits(pool, prices, { coins: [SUI, ika], reader }));
    checkpoints = createCheckpointReader(
      network,
      [SUI, ika].map(({ coinType }) => coinType),
    );
  });
  beforeEach(async () => {
    running = [];
    await db.query("DELETE FROM checkpoint_follower", []);
    await quietAddresses(db);
  });
  afterEach(async () => {
    await Promise.all(running.map((watch) => watch.stop()));
    localnet.faults.set({ noSubscriptions: false, cutSubscription: 0, keptCheckpoints: 0 });
  });
  afterAll(() => localnet.close());

  const watch = (index = 0, reader = checkpoints, pollMs?: number) => {
    const started = watchDeposits(replicas[index]!, reader, pollMs);
    running.push(started);
    return started;
  };
  /** A project whose address is not scanned within a day. */
  const quietProject = async (reference = "") => {
    const projectId = await projectWith(db, 0n);
    const address = await depositAddress(replicas[0]!, { projectId, reference });
    await quietAddresses(db);
    return { projectId, address };
  };
  const expectCredited = async (projectId: string, deposits = 1n) => {
    expect(await moneyOf(db, projectId)).toEqual({
      balance: deposits * ONE_SUI_MICRO_USD,
      held: 0n,
      differences: [],
    });
  };
  const follower = async (from: Queryable = db) => {
    const [row] = await from.query<{ next: bigint; isFollowing: boolean; fence: bigint }>(
      `SELECT next_checkpoint AS next, is_following AS "isFollowing", fence FROM checkpoint_follower`,
      [],
    );
    return row;
  };
  const secondsToScan = async (address: string, from: Queryable = db) => {
    const [row] = await from.query<{ seconds: number }>(
      "SELECT extract(epoch FROM due_at - now())::float8 AS seconds FROM deposit_address WHERE address = $1",
      [address],
    );
    return row!.seconds;
  };

  it("are credited at quiet addresses at once, whether these have a reference or not", async () => {
    const projects = [await quietProject(), await quietProject("user-1")];
    const watching = watch();
    await watching.following();
    for (const { projectId, address } of projects) {
      await payer.pay(address, ONE_SUI);
      await watching.credited(projectId);
      await expectCredited(projectId);
    }
  });

  it("are credited once, even if scans and declarations see them at the same time", async () => {
    const { projectId, address } = await quietProject();
    const watches = [watch(0), watch(1)];
    await Promise.race(watches.map((one) => one.following()));
    for (let paid = 1n; paid <= 5n; paid++) {
      const { next } = (await follower())!;
      const digest = await payer.pay(address, ONE_SUI);
      const declarer = { projectId, origin: TEST_ORIGIN };
      await Promise.all([
        ...replicas.map((replica) => declareDeposit(replica, declarer, digest)),
        db.query("UPDATE deposit_address SET due_at = date_trunc('milliseconds', now()) WHERE address = $1", [
          address,
        ]),
      ]);
      // Waits until the checkpoint has announced the payment, and the scan is complete.
      await db.until(async (from) => (await follower(from))!.next > next);
      await db.until(async (from) => (await secondsToScan(address, from)) > 0);
      await expectCredited(projectId, paid);
    }
  });

  it("are found if they were paid while no process followed", async () => {
    const { projectId, address } = await quietProject();
    const first = watch();
    await first.following();
    await first.stop();
    for (let others = 0; others < 60; others++) await payer.pay(objectId(), { sui: 1n, ika: 0n });
    await payer.pay(address, ONE_SUI);
    await quietAddresses(db);
    const second = watch(1);
    await second.credited(projectId);
    await expectCredited(projectId);
    expect(second.warnings).toEqual([]);
  });

  it("are found by a scan of every address when the fullnode has pruned their checkpoints", async () => {
    const { projectId, address } = await quietProject();
    const first = watch();
    await first.following();
    await first.stop();
    await payer.pay(address, ONE_SUI);
    await payer.pay(objectId(), ONE_SUI);
    await quietAddresses(db);
    localnet.faults.set({ keptCheckpoints: 1 });
    const second = watch(1);
    await second.credited(projectId);
    await expectCredited(projectId);
    expect(second.warnings).toEqual(["skips checkpoints and scans every deposit address"]);
  });

  it("are found when the stream breaks instead of announcing them", async () => {
    const { projectId, address } = await quietProject();
    const watching = watch();
    await watching.following();
    localnet.faults.set({ cutSubscription: 1 });
    await payer.pay(address, ONE_SUI);
    localnet.faults.set({ cutSubscription: 0 });
    await watching.credited(projectId);
    await expectCredited(projectId);
  });

  it("make their addresses due before or with the new position, whatever fails", async () => {
    const { address } = await quietProject();
    const lease = (await leaseFollower(db, "localnet", undefined))!;
    const move = (next: bigint) =>
      moveFollower(db, lease, { next, hasCaughtUp: true, addresses: [objectId(), address] });
    const fail = `CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''killed''; END'`;
    for (const statement of [
      fail.replace("RAISE", "RAISE EXCEPTION"),
      "CREATE TRIGGER kill BEFORE UPDATE ON checkpoint_follower FOR EACH ROW EXECUTE FUNCTION fail()",
    ])
      await db.query(statement, []);
    await expect(move(8n)).rejects.toThrow();
    await db.query("DROP TRIGGER kill ON checkpoint_follower", []);
    expect(await secondsToScan(address)).toBeGreaterThan(1_000);
    await db.query(
      "CREATE TRIGGER kill BEFORE UPDATE ON deposit_address FOR EACH ROW EXECUTE FUNCTION fail()",
      [],
    );
    await expect(move(8n)).rejects.toThrow();
    await db.query("DROP FUNCTION fail CASCADE", []);
    expect(await follower()).toMatchObject({ next: null, isFollowing: false });
    expect(await move(8n)).toBe(1);
    expect(await follower()).toMatchObject({ next: 8n, isFollowing: true });
    // The column has millisecond precision, so the statement's time may be rounded up.
    expect(await secondsToScan(address)).toBeLessThan(1);
  });

  it("are followed by one process at a time, and by another one after its death", async () => {
    const { projectId, address } = await quietProject();
    const subscribed: number[] = [];
    const counting = (index: number): CheckpointReader => ({
      ...checkpoints,
      subscribe(signal, onOpen) {
        subscribed.push(index);
        return checkpoints.subscribe(signal, onOpen);
      },
    });
    const watches = [watch(0, counting(0)), watch(1, counting(1))];
    await Promise.race(watches.map((one) => one.following()));
    expect(subscribed).toHaveLength(1);
    // Another process takes the lease, follows nothing, and dies.
    await db.query(
      "UPDATE checkpoint_follower SET fence = fence + 1, leased_until = now() + interval '3 seconds'",
      [],
    );
    const { fence } = (await follower())!;
    await payer.pay(address, ONE_SUI);
    await db.until(async (from) => (await moneyOf(from, projectId)).balance! > 0n);
    expect((await follower())!.fence).toBe(fence + 1n);
    expect(subscribed).toHaveLength(2);
    await expectCredited(projectId);
  });

  describe("by a lying fullnode", () => {
    /** A checkpoint reader whose stream and newest checkpoint come from the test. */
    function lyingReader() {
      let latest = 100n;
      let send: ((gains: CheckpointGains | undefined) => void) | undefined;
      const queue: (CheckpointGains | undefined)[] = [];
      const reader: CheckpointReader = {
        async *subscribe(signal, onOpen) {
          queue.length = 0;
          signal.addEventListener("abort", () => send?.(undefined));
          onOpen();
          while (!signal.aborted) {
            const gains =
              queue.shift() ?? (await new Promise<CheckpointGains | undefined>((take) => (send = take)));
            if (gains === undefined) return;
            yield gains;
          }
        },
        read: async (sequence) => ({ sequence, addresses: [] }),
        latest: async () => latest,
      };
      return {
        reader,
        say(sequence: bigint, ...addresses: string[]) {
          latest = sequence;
          queue.push({ sequence, addresses });
          const take = send;
          send = undefined;
          take?.(queue.shift());
        },
      };
    }

    it("about payments are not credited, and each lie costs a scan", async () => {
      const { projectId, address } = await quietProject();
      const liar = lyingReader();
      const watching = watch(0, liar.reader);
      await watching.following();
      const scanned: string[] = [];
      const { ownedCoins } = replicas[0]!.reader;
      const spy = vi.spyOn(replicas[0]!.reader, "ownedCoins").mockImplementation((owner, ...rest) => {
        scanned.push(owner);
        return ownedCoins(owner, ...rest);
      });
      liar.say(101n, address, objectId());
      await db.until(async () => scanned.length > 0);
      await db.until(async (from) => (await secondsToScan(address, from)) > 0);
      spy.mockRestore();
      expect(new Set(scanned)).toEqual(new Set([address]));
      await expectCredited(projectId, 0n);
      expect(await db.query("SELECT 1 FROM deposit WHERE project_id = $1", [projectId])).toEqual([]);
    });

    it("about the end of the chain are found by scans, and the position is corrected", async () => {
      const { projectId, address } = await quietProject();
      const liar = lyingReader();
      const watching = watch(0, liar.reader);
      await watching.following();
      await payer.pay(address, ONE_SUI);
      // The payment is hidden in one gap that is too large to read.
      liar.say(101n);
      await db.until(async (from) => (await follower(from))!.next === 102n);
      liar.say(2n ** 59n);
      await db.until(async (from) => (await follower(from))!.next === 2n ** 59n + 1n);
      await watching.credited(projectId);
      await watching.stop();
      const honest = watch(1);
      await db.until(async (from) => (await follower(from))!.next < 1_000_000n);
      await quietAddresses(db);
      await payer.pay(address, ONE_SUI);
      await honest.credited(projectId);
      await expectCredited(projectId, 2n);
    });
  });

  it("are found by scans as often as before on a fullnode without a stream, which is logged once", async () => {
    const { projectId, address } = await quietProject();
    const first = watch();
    await first.following();
    await first.stop();
    localnet.faults.set({ noSubscriptions: true });
    const second = watch(1);
    await db.until(async (from) => (await follower(from))!.isFollowing === false);
    for (let paid = 1n; paid <= 2n; paid++) {
      await payer.pay(address, ONE_SUI);
      await second.credited(projectId);
      await expectCredited(projectId, paid);
    }
    expect(second.warnings).toEqual(["cannot follow checkpoints; scans every deposit address instead"]);
  });
});
