/** The steps of docs/operations/keys.md for changing the keys that send and pay, against a localnet. */
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { requestPresigns } from "../../../../src/service/presigns/request-presigns.ts";
import {
  type ChainService,
  type ChainServiceOptions,
  startChainService,
} from "../../../support/chain/chain-service.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { type ObservedDatabase, observeDatabase } from "../../../support/database/observe-database.ts";
import { type Harness, payPresigns, startHarness } from "../../localnet/harness.ts";

const [OLD_STATION, NEW_STATION, NEW_WALLET] = [7, 8, 9].map((byte) => new Uint8Array(32).fill(byte));
const addressOf = (secret: Uint8Array) => Ed25519Keypair.fromSecretKey(secret).toSuiAddress();

let harness: Harness;
let database: ObservedDatabase;
let service: ChainService | undefined;

beforeEach(async () => {
  const accounts = [OLD_STATION, NEW_STATION, NEW_WALLET].map((secret) => addressOf(secret!));
  harness = await startHarness({ accounts });
  database = observeDatabase(await openTestDatabase());
}, DATABASE_TIMEOUT_MS);
afterEach(async () => {
  await service?.stop();
  service = undefined;
  await database.close();
  await harness.close();
});

const start = async (options: ChainServiceOptions = {}) => {
  service = await startChainService(database, harness.net, options);
};
const stop = async () => {
  await service?.stop();
  service = undefined;
};
const ready = async (count: number) => {
  const { networkEncryptionKeyId } = harness.net;
  await requestPresigns(
    database,
    { network: "localnet", curve: 0, signatureAlgorithm: 0, networkEncryptionKeyId },
    1,
  );
  await database.until(
    async (db) => (await db.query("SELECT 1 FROM presign WHERE state = 'ready'")).length === count,
  );
};
/** An OperatorCap that the new wallet owns, made with the AdminCap. */
const newCap = async (): Promise<string> => {
  const { effects } = await harness.run((tx) => {
    const [holder, expiresEpoch] = [tx.pure.address(addressOf(NEW_WALLET!)), tx.pure.u64(1_000)];
    const limits = Array.from({ length: 5 }, () => tx.pure.u64(10n ** 15n));
    harness.treasuryCall(
      tx,
      "new_operator",
      [holder, expiresEpoch, ...limits],
      harness.net.treasury.adminCapId,
    );
  });
  const created = effects.changedObjects.find(
    ({ idOperation, outputOwner }) =>
      idOperation === "Created" && outputOwner?.AddressOwner === addressOf(NEW_WALLET!),
  );
  return created!.objectId;
};

describe("a hot wallet", () => {
  it("is replaced by one with its own OperatorCaps while nothing is under way", {
    timeout: DATABASE_TIMEOUT_MS,
  }, async () => {
    await start();
    await ready(1);
    await stop();
    await start({ hotWallet: { secret: NEW_WALLET!, operatorCapIds: [await newCap()] } });
    await ready(2);
    expect(service?.alarms).toEqual([]);
  });

  it("that another program has used is replaced after the operator confirms that nobody else uses the new one", {
    timeout: DATABASE_TIMEOUT_MS,
  }, async () => {
    await start();
    await ready(1);
    await stop();
    const [used] = await database.query<{ lane: string }>("SELECT lane FROM chain_transaction");
    await harness.run((tx) => payPresigns(harness, tx, { capId: used!.lane }));
    await start();
    await stop();
    expect(await database.query("SELECT 1 FROM lane WHERE foreign_digest IS NOT NULL")).toHaveLength(1);
    const hotWallet = { secret: NEW_WALLET!, operatorCapIds: [await newCap()] };
    await start({ hotWallet, afterRestore: true });
    await ready(3);
    expect(service?.alarms).toEqual([]);
  });
});

describe("a gas station", () => {
  it("is replaced while no replica runs, and the lanes then use its successor's coins", {
    timeout: DATABASE_TIMEOUT_MS,
  }, async () => {
    await start({ gasStationSecret: OLD_STATION! });
    await ready(1);
    await stop();
    await start({ gasStationSecret: NEW_STATION!, afterRestore: true });
    await ready(2);
    expect(service?.alarms).toEqual([]);
  });
});
