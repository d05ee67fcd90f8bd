import { Transaction } from "@mysten/sui/transactions";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Harness, hotWallet, payPresigns, startHarness } from "../harness.ts";

const me = hotWallet.toSuiAddress();
const EPOCH_MS = 60_000;
let harness: Harness;
let now = 1_000_000;
beforeAll(async () => {
  harness = await startHarness({ clock: () => now, epochDurationMs: EPOCH_MS });
});
afterAll(() => harness.close());

async function send(build: (tx: Transaction) => void) {
  const tx = new Transaction();
  tx.setSender(me);
  build(tx);
  tx.setGasPrice(1_000);
  const { objects } = await harness.client.listCoins({ owner: me });
  tx.setGasPayment([objects.find((coin) => BigInt(coin.balance) > 10n ** 11n) as never]);
  tx.setGasBudgetIfNotSet(5_000_000_000);
  const bytes = await tx.build();
  const { signature } = await hotWallet.signTransaction(bytes);
  return harness.client.executeTransaction({ transaction: bytes, signatures: [signature] });
}

/**
 * A command with a pure argument of this many bytes. The function does not exist, so the command fails after the
 * checks.
 */
const withPure = (tx: Transaction, length: number) =>
  tx.moveCall({ target: "0x2::nowhere::nothing", arguments: [tx.pure(new Uint8Array(length))] });

describe("sizes", () => {
  test("a pure argument has at most 16,383 bytes", async () => {
    const accepted = await send((tx) => withPure(tx, 16_383));
    expect(accepted.FailedTransaction?.status.error?.message).toContain("Function Not Found");
    await expect(send((tx) => withPure(tx, 16_384))).rejects.toThrow(
      "Size limit exceeded: maximum pure argument size is 16384",
    );
  });

  test("a transaction has at most 128 KiB with its signatures", async () => {
    const large = (tx: Transaction, last: number) => {
      for (let index = 0; index < 7; index++) withPure(tx, 16_383);
      withPure(tx, last);
    };
    await expect(send((tx) => large(tx, 16_383))).rejects.toThrow(
      "serialized transaction size exceeded maximum is 131072",
    );
    const accepted = await send((tx) => large(tx, 14_000));
    expect(accepted.$kind).toBe("FailedTransaction");
  });

  test("a programmable transaction has fewer than 1,024 commands", async () => {
    const commands = (tx: Transaction, count: number) => {
      for (let index = 0; index < count; index++) tx.mergeCoins(tx.gas, []);
    };
    await expect(send((tx) => commands(tx, 1_024))).rejects.toThrow(
      "maximum commands in a programmable transaction is 1024",
    );
    expect((await send((tx) => commands(tx, 1_023))).$kind).toBe("Transaction");
  });

  test("one transaction touches at most 1,000 dynamic fields", async () => {
    const pay = (...counts: readonly number[]) =>
      harness.run((tx) => {
        for (const count of counts) payPresigns(harness, tx, { count });
      });
    await expect(pay(100, 11)).rejects.toThrow("store limit exceeded");
    await pay(100);
    await pay(100, 10);
  });
});

