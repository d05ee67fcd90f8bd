import { bcs } from "@mysten/sui/bcs";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { Transaction } from "@mysten/sui/transactions";
import { toBase64 } from "@mysten/sui/utils";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createUser, type Harness, hotWallet, payPresigns, startHarness } from "../harness.ts";

const me = hotWallet.toSuiAddress();
let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

type Reference = { objectId: string; version: string; digest: string };

async function coins(owner = me): Promise<(Reference & { balance: string })[]> {
  return (await harness.client.listCoins({ owner })).objects;
}

/** A fully specified transaction, so that nothing is simulated before it is sent. */
async function offline(
  build: (tx: Transaction) => void,
  gas?: Reference,
  budget = 50_000_000,
): Promise<Uint8Array> {
  const tx = new Transaction();
  tx.setSender(me);
  build(tx);
  tx.setGasPrice(1_000);
  tx.setGasBudget(budget);
  tx.setGasPayment([gas ?? ((await coins()).find((coin) => BigInt(coin.balance) > 10n ** 10n) as Reference)]);
  return tx.build();
}

const split = (tx: Transaction) => {
  const [coin] = tx.splitCoins(tx.gas, [1]);
  tx.transferObjects([coin as never], me);
};

async function execute(bytes: Uint8Array, signers: Ed25519Keypair[] = [hotWallet]) {
  const signatures = await Promise.all(
    signers.map(async (signer) => (await signer.signTransaction(bytes)).signature),
  );
  return harness.client.executeTransaction({ transaction: bytes, signatures, include: { effects: true } });
}

describe("versions", () => {
  test("everything that a transaction touches gets one version, higher than those of its inputs", async () => {
    const executed = await harness.run((tx) => payPresigns(harness, tx));
    const lamport = BigInt(executed.effects.lamportVersion as string);
    for (const change of executed.effects.changedObjects) {
      if (change.outputState === "DoesNotExist") continue;
      expect(BigInt(change.outputVersion as string)).toBe(lamport);
      expect(BigInt(change.inputVersion ?? 0)).toBeLessThan(lamport);
      if (change.outputOwner?.$kind !== "AddressOwner") continue;
      const { object } = await harness.client.getObject({ objectId: change.objectId });
      expect(object).toMatchObject({ version: change.outputVersion, digest: change.outputDigest });
    }
  });

  test("an owned object that was only read also gets a new version, and its old reference is spent", async () => {
    const capId = harness.net.treasury.operatorCapIds[2] as string;
    const before = (await harness.client.getObject({ objectId: capId })).object;
    await harness.run((tx) => payPresigns(harness, tx, { capId }));
    const after = (await harness.client.getObject({ objectId: capId })).object;
    expect(BigInt(after.version)).toBeGreaterThan(BigInt(before.version));
  });

  test("a spent reference is refused in Sui's words, with the current version", async () => {
    const gas = (await coins())[0] as Reference;
    const first = await offline(split, gas);
    const second = await offline((tx) => {
      split(tx);
      split(tx);
    }, gas);
    const executed = await execute(first);
    const current = BigInt(executed.Transaction?.effects.lamportVersion as string);
    await expect(execute(second)).rejects.toThrow(
      `Object ID ${gas.objectId} Version 0x${BigInt(gas.version).toString(16)} Digest ${gas.digest} is not available for consumption, current version: 0x${current.toString(16)}`,
    );
  });
});

describe("replay", () => {
  test("the same bytes get the first outcome again and change nothing", async () => {
    const bytes = await offline(split);
    const first = await execute(bytes);
    const height = await harness.client.ledgerService.getServiceInfo({});
    const second = await execute(bytes);
    expect(second.Transaction?.effects).toEqual(first.Transaction?.effects);
    const after = await harness.client.ledgerService.getServiceInfo({});
    expect(after.response.checkpointHeight).toBe(height.response.checkpointHeight);
  });

  test("twenty concurrent submissions of one transaction execute it once", async () => {
    const bytes = await offline(split);
    const before = (await harness.client.ledgerService.getServiceInfo({})).response
      .checkpointHeight as bigint;
    const results = await Promise.all(Array.from({ length: 20 }, () => execute(bytes)));
    expect(new Set(results.map((result) => result.Transaction?.digest)).size).toBe(1);
    const after = (await harness.client.ledgerService.getServiceInfo({})).response.checkpointHeight as bigint;
    expect(after - before).toBe(1n);
  });
});

