import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bcs } from "@mysten/sui/bcs";
import type { SuiGrpcClient } from "@mysten/sui/grpc";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { Transaction } from "@mysten/sui/transactions";
import { deriveDynamicFieldID, normalizeStructTag } from "@mysten/sui/utils";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Harness, hotWallet, startHarness } from "../harness.ts";

const SUI = normalizeStructTag("0x2::sui::SUI");
const INCLUDE = { effects: true, balanceChanges: true } as const;
let harness: Harness;
let client: SuiGrpcClient;
beforeAll(async () => {
  harness = await startHarness();
  client = harness.client;
});
afterAll(() => harness.close());

/** Pays into the address balance as a wallet does. */
function send(tx: Transaction, recipient: string, amount: bigint, type = SUI): void {
  tx.moveCall({
    target: "0x2::balance::send_funds",
    typeArguments: [type],
    arguments: [tx.balance({ balance: amount, type }), tx.pure.address(recipient)],
  });
}

/** A new account without coins, and with this address balance. */
async function paidAccount(amount: bigint): Promise<{ signer: Ed25519Keypair; address: string }> {
  const signer = Ed25519Keypair.generate();
  const address = signer.toSuiAddress();
  await harness.run((tx) => send(tx, address, amount));
  return { signer, address };
}

async function balanceOf(owner: string, coinType = SUI) {
  return (await client.getBalance({ owner, coinType })).balance;
}

async function execute(tx: Transaction, signer: Ed25519Keypair) {
  tx.setSenderIfNotSet(signer.toSuiAddress());
  const result = await client.signAndExecuteTransaction({ transaction: tx, signer, include: INCLUDE });
  if (result.$kind === "FailedTransaction") throw new Error(result.FailedTransaction.status.error?.message);
  return result.Transaction;
}

test("money sent to an address balance is in no coin, in both balance calls, and in the transaction's balance changes", async () => {
  const owner = Ed25519Keypair.generate().toSuiAddress();
  const ika = harness.config.packages.ikaPackage;
  const ikaType = normalizeStructTag(`${ika}::ika::IKA`);
  const executed = await harness.run((tx) => {
    send(tx, owner, 700n);
    const [coin] = tx.splitCoins(tx.gas, [30]);
    tx.transferObjects([coin!], owner);
    send(tx, owner, 5n, ikaType);
  });
  expect((await client.listCoins({ owner })).objects.map(({ balance }) => balance)).toEqual(["30"]);
  expect(await balanceOf(owner)).toMatchObject({ balance: "730", coinBalance: "30", addressBalance: "700" });
  const { balances } = await client.listBalances({ owner });
  expect(balances.map(({ coinType, addressBalance }) => [coinType, addressBalance])).toEqual(
    [
      [SUI, "700"],
      [ikaType, "5"],
    ].sort(([a], [b]) => (a! < b! ? -1 : 1)),
  );
  const gains = executed.balanceChanges.filter(({ address }) => address === owner);
  expect(gains).toEqual(
    expect.arrayContaining([
      { address: owner, coinType: SUI, amount: "730" },
      { address: owner, coinType: ikaType, amount: "5" },
    ]),
  );
});

test("the effects contain the accumulator's write, and a settlement in the same checkpoint writes the accumulator", async () => {
  const { address } = await paidAccount(40n);
  const executed = await harness.run((tx) => {
    tx.moveCall({
      target: "0x2::coin::send_funds",
      typeArguments: [SUI],
      arguments: [tx.splitCoins(tx.gas, [2])[0]!, tx.pure.address(address)],
    });
  });
  const id = deriveDynamicFieldID(
    "0xacc",
    "0x2::accumulator::Key<0x2::balance::Balance<0x2::sui::SUI>>",
    bcs.Address.serialize(address).toBytes(),
  );
  const change = executed.effects.changedObjects.find(({ objectId }) => objectId === id);
  expect(change).toMatchObject({ outputState: "AccumulatorWriteV1", outputVersion: null });
  const written = bcs.TransactionEffects.parse(executed.effects.bcs!).V2?.changedObjects.find(
    ([objectId]) => objectId === id,
  );
  expect(written?.[1].outputState.AccumulatorWriteV1).toMatchObject({
    address: { address, ty: normalizeStructTag("0x2::balance::Balance<0x2::sui::SUI>") },
    operation: { $kind: "Merge" },
    value: { Integer: "2" },
  });
  const { object } = await client.getObject({
    objectId: id,
    include: { content: true, previousTransaction: true },
  });
  expect(bcs.u128().parse(object.content.subarray(64))).toBe("42");
  const settlement = object.previousTransaction!;
  const { transaction } = (
    await client.ledgerService.getTransaction({
      digest: executed.digest,
      readMask: { paths: ["checkpoint"] },
    })
  ).response;
  const { checkpoint } = (
    await client.ledgerService.getCheckpoint({
      checkpointId: { oneofKind: "sequenceNumber", sequenceNumber: transaction!.checkpoint! },
      readMask: { paths: ["transactions.digest", "transactions.balance_changes"] },
    })
  ).response;
  expect(checkpoint?.transactions.map(({ digest }) => digest)).toEqual([executed.digest, settlement]);
  expect(checkpoint?.transactions[0]?.balanceChanges).toContainEqual(
    expect.objectContaining({ address, amount: "2" }),
  );
});

