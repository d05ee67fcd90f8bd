/** Lanes, their gas and the Treasury's presigns, against a localnet with a real fullnode. */

import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { Transaction } from "@mysten/sui/transactions";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { leaseLane } from "../../../../src/service/chain/submit/lane-table.ts";
import { readTreasury } from "../../../../src/service/chain/treasury/read-treasury.ts";
import { createTreasuryReader } from "../../../../src/service/chain/treasury/treasury-reader.ts";
import { type Clock, systemClock } from "../../../../src/service/platform/lifecycle/clock.ts";
import type { Queryable } from "../../../../src/service/platform/store/database.ts";
import { requestPresigns } from "../../../../src/service/presigns/request-presigns.ts";
import { type ChainService, startChainService } from "../../../support/chain/chain-service.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { type ObservedDatabase, observeDatabase } from "../../../support/database/observe-database.ts";
import {
  type Harness,
  hotWallet,
  payFunds,
  payPresigns,
  presignIdsOf,
  startHarness,
} from "../../localnet/harness.ts";

const SPONSOR = new Uint8Array(32).fill(7);
const sponsorAddress = Ed25519Keypair.fromSecretKey(SPONSOR).toSuiAddress();

let harness: Harness;
let database: ObservedDatabase;
let service: ChainService | undefined;

beforeEach(async () => {
  harness = await startHarness({ accounts: [sponsorAddress] });
  database = observeDatabase(await openTestDatabase());
}, DATABASE_TIMEOUT_MS);
afterEach(async () => {
  await service?.stop();
  service = undefined;
  await database.close();
  await harness.close();
});

const bucket = () => ({
  network: "localnet",
  curve: 0,
  signatureAlgorithm: 0,
  networkEncryptionKeyId: harness.net.networkEncryptionKeyId,
});
const count = async (statement: string, db: Queryable = database): Promise<number> =>
  (await db.query<{ n: number }>(`SELECT count(*)::int AS n FROM ${statement}`))[0]?.n ?? 0;
const until = (statement: string, expected: number) =>
  database.until(async (db) => (await count(statement, db)) === expected);

/** The rest of the gas keeper, half a minute, ends at once. */
const eagerClock: Clock = {
  ...systemClock,
  after: (durationMs, call) => systemClock.after(durationMs === 30_000 ? 50 : durationMs, call),
};
/** No call has a time limit of half a minute, which the clock would shorten. */
const eager = { clock: eagerClock, times: { readMs: 10_000, buildMs: 60_000, executeMs: 60_000 } };

