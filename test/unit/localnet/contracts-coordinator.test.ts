import { CoordinatorInnerModule, coordinatorTransactions as calls } from "@ika.xyz/sdk";
import { bcs } from "@mysten/sui/bcs";
import { Transaction } from "@mysten/sui/transactions";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  abortOf,
  acceptShare,
  activeDwallet,
  bytes,
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
} from "./harness.ts";

const { DWallet, EncryptedUserSecretKeyShare, PresignSession, SignSession } = CoordinatorInnerModule;

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

const registerTx = (tx: Transaction, curve: number, key: Uint8Array, signature: Uint8Array, publicKey: Uint8Array) =>
  calls.registerEncryptionKeyTx(harness.config, harness.coordinator(tx) as never, curve, key, signature, publicKey, tx);

describe("encryption keys", () => {
  test("a second key of the same signer aborts in the table with code 0", async () => {
    const user = createUser();
    await registerKey(harness, user);
    const signature = await user.keypair.sign(user.encryptionKey);
    const failed = await harness.runToFailure((tx) =>
      registerTx(tx, 0, user.encryptionKey, signature, user.publicKey),
    );
    expect(abortOf(failed)).toBe("dynamic_field 0");
  });

  test("a key that its signer did not sign is refused", async () => {
    const user = createUser();
    const signature = await user.keypair.sign(new Uint8Array(261));
    const failed = await harness.runToFailure((tx) =>
      registerTx(tx, 0, user.encryptionKey, signature, user.publicKey),
    );
    expect(abortOf(failed)).toBe("coordinator_inner 6");
  });

  test("a curve that the network does not have is refused", async () => {
    const user = createUser();
    const signature = await user.keypair.sign(user.encryptionKey);
    const failed = await harness.runToFailure((tx) =>
      registerTx(tx, 9, user.encryptionKey, signature, user.publicKey),
    );
    expect(abortOf(failed)).toBe("support_config 2");
  });

  test("asking for the key of an address without one aborts with EEncryptionKeyNotExist", async () => {
    const failed = await harness.runToFailure((tx) => {
      calls.getActiveEncryptionKey(harness.config, harness.coordinator(tx) as never, createUser().address, tx);
    });
    expect(abortOf(failed)).toBe("coordinator_inner 20");
  });
});

describe("session identifiers", () => {
  const register = (tx: Transaction, identifier: Uint8Array) => {
    const registered = calls.registerSessionIdentifier(
      harness.config,
      harness.coordinator(tx) as never,
      identifier,
      tx,
    );
    tx.transferObjects([registered], hotWallet.toSuiAddress());
  };

  test("the same bytes of the same sender are registered once, forever", async () => {
    const identifier = session();
    await harness.run((tx) => register(tx, identifier));
    expect(abortOf(await harness.runToFailure((tx) => register(tx, identifier)))).toBe("sessions_manager 3");
  });

  test("an identifier has 32 bytes", async () => {
    expect(abortOf(await harness.runToFailure((tx) => register(tx, new Uint8Array(31))))).toBe("sessions_manager 5");
  });

  test("a session identifier must be used or kept", async () => {
    const failed = await harness.runToFailure((tx) => {
      calls.registerSessionIdentifier(harness.config, harness.coordinator(tx) as never, session(), tx);
    });
    expect(failed.status.error?.message).toContain("Unused result without the drop ability");
  });
});