test("an account without coins pays another one, and its gas, from its address balance", async () => {
  const { signer, address } = await paidAccount(1_000_000_000n);
  const other = Ed25519Keypair.generate().toSuiAddress();
  const tx = new Transaction();
  tx.transferObjects([tx.coin({ balance: 1_000n, useGasCoin: false })], other);
  const executed = await execute(tx, signer);
  const { gasUsed } = executed.effects;
  const gas = BigInt(gasUsed.computationCost) + BigInt(gasUsed.storageCost) - BigInt(gasUsed.storageRebate);
  expect(await balanceOf(address)).toMatchObject({
    coinBalance: "0",
    addressBalance: String(1_000_000_000n - 1_000n - gas),
  });
  expect(await balanceOf(other)).toMatchObject({ coinBalance: "1000", addressBalance: "0" });
});

test("a coin and a part of the address balance pay together, and the rest returns to the address balance", async () => {
  const { signer, address } = await paidAccount(1_000_000_000n);
  const ikaType = `${harness.config.packages.ikaPackage}::ika::IKA`;
  await harness.run((tx) => {
    send(tx, address, 60n, ikaType);
    tx.transferObjects([tx.coin({ balance: 50n, type: ikaType })], address);
  });
  const other = Ed25519Keypair.generate().toSuiAddress();
  const tx = new Transaction();
  send(tx, other, 80n, ikaType);
  await execute(tx, signer);
  expect(await balanceOf(address, ikaType)).toMatchObject({ balance: "30" });
  expect(await balanceOf(other, ikaType)).toMatchObject({ addressBalance: "80" });
});

test("an emptied accumulator is deleted, and its next one has a higher version", async () => {
  const { signer, address } = await paidAccount(100n);
  const id = deriveDynamicFieldID(
    "0xacc",
    "0x2::accumulator::Key<0x2::balance::Balance<0x2::sui::SUI>>",
    bcs.Address.serialize(address).toBytes(),
  );
  const before = (await client.getObject({ objectId: id })).object.version;
  await withdraw(signer, [100n]);
  await expect(client.getObject({ objectId: id })).rejects.toThrow("not found");
  await harness.run((tx) => send(tx, address, 1n));
  expect(BigInt((await client.getObject({ objectId: id })).object.version)).toBeGreaterThan(BigInt(before));
});

/** Sends withdrawals of these amounts to the hot wallet, which pays the gas. Nothing is simulated. */
async function withdraw(signer: Ed25519Keypair, amounts: readonly bigint[]) {
  const tx = new Transaction();
  tx.setSender(signer.toSuiAddress());
  tx.setGasOwner(hotWallet.toSuiAddress());
  tx.setGasPrice(1_000);
  tx.setGasBudget(50_000_000);
  const { objects } = await client.listCoins({ owner: hotWallet.toSuiAddress() });
  tx.setGasPayment([objects[0]!]);
  for (const amount of amounts) {
    const coin = tx.moveCall({
      target: "0x2::coin::redeem_funds",
      typeArguments: [SUI],
      arguments: [tx.withdrawal({ amount })],
    });
    tx.transferObjects([coin], hotWallet.toSuiAddress());
  }
  const bytes = await tx.build();
  const signed = await Promise.all([signer, hotWallet].map((each) => each.signTransaction(bytes)));
  const signatures = signed.map(({ signature }) => signature);
  return client.executeTransaction({ transaction: bytes, signatures, include: INCLUDE });
}