describe("gas", () => {
  test("a price or budget outside of the network's bounds is refused", async () => {
    const budget = (value: number) =>
      send((tx) => {
        tx.setGasBudget(value);
        tx.mergeCoins(tx.gas, []);
      });
    await expect(budget(1_999_999)).rejects.toThrow("Gas budget: 1999999 is lower than min: 2000000");
    await expect(budget(50_000_000_001)).rejects.toThrow("is higher than max: 50000000000");
  });

  test("a coin with less than the budget is refused", async () => {
    const poor = await harness.run((tx) => tx.transferObjects([tx.splitCoins(tx.gas, [1_000_000])], me));
    const coinId = poor.effects.changedObjects.find((change) => change.idOperation === "Created")
      ?.objectId as string;
    const { object } = await harness.client.getObject({ objectId: coinId });
    const tx = new Transaction();
    tx.setSender(me);
    tx.mergeCoins(tx.gas, []);
    tx.setGasPrice(1_000);
    tx.setGasBudget(2_000_000);
    tx.setGasPayment([object]);
    const bytes = await tx.build();
    const { signature } = await hotWallet.signTransaction(bytes);
    const sent = harness.client.executeTransaction({ transaction: bytes, signatures: [signature] });
    await expect(sent).rejects.toThrow(
      "Balance of gas object 1000000 is lower than the needed amount: 2000000",
    );
  });

  test("one coin cannot pay twice, nor pay and be an input", async () => {
    const { objects } = await harness.client.listCoins({ owner: me });
    const coin = objects[0];
    if (coin === undefined) throw new Error("the hot wallet has no coin");
    const tx = new Transaction();
    tx.setSender(me);
    tx.mergeCoins(tx.gas, []);
    tx.setGasPrice(1_000);
    tx.setGasBudget(2_000_000);
    tx.setGasPayment([coin, coin]);
    const bytes = await tx.build();
    const { signature } = await hotWallet.signTransaction(bytes);
    const sent = harness.client.executeTransaction({ transaction: bytes, signatures: [signature] });
    await expect(sent).rejects.toThrow("cannot appear more than one");
  });
});

test("a transaction expires with its epoch, and epochs follow the clock", async () => {
  const epoch = Number((await harness.client.ledgerService.getServiceInfo({})).response.epoch);
  const noop = (tx: Transaction, until: number) => {
    tx.setExpiration({ Epoch: until });
    tx.mergeCoins(tx.gas, []);
  };
  expect((await send((tx) => noop(tx, epoch))).$kind).toBe("Transaction");
  now += EPOCH_MS;
  await expect(send((tx) => noop(tx, epoch))).rejects.toThrow("The transaction has expired");
  const { systemState } = await harness.client.core.getCurrentSystemState();
  expect(Number(systemState.epoch)).toBe(epoch + 1);
});

test("a transaction that is valid during other epochs, or on another chain, is refused", async () => {
  const { chainId, epoch } = (await harness.client.ledgerService.getServiceInfo({})).response;
  const during = (chain: string, from: number, to: number) =>
    send((tx) => {
      const window = { minEpoch: `${from}`, maxEpoch: `${to}`, minTimestamp: null, maxTimestamp: null };
      tx.setExpiration({ ValidDuring: { ...window, chain, nonce: 7 } });
      tx.mergeCoins(tx.gas, []);
    });
  const now = Number(epoch);
  expect((await during(chainId as string, now, now + 1)).$kind).toBe("Transaction");
  await expect(during(chainId as string, now + 1, now + 2)).rejects.toThrow("expired");
  await expect(during(chainId as string, now - 2, now - 1)).rejects.toThrow("expired");
  const other = await startHarness({ clock: () => 77 });
  await expect(during(other.net.chainId, now, now + 1)).rejects.toThrow("Invalid chain ID");
  await other.close();
});

test("the protocol config names the limits that the node enforces, and the system state has every parameter", async () => {
  const { core } = harness.client;
  const { protocolConfig } = await core.getProtocolConfig();
  expect(protocolConfig).toMatchObject({
    protocolVersion: expect.stringMatching(/^\d+$/),
    featureFlags: { enable_accumulators: true, enable_address_balance_gas_payments: true },
    attributes: {
      max_tx_size_bytes: "131072",
      max_pure_argument_size: "16384",
      max_input_objects: "2048",
      max_tx_gas: "50000000000",
      object_runtime_max_num_cached_objects: "1000",
    },
  });
  const { systemState } = await core.getCurrentSystemState();
  const missing = Object.entries({ ...systemState, ...systemState.parameters, ...systemState.stakeSubsidy })
    .filter(([, value]) => value === null)
    .map(([name]) => name);
  expect(missing).toEqual([]);
  expect(systemState.parameters.maxValidatorCount).toBe("150");
});