describe("the lanes", () => {
  it("work in parallel, each with its own cap and coins", async () => {
    service = await startChainService(database, harness.net);
    await requestPresigns(database, bucket(), 60);
    await until("presign WHERE state = 'ready'", 60);
    const transactions = await database.query<{ lane: string; bytes: Uint8Array }>(
      "SELECT lane, bytes FROM chain_transaction",
    );
    const coinsOf = new Map<string, Set<string>>();
    for (const { lane, bytes } of transactions)
      for (const { objectId } of Transaction.from(bytes).getData().gasData.payment ?? [])
        coinsOf.set(lane, (coinsOf.get(lane) ?? new Set()).add(objectId));
    const coins = [...coinsOf.values()].flatMap((set) => [...set]);
    expect(new Set(coins).size).toBe(coins.length);
    expect(service.alarms).toEqual([]);
  });

  it("share the gas of a wallet with one coin", async () => {
    const coins = (await harness.client.listCoins({ owner: hotWallet.toSuiAddress() })).objects;
    await harness.run((tx) => {
      const [first, ...rest] = coins;
      tx.setGasPayment([first!]);
      tx.mergeCoins(
        tx.gas,
        rest.map((coin) => tx.objectRef(coin)),
      );
    });
    service = await startChainService(database, harness.net);
    await until("(SELECT DISTINCT lane_id FROM gas_coin WHERE NOT merged) AS lanes", 4);
    expect(service.alarms).toEqual([]);
  });

  it("report when no gas is left to share, and leave the rest to the lanes that wait", async () => {
    const poor = new Uint8Array(32).fill(9);
    service = await startChainService(database, harness.net, {
      gasStationSecret: poor,
      presignLowWaterCount: 1,
    });
    expect(await service.firstAlarm()).toMatchObject({
      gasOwner: Ed25519Keypair.fromSecretKey(poor).toSuiAddress(),
      lanes: harness.net.treasury.operatorCapIds,
    });
    expect(await count("presign")).toBe(0);
  });

  it("let a gas station pay, and store its signature beside the hot wallet's", async () => {
    service = await startChainService(database, harness.net, { gasStationSecret: SPONSOR });
    await requestPresigns(database, bucket(), 2);
    await until("presign WHERE state = 'ready'", 2);
    const [stored] = await database.query<{ bytes: Uint8Array; signatures: string[]; sender: string }>(
      "SELECT bytes, signatures, sender FROM chain_transaction",
    );
    expect(stored?.signatures).toHaveLength(2);
    expect(stored?.sender).toBe(hotWallet.toSuiAddress());
    const { gasData } = Transaction.from(stored!.bytes).getData();
    expect(gasData.owner).toBe(sponsorAddress);
    const owned = (await harness.client.listCoins({ owner: sponsorAddress })).objects.map((c) => c.objectId);
    for (const { objectId } of gasData.payment?.slice(0, 1) ?? []) expect(owned).toContain(objectId);
  });

  it("are paid for by a wallet that has SUI only in its address balance, which becomes coins", async () => {
    const secret = new Uint8Array(32).fill(9);
    const owner = Ed25519Keypair.fromSecretKey(secret).toSuiAddress();
    await payFunds(harness, owner, 10_000_000_000n);
    service = await startChainService(database, harness.net, { gasStationSecret: secret, ...eager });
    await until("(SELECT DISTINCT lane_id FROM gas_coin WHERE NOT merged) AS lanes", 4);
    await requestPresigns(database, bucket(), 1);
    await until("presign WHERE state = 'ready'", 1);
    const { balance } = await harness.client.getBalance({ owner });
    expect(BigInt(balance.addressBalance)).toBeLessThan(20_000_000n);
    expect(BigInt(balance.coinBalance)).toBeGreaterThan(9_900_000_000n);
    expect(service.alarms).toEqual([]);
  });

  it("continue after a restore to a time before their gas became coins", async () => {
    const secret = new Uint8Array(32).fill(9);
    await payFunds(harness, Ed25519Keypair.fromSecretKey(secret).toSuiAddress(), 10_000_000_000n);
    service = await startChainService(database, harness.net, { gasStationSecret: secret, ...eager });
    await until("(SELECT DISTINCT lane_id FROM gas_coin WHERE NOT merged) AS lanes", 4);
    const known = await count("chain_transaction WHERE state = 'landed'");
    await service.stop();
    await database.query("DELETE FROM chain_transaction");
    await database.query("DELETE FROM gas_coin");
    service = await startChainService(database, harness.net, {
      gasStationSecret: secret,
      ...eager,
      afterRestore: true,
    });
    expect(await count("chain_transaction WHERE state = 'landed'")).toBe(known);
    await requestPresigns(database, bucket(), 1);
    await until("presign WHERE state = 'ready'", 1);
    expect(service.alarms).toEqual([]);
  });

  it("make a coin of the whole address balance if they have coins to pay for it", async () => {
    const owner = hotWallet.toSuiAddress();
    await payFunds(harness, owner, 1_000_000_000n);
    service = await startChainService(database, harness.net);
    await until("chain_transaction WHERE state = 'landed'", 1);
    const { balance } = await harness.client.getBalance({ owner });
    expect(balance.addressBalance).toBe("0");
    const [{ gas } = { gas: 0n }] = await database.query<{ gas: bigint }>(
      "SELECT gas_used_mist AS gas FROM chain_transaction",
    );
    expect(gas).toBeLessThan(5_000_000n);
    expect(service.alarms).toEqual([]);
  });

  it("continue after one of their transactions was wrongly taken for dead", async () => {
    service = await startChainService(database, harness.net);
    const before = await database.query<{ id: string; version: string; digest: string }>(
      "SELECT id, version, digest FROM lane",
    );
    const coins = await database.query<{ id: string; version: string; digest: string }>(
      "SELECT object_id AS id, version, digest FROM gas_coin",
    );
    await requestPresigns(database, bucket(), 1);
    await until("presign WHERE state = 'ready'", 1);
    // As if a lagging fullnode did not know the transaction when its epoch ended.
    await database.query("UPDATE chain_transaction SET state = 'dropped'");
    for (const { id, version, digest } of before)
      await database.query("UPDATE lane SET version = $2, digest = $3 WHERE id = $1", [id, version, digest]);
    for (const { id, version, digest } of coins)
      await database.query(
        "UPDATE gas_coin SET version = $2, digest = $3, merged = false WHERE object_id = $1",
        [id, version, digest],
      );
    await requestPresigns(database, bucket(), 4);
    await until("presign WHERE state = 'ready'", 5);
    await requestPresigns(database, bucket(), 20);
    await until("presign WHERE state = 'ready'", 25);
    await until("chain_operation WHERE state <> 'landed'", 0);
    expect(service.alarms).toEqual([]);
  });

  it("stop and report it if another program has used the wallet", async () => {
    service = await startChainService(database, harness.net);
    await requestPresigns(database, bucket(), 1);
    await until("presign WHERE state = 'ready'", 1);
    await service.stop();
    const [used] = await database.query<{ lane: string }>("SELECT lane FROM chain_transaction");
    await harness.run((tx) => payPresigns(harness, tx, { capId: used!.lane }));

    service = await startChainService(database, harness.net);
    expect(service.alarms).toEqual([expect.objectContaining({ lane: used!.lane })]);
    await requestPresigns(database, bucket(), 1);
    expect(await count("lane WHERE foreign_digest IS NOT NULL")).toBe(1);
    expect(await count("chain_operation WHERE state = 'queued'")).toBe(1);
    await service.stop();
    // No process can lease the used lane or any other.
    const lanes = await database.query<{ id: string }>("SELECT id FROM lane");
    expect(lanes.length).toBeGreaterThan(1);
    for (const { id } of lanes) expect(await leaseLane(database, id, 60_000)).toBeUndefined();
  });
});