test.each([
  ["more than the balance", [101n], "is less than requested: 100 < 101"],
  ["parts that together exceed it", [60n, 41n], "is less than requested: 100 < 101"],
  ["nothing", [0n], "must be non-zero"],
  [
    "eleven parts",
    Array.from({ length: 11 }, () => 1n),
    "Maximum number of balance withdraw reservations is 10",
  ],
])("a withdrawal of %s is refused before execution and pays nothing", async (_, amounts, message) => {
  const { signer, address } = await paidAccount(100n);
  await expect(withdraw(signer, amounts)).rejects.toThrow(message);
  expect(await balanceOf(address)).toMatchObject({ addressBalance: "100" });
});

test("a failed transaction moves no funds, and its gas is paid from the address balance", async () => {
  const { signer, address } = await paidAccount(1_000_000_000n);
  const tx = new Transaction();
  tx.setSender(address);
  tx.setGasPrice(1_000);
  tx.setGasBudget(50_000_000);
  tx.setGasPayment([]);
  tx.setExpiration(await validDuring());
  const coin = tx.moveCall({
    target: "0x2::coin::redeem_funds",
    typeArguments: [SUI],
    arguments: [tx.withdrawal({ amount: 10n })],
  });
  tx.moveCall({ target: "0x2::coin::destroy_zero", typeArguments: [SUI], arguments: [coin] });
  const result = await client.signAndExecuteTransaction({ transaction: tx, signer, include: INCLUDE });
  expect(result.FailedTransaction?.status.error?.message).toContain("destroy_zero");
  const [change, ...others] = result.FailedTransaction!.balanceChanges;
  expect(others).toEqual([]);
  expect(await balanceOf(address)).toMatchObject({
    addressBalance: String(1_000_000_000n + BigInt(change!.amount)),
  });
  expect(BigInt(change!.amount)).toBeLessThan(0n);
});

async function validDuring(epochs = 1n) {
  const { epoch, chainId } = (await client.ledgerService.getServiceInfo({})).response;
  return {
    ValidDuring: {
      minEpoch: String(epoch!),
      maxEpoch: String(epoch! + epochs),
      minTimestamp: null,
      maxTimestamp: null,
      chain: chainId!,
      nonce: 7,
    },
  };
}

test("without an owned object, a transaction needs an expiration of at most two epochs, and executes once", async () => {
  const { signer, address } = await paidAccount(1_000_000_000n);
  const other = Ed25519Keypair.generate().toSuiAddress();
  const build = async (epochs?: bigint) => {
    const tx = new Transaction();
    tx.setSender(address);
    tx.setGasPrice(1_000);
    tx.setGasBudget(50_000_000);
    tx.setGasPayment([]);
    tx.setExpiration(epochs === undefined ? { Epoch: 9 } : await validDuring(epochs));
    const balance = tx.moveCall({
      target: "0x2::balance::redeem_funds",
      typeArguments: [SUI],
      arguments: [tx.withdrawal({ amount: 10n })],
    });
    tx.moveCall({
      target: "0x2::balance::send_funds",
      typeArguments: [SUI],
      arguments: [balance, tx.pure.address(other)],
    });
    const bytes = await tx.build();
    const { signature } = await signer.signTransaction(bytes);
    return () => client.executeTransaction({ transaction: bytes, signatures: [signature] });
  };
  for (const epochs of [undefined, 2n])
    await expect((await build(epochs))()).rejects.toThrow("Invalid transaction expiration");
  const sendIt = await build(1n);
  const [first, second] = [await sendIt(), await sendIt()];
  expect(first.Transaction?.digest).toBe(second.Transaction?.digest);
  expect(await balanceOf(other)).toMatchObject({ addressBalance: "10" });
});

test("address balances and settlements are still there after a restart", async () => {
  const dataDirectory = await mkdtemp(join(tmpdir(), "address-balances-"));
  try {
    const first = await startHarness({ dataDirectory });
    const owner = Ed25519Keypair.generate().toSuiAddress();
    await first.run((tx) => send(tx, owner, 9n));
    await first.close();
    const second = await startHarness({ dataDirectory });
    try {
      const { balance } = await second.client.getBalance({ owner });
      expect(balance.addressBalance).toBe("9");
      const accumulators = await second.client.listDynamicFields({ parentId: "0xacc" });
      const { object } = await second.client.getObject({
        objectId: accumulators.dynamicFields[0]!.fieldId,
        include: { previousTransaction: true },
      });
      const settlement = await second.client.getTransaction({ digest: object.previousTransaction! });
      expect(settlement.Transaction?.status.success).toBe(true);
    } finally {
      await second.close();
    }
  } finally {
    await rm(dataDirectory, { recursive: true });
  }
});
