import { CoordinatorInnerModule } from "@ika.xyz/sdk";
import { bcs } from "@mysten/sui/bcs";
import { Transaction } from "@mysten/sui/transactions";
import { afterAll, beforeAll, expect, test } from "vitest";
import { treasuryConsentBytes } from "../../../../src/protocol/chain/treasury-custody.ts";
import {
  abortOf,
  activeDwallet,
  contentsWhen,
  createUser,
  dkgOf,
  type Harness,
  hotWallet,
  payDkg,
  payPresigns,
  paySign,
  presignIdsOf,
  readyPresigns,
  registerKey,
  startHarness,
} from "../harness.ts";

const PresignPaid = bcs.struct("PresignPaid", {
  treasury_id: bcs.Address,
  operator_cap_id: bcs.Address,
  presign_id: bcs.Address,
  curve: bcs.u32(),
  signature_algorithm: bcs.u32(),
  ika: bcs.u64(),
  sui: bcs.u64(),
});

const me = hotWallet.toSuiAddress();
let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

const admin = (tx: Transaction, name: string, args: Parameters<Harness["treasuryCall"]>[2] = []) =>
  harness.treasuryCall(tx, name, args, harness.net.treasury.adminCapId);

const bytesOf = (tx: Transaction, value: Uint8Array) => tx.pure(bcs.byteVector().serialize(value));

async function balances(): Promise<[ika: bigint, sui: bigint]> {
  const tx = new Transaction();
  tx.setSender(me);
  tx.moveCall({
    target: `${harness.net.treasury.packageId}::treasury::balances`,
    arguments: [harness.treasury(tx)],
  });
  const result = await harness.client.simulateTransaction({
    transaction: tx,
    include: { commandResults: true },
  });
  const values = result.commandResults?.[0]?.returnValues ?? [];
  const [ika, sui] = values.map((value) => BigInt(bcs.u64().parse(value.bcs as Uint8Array)));
  return [ika as bigint, sui as bigint];
}

test("a batch of presigns costs the Treasury exactly the amounts in its events, in the order of its sessions", async () => {
  const [ikaBefore, suiBefore] = await balances();
  const executed = await harness.run((tx) => payPresigns(harness, tx, { count: 10 }));
  const paid = executed.events
    .filter((event) => event.eventType.endsWith("::PresignPaid"))
    .map((event) => PresignPaid.parse(event.bcs));
  expect(paid.map((event) => event.presign_id)).toEqual(presignIdsOf(executed));
  const total = (key: "ika" | "sui") => paid.reduce((sum, event) => sum + BigInt(event[key]), 0n);
  const [ikaAfter, suiAfter] = await balances();
  expect(ikaBefore - ikaAfter).toBe(total("ika"));
  expect(suiBefore - suiAfter).toBe(total("sui"));
  expect(paid).toHaveLength(10);
});

test("a batch has 1 to 100 sessions", async () => {
  expect(abortOf(await harness.runToFailure((tx) => payPresigns(harness, tx, { count: 0 })))).toBe(
    "treasury 6",
  );
  expect(abortOf(await harness.runToFailure((tx) => payPresigns(harness, tx, { count: 101 })))).toBe(
    "treasury 6",
  );
});

test("a revoked operator cannot spend, and a new one can", async () => {
  const created = await harness.run((tx) =>
    admin(tx, "new_operator", [
      tx.pure.address(me),
      ...[9, 10n ** 12n, 10n ** 12n, 9, 9, 9].map((n) => tx.pure.u64(n)),
    ]),
  );
  const capId = created.effects.changedObjects.find(
    (change) =>
      change.idOperation === "Created" && created.objectTypes[change.objectId]?.endsWith("::OperatorCap"),
  )?.objectId as string;
  await harness.run((tx) => payPresigns(harness, tx, { capId }));
  await harness.run((tx) => admin(tx, "revoke_operator", [tx.pure.id(capId)]));
  expect(abortOf(await harness.runToFailure((tx) => payPresigns(harness, tx, { capId })))).toBe(
    "operators 1",
  );
  const again = await harness.runToFailure((tx) => admin(tx, "revoke_operator", [tx.pure.id(capId)]));
  expect(abortOf(again)).toBe("operators 1");
});

