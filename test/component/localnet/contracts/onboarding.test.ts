import { CoordinatorInnerModule, coordinatorTransactions as calls } from "@ika.xyz/sdk";
import type { Transaction } from "@mysten/sui/transactions";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  abortOf,
  acceptShare,
  activeDwallet,
  contentsWhen,
  createUser,
  dkgOf,
  type Harness,
  hotWallet,
  payDkg,
  registerKey,
  session,
  startHarness,
} from "../harness.ts";

const { DWallet, EncryptedUserSecretKeyShare } = CoordinatorInnerModule;

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

const registerTx = (
  tx: Transaction,
  curve: number,
  key: Uint8Array,
  signature: Uint8Array,
  publicKey: Uint8Array,
) =>
  calls.registerEncryptionKeyTx(
    harness.config,
    harness.coordinator(tx) as never,
    curve,
    key,
    signature,
    publicKey,
    tx,
  );

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

  test("a key without its signer's signature is refused", async () => {
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

  test("reading the key of an address without one aborts with EEncryptionKeyNotExist", async () => {
    const failed = await harness.runToFailure((tx) => {
      calls.getActiveEncryptionKey(
        harness.config,
        harness.coordinator(tx) as never,
        createUser().address,
        tx,
      );
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
    expect(abortOf(await harness.runToFailure((tx) => register(tx, new Uint8Array(31))))).toBe(
      "sessions_manager 5",
    );
  });

  test("a transaction that drops a session identifier fails", async () => {
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
    const foreign = { networkKeyId: unknown };
    // The encryption key is looked up before anything else.
    expect(abortOf(await harness.runToFailure((tx) => payDkg(harness, tx, user, foreign)))).toBe(
      "dynamic_field 1",
    );
    const onboarded = createUser();
    await registerKey(harness, onboarded);
    expect(abortOf(await harness.runToFailure((tx) => payDkg(harness, tx, onboarded, foreign)))).toBe(
      "coordinator_inner 5",
    );
    await registerKey(harness, user, 2);
    expect(abortOf(await harness.runToFailure((tx) => payDkg(harness, tx, user)))).toBe(
      "coordinator_inner 17",
    );
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
    const dwallet = await contentsWhen(
      harness,
      dwalletId,
      DWallet,
      (value) => value.state.$kind === "Active",
    );
    const output = Uint8Array.from(dwallet.state.Active?.public_output ?? []);
    await expect(acceptShare(harness, dwalletId, shareId, await user.keypair.sign(output))).rejects.toThrow(
      "code: 4",
    );
    const second = dkgOf(await harness.run((tx) => payDkg(harness, tx, user)));
    await contentsWhen(
      harness,
      second.dwallet_id,
      DWallet,
      (value) => !value.state.$kind.startsWith("AwaitingNetwork"),
    );
    const other = createUser();
    const secondShare = second.user_secret_key_share.Encrypted?.encrypted_user_secret_key_share_id as string;
    const forged = acceptShare(harness, second.dwallet_id, secondShare, await other.keypair.sign(output));
    await expect(forged).rejects.toThrow("code: 6");
    await expect(acceptShare(harness, `0x${"8".repeat(64)}`, secondShare, output)).rejects.toThrow("code: 3");
  });
});
