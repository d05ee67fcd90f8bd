import { bcs } from "@mysten/sui/bcs";
import { Transaction } from "@mysten/sui/transactions";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { abortOf, type Harness, hotWallet, startHarness } from "../harness.ts";

const Clock = bcs.struct("Clock", { id: bcs.Address, timestamp_ms: bcs.u64() });
const SUI = "0x2::sui::SUI";
const COIN = `0x2::coin::Coin<${SUI}>`;

let nowMs = 1_800_000_000_000;
let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({ clock: () => nowMs });
});
afterAll(() => harness.close());

describe("the shared clock 0x6", () => {
  const timestamp = (tx: Transaction) =>
    tx.moveCall({ target: "0x2::clock::timestamp_ms", arguments: [tx.object.clock()] });

  test("is read as an object, and shows the chain's time", async () => {
    const read = async () => {
      const { object } = await harness.client.getObject({ objectId: "0x6", include: { content: true } });
      return Number(Clock.parse(object.content).timestamp_ms);
    };
    nowMs += 5_000;
    expect(await read()).toBe(nowMs);
    nowMs += 7;
    expect(await read()).toBe(nowMs);
  });

  test("gives a transaction its time, in a simulation and in an execution", async () => {
    nowMs += 1_000;
    const tx = new Transaction();
    tx.setSender(hotWallet.toSuiAddress());
    timestamp(tx);
    const { commandResults } = await harness.client.simulateTransaction({
      transaction: tx,
      include: { commandResults: true },
    });
    const value = commandResults?.[0]?.returnValues[0]?.bcs as Uint8Array;
    expect(Number(bcs.u64().parse(value))).toBe(nowMs);
    const { effects } = await harness.run((of) => void timestamp(of));
    expect(effects.changedObjects.map((change) => change.objectId)).not.toContain(
      `0x${"6".padStart(64, "0")}`,
    );
  });

  test("cannot be changed by a transaction", async () => {
    const changing = harness.run((tx) => {
      const clock = tx.sharedObjectRef({ objectId: "0x6", initialSharedVersion: 1, mutable: true });
      tx.moveCall({ target: "0x2::clock::timestamp_ms", arguments: [clock] });
    });
    await expect(changing).rejects.toThrow("pass the clock by reference");
  });
});

describe("objects", () => {
  const move = (tx: Transaction, name: string, object: unknown) =>
    tx.moveCall({
      target: `0x2::transfer::public_${name}_object`,
      typeArguments: [COIN],
      arguments: [object as never],
    });

  test("are shared in the transaction that creates them, and frozen at any time", async () => {
    const shared = await harness.run((tx) => void move(tx, "share", tx.splitCoins(tx.gas, [5])[0]));
    const owners = shared.effects.changedObjects.map((change) => change.outputOwner?.$kind);
    expect(owners).toContain("Shared");
    const kept = await harness.run((tx) =>
      tx.transferObjects([tx.splitCoins(tx.gas, [6])], hotWallet.toSuiAddress()),
    );
    const created = kept.effects.changedObjects.find((change) => change.idOperation === "Created");
    const id = created?.objectId as string;
    const late = await harness.runToFailure((tx) => void move(tx, "share", tx.object(id)));
    expect(abortOf(late)).toBe("transfer 0");
    await harness.run((tx) => void move(tx, "freeze", tx.object(id)));
    const { object } = await harness.client.getObject({ objectId: id });
    expect(object.owner.$kind).toBe("Immutable");
  });
});