test("a paused Treasury makes no payment until it is resumed", async () => {
  await harness.run((tx) => admin(tx, "set_paused", [tx.pure.bool(true)]));
  expect(abortOf(await harness.runToFailure((tx) => payPresigns(harness, tx)))).toBe("treasury 2");
  await harness.run((tx) => admin(tx, "set_paused", [tx.pure.bool(false)]));
  await harness.run((tx) => payPresigns(harness, tx));
});

test("nothing is paid without a ceiling, and a ceiling below Ika's price aborts in the coordinator", async () => {
  const setCeiling = (ika: number, sui: number) =>
    harness.run((tx) =>
      admin(tx, "set_ceiling", [
        tx.pure.u8(1),
        tx.pure.u32(3),
        tx.pure.u32(0),
        tx.pure.u64(ika),
        tx.pure.u64(sui),
      ]),
    );
  expect(abortOf(await harness.runToFailure((tx) => payPresigns(harness, tx, { algorithm: 5 })))).toBe(
    "treasury 4",
  );
  await setCeiling(1, 20_000_000);
  expect(abortOf(await harness.runToFailure((tx) => payPresigns(harness, tx, { curve: 3 })))).toBe(
    "sessions_manager 1",
  );
  await setCeiling(100_000_000, 1);
  expect(abortOf(await harness.runToFailure((tx) => payPresigns(harness, tx, { curve: 3 })))).toBe(
    "sessions_manager 2",
  );
  await setCeiling(100_000_000, 20_000_000);
  await harness.run((tx) => payPresigns(harness, tx, { curve: 3 }));
});

test("a failed payment changes no balance of the Treasury", async () => {
  const before = await balances();
  const user = createUser();
  await harness.runToFailure((tx) => payDkg(harness, tx, user));
  expect(await balances()).toEqual(before);
});

test("a deposit adds to the balances, and a drain takes at most the balance", async () => {
  const [ikaBefore, suiBefore] = await balances();
  const [ika] = (await harness.client.listCoins({ owner: me, coinType: harness.net.ikaCoinType })).objects;
  await harness.run((tx) => {
    const [ikaCoin] = tx.splitCoins(tx.object((ika as { objectId: string }).objectId), [500]);
    const [suiCoin] = tx.splitCoins(tx.gas, [700]);
    tx.moveCall({
      target: `${harness.net.treasury.packageId}::treasury::deposit`,
      arguments: [harness.treasury(tx), ikaCoin as never, suiCoin as never],
    });
  });
  expect(await balances()).toEqual([ikaBefore + 500n, suiBefore + 700n]);
  const drain = (tx: Transaction, amount: bigint, to: string) =>
    admin(tx, "drain", [tx.pure.u64(amount), tx.pure.u64(700), tx.pure.address(to)]);
  expect(abortOf(await harness.runToFailure((tx) => drain(tx, ikaBefore + 501n, me)))).toBe("treasury 5");
  const to = createUser().address;
  await harness.run((tx) => drain(tx, 500n, to));
  expect(await balances()).toEqual([ikaBefore, suiBefore]);
  expect((await harness.client.getBalance({ owner: to })).balance.balance).toBe("700");
});

test("the Treasury signs only with caps that it holds, and not with a released one", async () => {
  const { dwalletId } = await activeDwallet(harness);
  const [presignId] = await readyPresigns(harness);
  const unknown = `0x${"7".repeat(64)}`;
  const wrongDwallet = { dwalletId: unknown, presignId: presignId as string };
  const wrongPresign = { dwalletId, presignId: unknown };
  expect(abortOf(await harness.runToFailure((tx) => paySign(harness, tx, wrongDwallet)))).toBe("custody 1");
  expect(abortOf(await harness.runToFailure((tx) => paySign(harness, tx, wrongPresign)))).toBe("custody 2");
  const to = createUser().address;
  await harness.run((tx) => admin(tx, "announce_release", [tx.pure.id(dwalletId), tx.pure.address(to)]));
  const early = await harness.runToFailure((tx) => admin(tx, "release_dwallet", [tx.pure.id(dwalletId)]));
  expect(abortOf(early)).toBe("custody 6");
  for (let epoch = 0; epoch < 14; epoch += 1) await harness.net.controls.advanceEpoch();
  await harness.run((tx) => admin(tx, "release_dwallet", [tx.pure.id(dwalletId)]));
  const { objects } = await harness.client.listOwnedObjects({ owner: to, include: { content: true } });
  expect(CoordinatorInnerModule.DWalletCap.parse(objects[0]?.content as Uint8Array).dwallet_id).toBe(
    dwalletId,
  );
  const afterRelease = { dwalletId, presignId: presignId as string };
  expect(abortOf(await harness.runToFailure((tx) => paySign(harness, tx, afterRelease)))).toBe("custody 1");
});

