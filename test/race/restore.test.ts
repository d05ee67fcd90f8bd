/** A restored pg_dump after the chain has moved on, with a network that makes real signatures cheaply. */

import { execFile } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Localnet, startLocalnet } from "../../src/localnet/localnet.ts";
import { localnetDepositSeed } from "../../src/localnet/seed.ts";
import { type CreatedApiKey, insertApiKey, revokeApiKey } from "../../src/service/access/keys/api-keys.ts";
import { createApiKeyLookup } from "../../src/service/access/keys/stored-keys.ts";
import type { NetworkReconciliation } from "../../src/service/app/reconcile-offline.ts";
import { operationKinds } from "../../src/service/app/work.ts";
import { depositAddress } from "../../src/service/billing/deposits/deposit-address.ts";
import { scanAddress } from "../../src/service/billing/deposits/scan-address.ts";
import { queueSweeps } from "../../src/service/billing/sweeps/queue-sweeps.ts";
import { createDepositSigner } from "../../src/service/billing/sweeps/sweep-signer.ts";
import { createPaymentReader } from "../../src/service/chain/payment-reader.ts";
import { createNetworkReader } from "../../src/service/chain/reader.ts";
import { type LaneLease, leaseLane } from "../../src/service/chain/submit/lane-table.ts";
import { prepareLanes } from "../../src/service/chain/submit/prepare-lanes.ts";
import { verifyLedger } from "../../src/service/ledger/verify-ledger.ts";
import { useConsent } from "../../src/service/onboarding/custody/consents.ts";
import { findDWallet } from "../../src/service/onboarding/dwallet-row.ts";
import { createLocalSignals } from "../../src/service/platform/coordination/local-coordination.ts";
import { createRedisCoordination } from "../../src/service/platform/coordination/redis-coordination.ts";
import { topics } from "../../src/service/platform/coordination/topics.ts";
import type { Database } from "../../src/service/platform/store/database.ts";
import { Secret } from "../../src/service/platform/telemetry/secret.ts";
import { reconcile as reconcileWith } from "../../src/service/restore/reconcile.ts";
import type { ReissuedKey } from "../../src/service/restore/reissue-keys.ts";
import { reserve } from "../../src/service/signing/reserve.ts";
import { readSignRequest, type SignRequestRow } from "../../src/service/signing/sign-request.ts";
import { submit } from "../../src/service/signing/submit.ts";
import { createLife } from "../sim/mortal.ts";
import { onboardUser, type SimUser, time } from "../sim/onboard-user.ts";
import { createRandom } from "../sim/random.ts";
import { ALONE_PACE, DKG_PRICE, PRICE, type Replica, startReplica } from "../sim/replica.ts";
import { createSimMpc } from "../sim/sim-mpc.ts";
import { networkConfig } from "../support/chain/network-config.ts";
import { acceptedCoin, fundedPayer, SUI, testDeposits } from "../support/database/deposits.ts";
import { signConsent } from "../support/database/exits.ts";
import { type ObservedDatabase, observeDatabase } from "../support/database/observe-database.ts";
import { migratedDatabase, testDatabase } from "../support/database/postgres.ts";
import { flatPrices } from "../support/database/prices.ts";
import { testRedis } from "../support/database/redis.ts";
import {
  layoutOfSignMessage,
  projectWith,
  TEST_OPERATOR,
  TEST_ORIGIN,
  TEST_TRIPLE,
} from "../support/database/rows.ts";
import { openTestPool } from "../support/database/test-pool.ts";
import { runTss } from "../support/service/service.ts";
import { silentLog } from "../support/silent-log.ts";

const SEED = new Secret(localnetDepositSeed());
const run = promisify(execFile);
const dumpFile = path.join(tmpdir(), `tss-test-${process.pid}.dump`);
const keysFile = `${dumpFile}.keys`;
const [lost, copy] = [await migratedDatabase(), await testDatabase()];
const redisUrl = await testRedis();