describe("failure", () => {
  test("an abort writes nothing but the inputs' versions and the gas", async () => {
    const capId = harness.net.treasury.operatorCapIds[1] as string;
    const before = (await harness.client.getObject({ objectId: capId })).object;
    const failed = await harness.runToFailure((tx) => payPresigns(harness, tx, { capId, curve: 9 }));
    expect(failed.effects.status.success).toBe(false);
    expect(failed.events).toEqual([]);
    const after = (await harness.client.getObject({ objectId: capId })).object;
    expect(after.version).toBe(failed.effects.lamportVersion);
    expect(BigInt(after.version)).toBeGreaterThan(BigInt(before.version));
    const gas = failed.balanceChanges.find((change) => change.address === me);
    const { computationCost, storageCost, storageRebate } = failed.effects.gasUsed;
    const cost = BigInt(computationCost) + BigInt(storageCost) - BigInt(storageRebate);
    expect(BigInt(gas?.amount as string)).toBe(-cost);
    expect(failed.effects.changedObjects.every((change) => change.idOperation === "None")).toBe(true);
  });

  test("the effects in BCS equal the message, for success and failure", async () => {
    const ok = await harness.run(split);
    const failed = await harness.runToFailure((tx) => payPresigns(harness, tx, { count: 0 }));
    for (const { effects } of [ok, failed]) {
      const decoded = bcs.TransactionEffects.parse(effects.bcs as Uint8Array).V2;
      expect(decoded?.lamportVersion).toBe(effects.lamportVersion);
      expect(decoded?.status.$kind).toBe(effects.status.success ? "Success" : "Failure");
      expect(decoded?.changedObjects.map(([id]) => id)).toEqual(
        effects.changedObjects.map((item) => item.objectId),
      );
      const index = decoded?.gasObjectIndex as number;
      expect(decoded?.changedObjects[index]?.[0]).toBe(effects.gasObject?.objectId);
    }
  });

  test("a budget that does not cover the cost fails and is charged in full", async () => {
    const gas = (await coins())[0] as Reference & { balance: string };
    const bytes = await offline((tx) => payManyCoins(tx, 40), gas, 3_000_000);
    const result = await execute(bytes);
    expect(result.FailedTransaction?.status.error?.message).toContain("Insufficient Gas");
    const left = (await coins()).find((coin) => coin.objectId === gas.objectId);
    expect(BigInt(gas.balance) - BigInt(left?.balance as string)).toBeLessThanOrEqual(3_000_000n);
  });
});

const payManyCoins = (tx: Transaction, count: number) => {
  const split = tx.splitCoins(
    tx.gas,
    Array.from({ length: count }, () => 1),
  );
  tx.transferObjects(
    Array.from({ length: count }, (_, index) => split[index] as never),
    me,
  );
};

describe("signatures", () => {
  test("a transaction that its sender did not sign is refused", async () => {
    const bytes = await offline(split);
    await expect(execute(bytes, [new Ed25519Keypair()])).rejects.toThrow("Required Signature from");
    await expect(execute(bytes, [])).rejects.toThrow("Expect 1 signer signatures but got 0");
  });

  test("a signature over other bytes is refused", async () => {
    const bytes = await offline(split);
    const other = await offline((tx) => payManyCoins(tx, 2));
    const { signature } = await hotWallet.signTransaction(other);
    const sent = harness.client.executeTransaction({ transaction: bytes, signatures: [signature] });
    await expect(sent).rejects.toThrow("Signature is not valid");
  });

  test("a signature of an unknown form is refused", async () => {
    const bytes = await offline(split);
    for (const signature of [new Uint8Array(0), new Uint8Array(97).fill(255), new Uint8Array(3)]) {
      const sent = harness.client.executeTransaction({
        transaction: bytes,
        signatures: [toBase64(signature)],
      });
      await expect(sent).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    }
  });

  test("sponsored gas needs both signatures and does not touch the sender's coins", async () => {
    const user = new Ed25519Keypair();
    await harness.net.fund(user.toSuiAddress());
    const tx = new Transaction();
    tx.setSender(user.toSuiAddress());
    tx.setGasOwner(me);
    const [own] = await coins(user.toSuiAddress());
    const [part] = tx.splitCoins(tx.objectRef(own as Reference), [5]);
    tx.transferObjects([part as never], me);
    tx.setGasPrice(1_000);
    tx.setGasBudget(50_000_000);
    tx.setGasPayment([(await coins())[0] as Reference]);
    const bytes = await tx.build();
    await expect(execute(bytes, [user])).rejects.toThrow("Expect 2 signer signatures but got 1");
    const result = await execute(bytes, [user, hotWallet]);
    expect(result.$kind).toBe("Transaction");
    const left = (await coins(user.toSuiAddress())).find((coin) => coin.objectId === own?.objectId);
    expect(BigInt(own?.balance as string) - BigInt(left?.balance as string)).toBe(5n);
  });

  test("another address's object cannot be used", async () => {
    const stranger = createUser();
    await harness.net.fund(stranger.address);
    const [foreign] = await coins(stranger.address);
    const bytes = await offline((tx) => tx.transferObjects([tx.objectRef(foreign as Reference)], me));
    await expect(execute(bytes)).rejects.toThrow("Transaction was not signed by the correct sender");
  });
});

test("a transaction without commands only pays for its gas", async () => {
  const result = await execute(await offline(() => {}));
  expect(result.Transaction?.status.success).toBe(true);
  expect(result.Transaction?.effects.changedObjects).toHaveLength(1);
  expect(BigInt(result.Transaction!.effects.gasUsed.computationCost)).toBeGreaterThan(0n);
});