describe("DKG", () => {
  test("an unknown network key, a foreign curve and a missing encryption key abort with their codes", async () => {
    const user = createUser();
    const unknown = `0x${"9".repeat(64)}`;
    const networkKey = await harness.runToFailure((tx) => payDkg(harness, tx, user, { networkKeyId: unknown }));
    expect(abortOf(networkKey)).toBe("coordinator_inner 5");
    expect(abortOf(await harness.runToFailure((tx) => payDkg(harness, tx, user)))).toBe("coordinator_inner 20");
    await registerKey(harness, user, 2);
    expect(abortOf(await harness.runToFailure((tx) => payDkg(harness, tx, user)))).toBe("coordinator_inner 17");
  });

  test("the network's rejection ends in the rejected states of the dWallet and the share", async () => {
    const user = createUser();
    await registerKey(harness, user);
    const message = Uint8Array.from({ length: 1381 }, () => 0xff);
    const dkg = dkgOf(await harness.run((tx) => payDkg(harness, tx, user, { message })));
    const settled = (value: { state: { $kind: string } }) => !value.state.$kind.startsWith("Awaiting");
    const dwallet = await contentsWhen(harness, dkg.dwallet_id, DWallet, settled);
    expect(dwallet.state.$kind).toBe("NetworkRejectedDKGVerification");
    const shareId = dkg.user_secret_key_share.Encrypted?.encrypted_user_secret_key_share_id as string;
    const share = await contentsWhen(harness, shareId, EncryptedUserSecretKeyShare, settled);
    expect(share.state.$kind).toBe("NetworkVerificationRejected");
  });

  test("only the holder of the encryption key can accept the share, and only once", async () => {
    const { user, dwalletId, shareId } = await activeDwallet(harness);
    const dwallet = await contentsWhen(harness, dwalletId, DWallet, (value) => value.state.$kind === "Active");
    const output = Uint8Array.from(dwallet.state.Active?.public_output ?? []);
    await expect(acceptShare(harness, dwalletId, shareId, await user.keypair.sign(output))).rejects.toThrow("code: 4");
    const second = dkgOf(await harness.run((tx) => payDkg(harness, tx, user)));
    await contentsWhen(harness, second.dwallet_id, DWallet, (value) => !value.state.$kind.startsWith("AwaitingNetwork"));
    const other = createUser();
    const secondShare = second.user_secret_key_share.Encrypted?.encrypted_user_secret_key_share_id as string;
    const forged = acceptShare(harness, second.dwallet_id, secondShare, await other.keypair.sign(output));
    await expect(forged).rejects.toThrow("code: 6");
    await expect(acceptShare(harness, `0x${"8".repeat(64)}`, secondShare, output)).rejects.toThrow("code: 3");
  });
});

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
          ? calls.requestGlobalPresign(harness.config, coordinator, harness.net.networkEncryptionKeyId, 0, algorithm, identifier as never, ikaCoin, suiCoin, tx)
          : calls.requestPresign(harness.config, coordinator, dwallet, algorithm, identifier as never, ikaCoin, suiCoin, tx);
      tx.transferObjects([cap, suiCoin], hotWallet.toSuiAddress());
    };
    expect(abortOf(await harness.runToFailure((tx) => request(tx, 7, undefined)))).toBe("support_config 3");
    expect(abortOf(await harness.runToFailure((tx) => request(tx, 0, dwalletId)))).toBe("coordinator_inner 31");
  });

  test("a presign that is not completed cannot be used", async () => {
    const slow = await startHarness({
      mpc: { ...(await import("./cheap-mpc.ts")).createCheapMpc(), presign: () => new Promise(() => undefined) },
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
    expect(abortOf(await harness.runToFailure((tx) => paySign(harness, tx, ids)))).toBe("coordinator_inner 2");
  });

  test("presign, algorithm and hash scheme must fit the approval and the dWallet", async () => {
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
    expect(await sign(eddsa, {})).toBe("coordinator_inner 33");
  });

  test("a signature is written under its dWallet, and its presign is gone for good", async () => {
    const { dwalletId } = await activeDwallet(harness);
    const [presignId] = await readyPresigns(harness);
    const ids = { dwalletId, presignId: presignId as string };
    const signId = signIdOf(await harness.run((tx) => paySign(harness, tx, ids)));
    const signed = await contentsWhen(harness, signId, SignSession, (value) => value.state.$kind !== "Requested");
    expect(signed.state.$kind).toBe("Completed");
    await expect(harness.client.getObject({ objectId: ids.presignId })).rejects.toThrow("not found");
    expect(abortOf(await harness.runToFailure((tx) => paySign(harness, tx, ids)))).toBe("treasury 7");
  });

  test("the network's rejection of a sign message ends in NetworkRejected", async () => {
    const { dwalletId } = await activeDwallet(harness);
    const [presignId] = await readyPresigns(harness);
    const userMessage = Uint8Array.of(0xff, 1, 2);
    const executed = await harness.run((tx) =>
      paySign(harness, tx, { dwalletId, presignId: presignId as string }, { userMessage }),
    );
    const signed = await contentsWhen(harness, signIdOf(executed), SignSession, (value) => value.state.$kind !== "Requested");
    expect(signed.state.$kind).toBe("NetworkRejected");
  });

  test("is_presign_valid tells whether a presign is completed", async () => {
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
    const presign = await contentsWhen(harness, presignId as string, PresignSession, (value) => value.state.$kind === "Completed");
    const tx = new Transaction();
    tx.setSender(hotWallet.toSuiAddress());
    calls.isPresignValid(harness.config, harness.coordinator(tx) as never, presign.cap_id, tx);
    const result = await harness.client.simulateTransaction({ transaction: tx, include: { commandResults: true } });
    expect(bcs.bool().parse(result.commandResults?.[0]?.returnValues[0]?.bcs as Uint8Array)).toBe(true);
  });
});

test("the exact price leaves the coins, and a coin that does not hold it aborts by currency", async () => {
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
  expect(abortOf(await harness.runToFailure((tx) => request(tx, 4_999_999, 3_000_000)))).toBe("sessions_manager 1");
  expect(abortOf(await harness.runToFailure((tx) => request(tx, 5_000_000, 2_999_999)))).toBe("sessions_manager 2");
  const paid = await harness.run((tx) => request(tx, 5_000_001, 3_000_007));
  const left = await Promise.all(
    paid.effects.changedObjects
      .filter((change) => change.idOperation === "Created" && paid.objectTypes[change.objectId]?.includes("::coin::"))
      .map((change) => harness.client.getObject({ objectId: change.objectId, include: { content: true } })),
  );
  const balances = left.map(({ object }) => bcs.u64().parse(object.content.subarray(32)));
  expect(balances.sort()).toEqual(["1", "7"]);
  void bytes;
});