describe.skipIf(!lost || !copy || !redisUrl)("a database that lost its last minutes", () => {
  const alarms: object[] = [];
  let localnet: Localnet;
  let before: ObservedDatabase;
  let after: ObservedDatabase;
  /** The database of the running replica. */
  let used: ObservedDatabase;
  let replica: Replica;
  let projectId = "";
  /** The requests of the users, in the order of the calls. */
  const signed = { known: "", reserved: "", unknown: "", newWallet: "", stranger: "" };
  let first: { dwalletId: string };
  let stranger: { dwalletId: string };
  /** A user whose dWallet is in the copy, and who has left since. */
  let leaver: SimUser;
  /** A transaction that the copy stores without an outcome. */
  let underWay: string;
  /** The lanes' leases after a reconciliation that died. */
  let leases: (LaneLease | undefined)[];
  let report: NetworkReconciliation;
  let revoked: CreatedApiKey;

  const caller = () => ({ projectId, network: "localnet", origin: TEST_ORIGIN });
  /** Each replica has its own, initially empty keys and channels on Redis. */
  const start = async (database: ObservedDatabase) => {
    used = database;
    const coordination = createRedisCoordination({
      url: redisUrl!,
      log: silentLog,
      prefix: `tss-test-${randomUUID()}:`,
    });
    await coordination.ready();
    return startReplica({
      database,
      localnet,
      signals: { ...coordination.signals, close: () => coordination.close() },
      life: createLife(Number.POSITIVE_INFINITY, () => {}),
      depositSigner: createDepositSigner(SEED, "localnet"),
      pace: ALONE_PACE,
      times: { readMs: 10_000, buildMs: 10_000, executeMs: 10_000 },
      log: (level, fields, message) => {
        if (level === "error") alarms.push({ ...fields, message });
      },
    });
  };
  /** A user whose random bytes all follow from a seed, so that a second one with the same seed makes the same calls. */
  const onboard = (seed: number, beforeCall: (index: number) => Promise<void> = async () => {}) => {
    const random = createRandom(seed);
    const bytes = (length: number) => Uint8Array.from({ length }, () => random.integer(0, 255));
    let index = 0;
    return onboardUser(
      caller(),
      async (attempt) => {
        await beforeCall(index++);
        return used.retrying((db) => attempt({ ...replica.deps, database: db }));
      },
      bytes,
    );
  };
  const tryReserve = (dwalletId: string, database: Database = replica.deps.database) => {
    const message = new Uint8Array(randomBytes(32));
    const input = { dwalletId, triple: TEST_TRIPLE, message, idempotency: undefined };
    return reserve({ ...replica.deps, database, reservationTtlMs: 600_000 }, caller(), input, time());
  };
  const reserveOne = async (dwalletId: string): Promise<string> => {
    const { id } = await used.retrying((db) => tryReserve(dwalletId, db));
    return id;
  };
  const completed = (database: ObservedDatabase, id: string): Promise<SignRequestRow> =>
    database.until(async (db) => {
      const row = await readSignRequest(db, { id, caller: { projectId } });
      return row?.status === "completed" && row;
    });
  const submitOne = async (signRequestId: string): Promise<void> => {
    await submit(replica.deps, caller(), { signRequestId, userSignMessage: layoutOfSignMessage() });
    await completed(used, signRequestId);
  };
  /** Makes a deposit, a part of it in the address balance, that is credited and swept, and one that stays. */
  const depositAndSweep = async (): Promise<void> => {
    const { network } = replica;
    const ika = acceptedCoin("IKA", `${localnet.ikaConfig.packages.ikaPackage}::ika::IKA`);
    const payer = await fundedPayer(network.client, localnet.url, ika.coinType);
    const deposits = testDeposits(
      before,
      { SUI: "3.5", IKA: "0.02" },
      { coins: [SUI, ika], reader: createPaymentReader(network), masterSeed: SEED },
    );
    const address = await depositAddress(deposits, { projectId, reference: "" });
    await payer.payFunds(address, 1_500_000_000n, 500_000_000n);
    await scanAddress(deposits, { address, projectId });
    await queueSweeps({
      database: before,
      network: "localnet",
      destination: `0x${"d".repeat(64)}`,
      signerOf: createDepositSigner(SEED, "localnet"),
      minValueMicroUsd: 1n,
      maxCoinCount: 10,
      log: silentLog,
    });
    replica.deps.signals.notify(topics.outbox("localnet"));
    await before.until(
      async (db) => (await db.query("SELECT 1 FROM sweep WHERE state = 'landed'", [])).length === 1,
    );
    await payer.pay(address, { sui: 0n, ika: 100_000_000_000n });
    await scanAddress(deposits, { address, projectId });
  };
  const signOne = async (dwalletId: string): Promise<string> => {
    const id = await reserveOne(dwalletId);
    await submitOne(id);
    return id;
  };
  const reconcile = async (...argv: string[]): Promise<NetworkReconciliation> => {
    const tss = runTss(["reconcile", "--json", ...argv], {
      DATABASE_URL: copy!.url,
      LOCALNET_URL: localnet.url,
      BILLING_PRICE_SIGN_MICRO_USD: String(PRICE),
      BILLING_PRICE_DKG_MICRO_USD: String(DKG_PRICE),
      BILLING_USD_PRICES: "SUI=3.5,IKA=0.02",
    });
    const [output, errors] = await Promise.all([text(tss.stdout!), text(tss.stderr!)]);
    expect(errors).toBe("");
    return JSON.parse(output) as NetworkReconciliation;
  };
  /**
   * A presign transaction whose outcome the copy does not know. If the copy was made while one was in progress, it is that
   * one. Otherwise the outcome of the newest on a lane without a transaction in progress is undone.
   */
  const presignUnderWay = async (): Promise<string> => {
    const [inProgress] = await after.query<{ digest: string }>(
      `SELECT t.digest FROM chain_transaction t JOIN chain_operation o ON o.tx_digest = t.digest
       WHERE t.state = 'stored' AND o.kind = 'presign' LIMIT 1`,
      [],
    );
    if (inProgress) return inProgress.digest;
    const [newest] = await after.query<{ digest: string }>(
      `SELECT t.digest FROM chain_transaction t JOIN presign p ON p.tx_digest = t.digest
       WHERE NOT EXISTS (SELECT FROM chain_transaction other WHERE other.lane = t.lane AND other.state = 'stored')
       GROUP BY t.digest, t.created_at HAVING bool_and(p.state IN ('pending', 'ready'))
       ORDER BY t.created_at DESC LIMIT 1`,
      [],
    );
    const { digest } = newest!;
    for (const statement of [
      "UPDATE presign SET state = 'requested', presign_id = NULL, presign = NULL, tx_digest = NULL WHERE tx_digest = $1",
      "UPDATE chain_operation SET state = 'sent' WHERE tx_digest = $1",
      "UPDATE chain_transaction SET state = 'stored', gas_used_mist = NULL, resolved_at = NULL WHERE digest = $1",
    ])
      await after.query(statement, [digest]);
    return digest;
  };
  /** Reconciles until a signature is about to be stored, and then dies. */
  const dieHalfWay = async () => {
    const { network } = replica;
    const reader = createNetworkReader(network);
    const life = { database: after, network, reader, log: silentLog };
    await prepareLanes({ ...life, afterRestore: true });
    const config = networkConfig({
      submitBatchCount: 5,
      refundsPerDay: 20,
      presignBatchCount: 5,
      prices: flatPrices(PRICE, DKG_PRICE),
    });
    const signals = createLocalSignals();
    const kinds = operationKinds({
      ...life,
      chain: network,
      signals,
      config,
      depositSigner: () => undefined,
    });
    const mortal = kinds.map((kind) => ({
      ...kind,
      landed: async (...args: Parameters<typeof kind.landed>) => {
        if (kind.name === "sign") throw new Error("death");
        await kind.landed(...args);
      },
    }));
    const deposits = testDeposits(
      after,
      { SUI: undefined, IKA: undefined },
      { coins: [SUI], reader: createPaymentReader(network), masterSeed: SEED },
    );
    await expect(reconcileWith({ ...life, kinds, deposits: undefined, config })).rejects.toThrow(
      "BILLING_DEPOSIT_MASTER_SEED_HEX",
    );
    return reconcileWith({ ...life, kinds: mortal, deposits, config });
  };
  const balanceOf = async (database: Database): Promise<bigint | undefined> => {
    const [row] = await database.query<{ balance: bigint }>(
      "SELECT balance_micro_usd AS balance FROM project WHERE id = $1",
      [projectId],
    );
    return row?.balance;
  };

  beforeAll(async () => {
    localnet = await startLocalnet({ mpc: createSimMpc(), epochDurationMs: 24 * 3_600_000 });
    before = observeDatabase(await openTestPool(lost!.url));
    projectId = await projectWith(before, 2n * PRICE + 3n * DKG_PRICE);
    replica = await start(before);
    revoked = await insertApiKey(before, TEST_ORIGIN, { projectId, name: "leaked", scopes: ["sign"] });
    first = await onboard(1);
    leaver = await onboard(4);
    signed.known = await signOne(first.dwalletId);
    signed.reserved = await reserveOne(first.dwalletId);
    // The copy is made when this user's encryption key exists and the dWallet does not.
    const second = await onboard(2, async (index) => {
      if (index === 1)
        await run("pg_dump", ["--format=custom", `--file=${dumpFile}`, `--dbname=${lost!.url}`]);
    });
    await revokeApiKey({ db: before, lookup: { forget: () => {} } }, TEST_OPERATOR, revoked.id);
    await submitOne(signed.reserved);
    // The credit for the other signatures.
    await depositAndSweep();
    signed.unknown = await signOne(first.dwalletId);
    signed.newWallet = await signOne(second.dwalletId);
    stranger = await onboard(3);
    signed.stranger = await signOne(stranger.dwalletId);
    const exit = { client: replica.network.client, treasury: localnet.treasury };
    const { keypair, dwalletId } = leaver;
    await useConsent(replica.deps, caller(), await signConsent(exit, keypair, { dwalletId }), time(60_000));
    await replica.stop();

    await run("pg_restore", ["--exit-on-error", `--dbname=${copy!.url}`, dumpFile]);
    after = observeDatabase(await openTestPool(copy!.url));
    // A restore takes longer than a lease lasts, except here.
    await after.query("UPDATE lane SET leased_until = leased_until - interval '1 hour'");
    underWay = await presignUnderWay();
    await expect(dieHalfWay()).rejects.toThrow("death");
    // A service that is started now without a reconciliation must lease no lane.
    const { network } = replica;
    const reader = createNetworkReader(network);
    await prepareLanes({ database: after, network, reader, afterRestore: false, log: silentLog });
    const lanes = network.treasury.operatorCapIds;
    leases = await Promise.all(lanes.map((laneId) => leaseLane(after, laneId, 1)));
    report = await reconcile();
  }, 300_000);

  afterAll(async () => {
    await replica?.stop();
    await after?.close();
    await before?.close();
    await localnet?.close();
    await Promise.all([lost?.drop(), copy?.drop()]);
    for (const file of [dumpFile, keysFile]) rmSync(file, { force: true });
  }, 60_000);

  it("sends nothing after a reconciliation that died half-way through", async () => {
    expect(leases.length).toBeGreaterThan(0);
    expect(leases.filter((lease) => lease !== undefined)).toEqual([]);
  });

  it("learns the outcome of a transaction that was in progress when the copy was made", async () => {
    const rows = await after.query(
      `SELECT DISTINCT t.state, o.state AS operation, p.state = 'requested' AS "isWaiting" FROM chain_transaction t
       JOIN chain_operation o ON o.tx_digest = t.digest JOIN presign p ON p.id = o.subject_id WHERE t.digest = $1`,
      [underWay],
    );
    expect(rows).toEqual([{ state: "landed", operation: "landed", isWaiting: false }]);
  });

  it("has a report of the restored rows and of those that cannot be restored", () => {
    // The reconciliation that died had already restored the second user's dWallet, and maybe the sweep.
    expect(report.counts).toMatchObject({ register: 0, dkg: 0, accept: 0, sign: 3 });
    expect(report.unrecoverable.map(({ what }) => what)).toEqual([
      "encryption key",
      "dWallet",
      "sign request",
    ]);
    expect(report.unrecoverable.map(({ id }) => id)).toEqual(
      expect.arrayContaining([stranger.dwalletId, signed.stranger]),
    );
  });

  it("is complete after one run, and the next run changes nothing", { timeout: 120_000 }, async () => {
    expect(await after.query("SELECT 1 FROM lane WHERE foreign_digest IS NOT NULL")).toEqual([]);
    const again = await reconcile();
    expect(again).toMatchObject({ transactionCount: 0, adoptedCount: 0, burntCount: 0, heldCount: 0 });
    expect(await verifyLedger(after)).toEqual([]);
  });

  it("has every signature again, charged once, and continues to sign", { timeout: 120_000 }, async () => {
    replica = await start(after);
    for (const id of [signed.known, signed.reserved, signed.unknown, signed.newWallet]) {
      const [was, is] = [await completed(before, id), await completed(after, id)];
      const essence = (row: SignRequestRow) => [row.signature, row.txDigest, row.signSessionId, row.message];
      expect([id, essence(is)]).toEqual([id, essence(was)]);
    }
    // No project could be charged for the stranger's dWallet and signature.
    expect(await balanceOf(after)).toBe((await balanceOf(before))! + DKG_PRICE + PRICE);
    await signOne(first.dwalletId);
    expect(await verifyLedger(after)).toEqual([]);
    expect(alarms).toEqual([]);
  });

  it("refuses to sign for a user who has left since, and charges nothing", { timeout: 120_000 }, async () => {
    await after.until(
      async (db) => (await findDWallet(db, { projectId }, leaver.dwalletId)).state === "Left",
    );
    const balance = await balanceOf(after);
    await expect(tryReserve(leaver.dwalletId)).rejects.toMatchObject({ reason: "DWALLET_LEFT" });
    expect(await balanceOf(after)).toBe(balance);
    expect(await verifyLedger(after)).toEqual([]);
  });

  it("finds all deposits again, even swept ones, and credits them once", {
    timeout: 120_000,
  }, async () => {
    const { network } = replica;
    const ika = acceptedCoin("IKA", `${localnet.ikaConfig.packages.ikaPackage}::ika::IKA`);
    const deposits = testDeposits(
      after,
      { SUI: "3.5", IKA: "0.02" },
      { coins: [SUI, ika], reader: createPaymentReader(network), masterSeed: SEED },
    );
    const address = await depositAddress(deposits, { projectId, reference: "" });
    for (let look = 0; look < 2; look++) await scanAddress(deposits, { address, projectId });
    const read = (database: Database) =>
      database.query(
        `SELECT d.tx_digest, d.coin_type, d.amount::text, c.amount::text AS part, c.in_address_balance,
           d.value_micro_usd, s.state, s.tx_digest AS swept
         FROM deposit d LEFT JOIN deposit_coin c ON c.deposit_id = d.id LEFT JOIN sweep s ON s.id = c.sweep_id
         ORDER BY d.coin_type, c.amount`,
        [],
      );
    const found = await read(after);
    expect(found).toHaveLength(3);
    expect(found).toEqual(await read(before));
    expect(await verifyLedger(after)).toEqual([]);
  });

  it("gets a dWallet again when its owner repeats the same calls", { timeout: 120_000 }, async () => {
    expect(await onboard(3)).toEqual(stranger);
    await signOne(stranger.dwalletId);
    expect(await verifyLedger(after)).toEqual([]);
  });

  it("needs a new key for every project, because a revoked key would work again, and that one is not renewed", {
    timeout: 120_000,
  }, async () => {
    await replica.stop();
    const kept = await insertApiKey(after, TEST_ORIGIN, { projectId, name: "kept", scopes: ["sign"] });
    const { reissuedKeyCount } = await reconcile("--reissue-keys", keysFile, "--revoked", revoked.id);
    expect(reissuedKeyCount).toBe(1);
    expect(statSync(keysFile).mode & 0o777).toBe(0o600);
    const key = JSON.parse(readFileSync(keysFile, "utf8")) as ReissuedKey;
    expect(key).toMatchObject({ projectId, name: "kept", replacedPrefix: kept.prefix });
    const { find } = createApiKeyLookup({ database: after, log: silentLog });
    for (const { plaintext } of [revoked, kept]) expect((await find(plaintext))?.isRevoked).toBe(true);
    expect(await find(key.apiKey)).toMatchObject({ projectId, isRevoked: false });
  });
});