test("a capability that was sent to the Treasury is taken in, once, and signs", async () => {
  const { dwalletId, user } = await activeDwallet(harness);
  const [presignId] = await readyPresigns(harness);
  const { treasuryId } = harness.net.treasury;
  const message = treasuryConsentBytes({
    action: "leave",
    chain: new Uint8Array(32),
    treasuryId,
    dwalletId,
    recipient: treasuryId,
    nonce: 0n,
    expiresEpoch: 1_000n,
  });
  const signature = await user.keypair.sign(message);
  const left = await harness.run((tx) =>
    tx.moveCall({
      target: `${harness.net.treasury.packageId}::treasury::leave`,
      arguments: [
        ...[
          harness.treasury(tx),
          tx.pure.id(dwalletId),
          bytesOf(tx, new Uint8Array(32)),
          tx.pure.address(treasuryId),
        ],
        ...[tx.pure.u64(0), tx.pure.u64(1_000), bytesOf(tx, user.publicKey), bytesOf(tx, signature)],
      ],
    }),
  );
  const sent = left.effects.changedObjects.find(
    ({ outputOwner }) => outputOwner?.$kind === "AddressOwner" && outputOwner.AddressOwner === treasuryId,
  )!;
  const ticket = (tx: Transaction) =>
    tx.receivingRef({
      objectId: sent.objectId,
      version: sent.outputVersion!,
      digest: sent.outputDigest!,
    });
  const take = (tx: Transaction) =>
    admin(tx, "take_in_dwallet", [ticket(tx), tx.pure.u32(0), tx.pure.address(user.address)]);
  await expect(
    harness.run((tx) => paySign(harness, tx, { dwalletId, presignId: presignId! })),
  ).rejects.toThrow();
  await harness.run(take);
  await expect(harness.run(take)).rejects.toThrow("not available for consumption");
  await harness.run((tx) => paySign(harness, tx, { dwalletId, presignId: presignId! }));
});

test("a capability that was sent elsewhere is not taken in", async () => {
  const other = createUser().address;
  const { dwalletId } = await activeDwallet(harness);
  await harness.run((tx) => admin(tx, "announce_release", [tx.pure.id(dwalletId), tx.pure.address(other)]));
  for (let epoch = 0; epoch < 14; epoch += 1) await harness.net.controls.advanceEpoch();
  await harness.run((tx) => admin(tx, "release_dwallet", [tx.pure.id(dwalletId)]));
  const { objects: owned } = await harness.client.listOwnedObjects({ owner: other });
  const { objectId, version, digest } = owned[0]!;
  const taken = await harness.runToFailure((tx) =>
    admin(tx, "take_in_dwallet", [
      tx.receivingRef({ objectId, version, digest }),
      tx.pure.u32(0),
      tx.pure.address(me),
    ]),
  );
  expect(abortOf(taken)).toBe("transfer 3");
});

test("the caps of another Treasury give no rights here", async () => {
  const other = await startHarness({ seed: new Uint8Array(32).fill(9), hotWalletAddress: me });
  try {
    const tx = new Transaction();
    other.treasuryCall(tx, "set_paused", [tx.pure.bool(true)], other.net.treasury.operatorCapIds[0]);
    tx.setSender(me);
    const result = await other.client.simulateTransaction({ transaction: tx });
    const status = (result.FailedTransaction ?? result.Transaction).status;
    expect(status.error?.message).toContain("TYPE_MISMATCH");
  } finally {
    await other.close();
  }
});

test("DKG through the Treasury keeps the dWallet's cap in it", async () => {
  const user = createUser();
  await registerKey(harness, user);
  const dkg = dkgOf(await harness.run((tx) => payDkg(harness, tx, user)));
  const dwallet = await contentsWhen(harness, dkg.dwallet_id, CoordinatorInnerModule.DWallet, () => true);
  const { object } = await harness.client.getObject({ objectId: dwallet.dwallet_cap_id });
  expect(object.owner.$kind).toBe("ObjectOwner");
});
