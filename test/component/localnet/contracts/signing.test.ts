import { CoordinatorInnerModule, coordinatorTransactions as calls } from "@ika.xyz/sdk";
import { bcs } from "@mysten/sui/bcs";
import { Transaction } from "@mysten/sui/transactions";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createCheapMpc } from "../../../unit/localnet/cheap-mpc.ts";
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
  session,
  signIdOf,
  startHarness,
} from "../harness.ts";

const { PresignSession, SignSession } = CoordinatorInnerModule;

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

describe("presigns and signatures", () => {
  test("a pair of curve and algorithm that does not exist is refused, as is a presign for one dWallet", async () => {
    const { dwalletId } = await activeDwallet(harness);
    const [ika] = (
      await harness.client.listCoins({ owner: hotWallet.toSuiAddress(), coinType: harness.net.ikaCoinType })
    ).objects;
    const request = (tx: Transaction, algorithm: number, dwallet: string | undefined) => {
      const coordinator = harness.coordinator(tx) as never;
      const identifier = calls.registerSessionIdentifier(harness.config, coordinator, session(), tx);
      const [sui] = tx.splitCoins(tx.gas, [100_000_000]);
      const coins = [tx.object((ika as { objectId: string }).objectId), sui] as never[];
      const [ikaCoin, suiCoin] = coins as [never, never];
      const cap =
        dwallet === undefined
          ? calls.requestGlobalPresign(
              harness.config,
              coordinator,
              harness.net.networkEncryptionKeyId,
              0,
              algorithm,
              identifier as never,
              ikaCoin,
              suiCoin,
              tx,
            )
          : calls.requestPresign(
              harness.config,
              coordinator,
              dwallet,
              algorithm,
              identifier as never,
              ikaCoin,
              suiCoin,
              tx,
            );
      tx.transferObjects([cap, suiCoin], hotWallet.toSuiAddress());
    };
    expect(abortOf(await harness.runToFailure((tx) => request(tx, 7, undefined)))).toBe("support_config 3");
    expect(abortOf(await harness.runToFailure((tx) => request(tx, 0, dwalletId)))).toBe(
      "coordinator_inner 31",
    );
  });

  test("a presign that is not completed cannot be used", async () => {
    const slow = await startHarness({
      mpc: createCheapMpc({ presign: () => new Promise(() => undefined) }),
    });
    try {
      const { dwalletId } = await activeDwallet(slow);
      const [presignId] = presignIdsOf(await slow.run((tx) => payPresigns(slow, tx)));
      const ids = { dwalletId, presignId: presignId as string };
      expect(abortOf(await slow.runToFailure((tx) => paySign(slow, tx, ids)))).toBe("coordinator_inner 11");
    } finally {
      await slow.close();
    }
  });

  test("a dWallet that is not active cannot sign", async () => {
    const user = createUser();
    await registerKey(harness, user);
    const dkg = dkgOf(await harness.run((tx) => payDkg(harness, tx, user)));
    const [presignId] = await readyPresigns(harness);
    const ids = { dwalletId: dkg.dwallet_id, presignId: presignId as string };
    expect(abortOf(await harness.runToFailure((tx) => paySign(harness, tx, ids)))).toBe(
      "coordinator_inner 2",
    );
  });

  test("presign, algorithm and hash scheme must match the approval and the dWallet", async () => {
    const { dwalletId } = await activeDwallet(harness);
    const [ecdsa] = await readyPresigns(harness);
    const [eddsa] = await readyPresigns(harness, { curve: 2 });
    const sign = async (presignId: string | undefined, options: Parameters<typeof paySign>[3]) =>
      abortOf(
        await harness.runToFailure((tx) =>
          paySign(harness, tx, { dwalletId, presignId: presignId as string }, options),
        ),
      );
    expect(await sign(ecdsa, { algorithm: 1 })).toBe("coordinator_inner 7");
    expect(await sign(ecdsa, { hash: 3 })).toBe("support_config 1");
    expect(await sign(eddsa, {})).toBe("coordinator_inner 1");
  });

  test("a signature is written under its dWallet, and its presign is gone permanently", async () => {
    const { dwalletId } = await activeDwallet(harness);
    const [presignId] = await readyPresigns(harness);
    const ids = { dwalletId, presignId: presignId as string };
    const signId = signIdOf(await harness.run((tx) => paySign(harness, tx, ids)));
    const signed = await contentsWhen(
      harness,
      signId,
      SignSession,
      (value) => value.state.$kind !== "Requested",
    );
    expect(signed.state.$kind).toBe("Completed");
    await expect(harness.client.getObject({ objectId: ids.presignId })).rejects.toThrow("not found");
    expect(abortOf(await harness.runToFailure((tx) => paySign(harness, tx, ids)))).toBe("custody 2");
  });

  test("the network's rejection of a sign message ends in NetworkRejected", async () => {
    const { dwalletId } = await activeDwallet(harness);
    const [presignId] = await readyPresigns(harness);
    const userMessage = Uint8Array.of(0xff, 1, 2);
    const executed = await harness.run((tx) =>
      paySign(harness, tx, { dwalletId, presignId: presignId as string }, { userMessage }),
    );
    const signed = await contentsWhen(
      harness,
      signIdOf(executed),
      SignSession,
      (value) => value.state.$kind !== "Requested",
    );
    expect(signed.state.$kind).toBe("NetworkRejected");
  });

  test("is_presign_valid returns whether a presign is completed", async () => {
    const [ika] = (
      await harness.client.listCoins({ owner: hotWallet.toSuiAddress(), coinType: harness.net.ikaCoinType })
    ).objects;
    const executed = await harness.run((tx) => {
      const coordinator = harness.coordinator(tx) as never;
      const identifier = calls.registerSessionIdentifier(harness.config, coordinator, session(), tx);
      const [sui] = tx.splitCoins(tx.gas, [100_000_000]);
      const ikaCoin = tx.object((ika as { objectId: string }).objectId);
      const cap = calls.requestGlobalPresign(
        harness.config,
        coordinator,
        harness.net.networkEncryptionKeyId,
        2,
        0,
        identifier as never,
        ikaCoin as never,
        sui as never,
        tx,
      );
      tx.transferObjects([cap, sui as never], hotWallet.toSuiAddress());
    });
    const [presignId] = presignIdsOf(executed);
    const presign = await contentsWhen(
      harness,
      presignId as string,
      PresignSession,
      (value) => value.state.$kind === "Completed",
    );
    const tx = new Transaction();
    tx.setSender(hotWallet.toSuiAddress());
    calls.isPresignValid(harness.config, harness.coordinator(tx) as never, presign.cap_id, tx);
    const result = await harness.client.simulateTransaction({
      transaction: tx,
      include: { commandResults: true },
    });
    expect(bcs.bool().parse(result.commandResults?.[0]?.returnValues[0]?.bcs as Uint8Array)).toBe(true);
  });
});