describe("the Treasury", () => {
  it("gives presigns that no row has to the pool once, at the start", async () => {
    const presignIds = presignIdsOf(
      await harness.run((tx) => payPresigns(harness, tx, { count: 3, curve: 0, algorithm: 1 })),
    );
    service = await startChainService(database, harness.net);
    await until("presign WHERE state = 'ready' AND signature_algorithm = 1", 3);
    await service.stop();
    service = await startChainService(database, harness.net);
    const rows = await database.query<{ presignId: string; key: string }>(
      `SELECT presign_id AS "presignId", network_encryption_key_id AS key FROM presign`,
    );
    expect(rows.map((row) => row.presignId).toSorted()).toEqual(presignIds.toSorted());
    expect(new Set(rows.map(({ key }) => key))).toEqual(new Set([harness.net.networkEncryptionKeyId]));
  });

  it("reports its balances and the network's prices as they are now", async () => {
    service = await startChainService(database, harness.net);
    const treasury = createTreasuryReader(service.network);
    const priceNow = async () => (await treasury.signPrices()).find(({ curve }) => curve === 0);
    const before = await priceNow();
    await harness.net.controls.scalePrices(200);
    await harness.net.controls.setTreasury({ ika: 5n, sui: 6n });
    expect(await treasury.balances()).toEqual({ ika: 5n, sui: 6n });
    expect((await priceNow())?.ika).toBe(2n * before!.ika);
  });

  it("is shown with the wallets and the lanes, and with what has stopped a lane", async () => {
    service = await startChainService(database, harness.net, { gasStationSecret: SPONSOR });
    await harness.net.controls.setTreasury({ ika: 5n, sui: 6n });
    const { network, reader } = service;
    const treasury = createTreasuryReader(network);
    await service.stop();
    await payFunds(harness, sponsorAddress, 7n);
    await database.query(
      "INSERT INTO chain_transaction (digest, network, sender, lane, bytes) SELECT 'A', network, '0x1', id, '' FROM lane LIMIT 1",
    );
    await database.query("UPDATE lane SET foreign_digest = 'B' WHERE id = $1", [
      harness.net.treasury.operatorCapIds[1],
    ]);
    const overview = await readTreasury(database, { network, reader, treasury });
    const { packageId, treasuryId, operatorCapIds } = harness.net.treasury;
    expect(overview).toMatchObject({ packageId, treasuryId });
    expect(overview.state).toMatchObject({ ika: 5n, sui: 6n, isPaused: false });
    expect(overview.state.operators.map(({ capId }) => capId).toSorted()).toEqual(operatorCapIds.toSorted());
    expect(overview.ceilings).toContainEqual({
      operation: "sign",
      curve: 0,
      signatureAlgorithm: 1,
      ika: expect.any(BigInt),
      sui: expect.any(BigInt),
    });
    expect(new Set(overview.ceilings.map(({ operation }) => operation))).toEqual(
      new Set(["dkg", "presign", "sign", "share", "import", "future_sign", "partial_sign"]),
    );
    for (const wallet of [overview.hotWallet, overview.gasStation!]) {
      const { balance } = await harness.client.getBalance({ owner: wallet.address });
      expect(wallet.balanceMist).toBe(BigInt(balance.balance));
    }
    expect(overview.hotWallet.addressBalanceMist).toBe(0n);
    expect(overview.gasStation?.addressBalanceMist).toBe(7n);
    expect([overview.hotWallet.address, overview.gasStation?.address]).toEqual([
      hotWallet.toSuiAddress(),
      sponsorAddress,
    ]);
    expect(overview.lanes.map(({ id }) => id).toSorted()).toEqual(operatorCapIds.toSorted());
    expect(overview.lanes.filter(({ unresolvedDigest }) => unresolvedDigest === "A")).toHaveLength(1);
    expect(overview.lanes.find(({ foreignDigest }) => foreignDigest === "B")?.id).toBe(operatorCapIds[1]);
    const inLanes = overview.lanes.flatMap(({ gasCoins }) => gasCoins);
    expect(inLanes.length).toBeGreaterThan(0);
    expect(inLanes.reduce((sum, { balanceMist }) => sum + (balanceMist ?? 0n), 0n)).toBe(
      overview.gasStation!.balanceMist - 7n,
    );
    await harness.close();
    await expect(readTreasury(database, { network, reader, treasury })).rejects.toMatchObject({
      reason: "CHAIN_UNAVAILABLE",
    });
  });
});