test("exactly the price is taken from the coins, and a coin below it aborts with its currency's code", async () => {
  const me = hotWallet.toSuiAddress();
  const [ika] = (await harness.client.listCoins({ owner: me, coinType: harness.net.ikaCoinType })).objects;
  const request = (tx: Transaction, ikaAmount: number, suiAmount: number) => {
    const coordinator = harness.coordinator(tx) as never;
    const [ikaCoin] = tx.splitCoins(tx.object((ika as { objectId: string }).objectId), [ikaAmount]);
    const [suiCoin] = tx.splitCoins(tx.gas, [suiAmount]);
    const identifier = calls.registerSessionIdentifier(harness.config, coordinator, session(), tx);
    const cap = calls.requestGlobalPresign(
      harness.config,
      coordinator,
      harness.net.networkEncryptionKeyId,
      0,
      0,
      identifier as never,
      ikaCoin as never,
      suiCoin as never,
      tx,
    );
    tx.transferObjects([cap, ikaCoin as never, suiCoin as never], me);
  };
  expect(abortOf(await harness.runToFailure((tx) => request(tx, 4_999_999, 3_000_000)))).toBe(
    "sessions_manager 1",
  );
  expect(abortOf(await harness.runToFailure((tx) => request(tx, 5_000_000, 2_999_999)))).toBe(
    "sessions_manager 2",
  );
  const paid = await harness.run((tx) => request(tx, 5_000_001, 3_000_007));
  const left = await Promise.all(
    paid.effects.changedObjects
      .filter(
        (change) =>
          change.idOperation === "Created" && paid.objectTypes[change.objectId]?.includes("::coin::"),
      )
      .map((change) => harness.client.getObject({ objectId: change.objectId, include: { content: true } })),
  );
  const balances = left.map(({ object }) => bcs.u64().parse(object.content.subarray(32)));
  expect(balances.sort()).toEqual(["1", "7"]);
});
