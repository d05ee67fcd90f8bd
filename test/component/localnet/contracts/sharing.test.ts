import { CoordinatorInnerModule, coordinatorTransactions as calls } from "@ika.xyz/sdk";
import type { Transaction } from "@mysten/sui/transactions";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type PaidCall, paying } from "../coordinator-calls.ts";
import {
  abortOf,
  acceptShare,
  activeDwallet,
  contentsWhen,
  createUser,
  dkgOf,
  type Harness,
  payDkg,
  registerKey,
  startHarness,
} from "../harness.ts";
import { requestOf } from "../sdk-steps.ts";

const { DWallet, EncryptedShareVerificationRequestEvent, EncryptedUserSecretKeyShare } =
  CoordinatorInnerModule;

let harness: Harness;
let pay: Awaited<ReturnType<typeof paying>>;
beforeAll(async () => {
  harness = await startHarness();
  pay = await paying(harness);
});
afterAll(() => harness.close());

const SHARE = Uint8Array.of(0, 32, 5);

describe("public shares", () => {
  const publicDkg = (tx: Transaction, { coordinator, identifier, ika, sui }: PaidCall, share = SHARE) => {
    const [cap] = calls.requestDWalletDKGWithPublicUserSecretKeyShare(
      harness.config,
      coordinator,
      harness.net.networkEncryptionKeyId,
      0,
      new Uint8Array(1381),
      share,
      new Uint8Array(238),
      identifier,
      null,
      ika,
      sui,
      tx,
    ) as unknown as never[];
    return cap;
  };
  const makePublic = (dwalletId: string, share = SHARE) =>
    pay((tx, { coordinator, identifier, ika, sui }) =>
      calls.requestMakeDwalletUserSecretKeySharesPublic(
        harness.config,
        coordinator,
        dwalletId,
        share,
        identifier,
        ika,
        sui,
        tx,
      ),
    );
  const settledDwallet = (id: string) =>
    contentsWhen(harness, id, DWallet, (value) => value.state.$kind !== "AwaitingNetworkDKGVerification");

  test("a DKG with a public share needs no encryption key, and ends in an active dWallet", async () => {
    const dkg = dkgOf(await harness.run(pay(publicDkg)));
    expect(dkg.user_secret_key_share.Public?.public_user_secret_key_share).toEqual([...SHARE]);
    const dwallet = await settledDwallet(dkg.dwallet_id);
    expect(dwallet.state.$kind).toBe("Active");
    expect(dwallet.public_user_secret_key_share).toEqual([...SHARE]);
    expect(dwallet.encrypted_user_secret_key_shares.size).toBe("0");
  });

  test("a public share cannot be made public again, nor the share of an inactive or unknown dWallet", async () => {
    const dkg = dkgOf(await harness.run(pay(publicDkg)));
    await settledDwallet(dkg.dwallet_id);
    const again = await harness.runToFailure(makePublic(dkg.dwallet_id));
    expect(abortOf(again)).toBe("coordinator_inner 16");
    const user = createUser();
    await registerKey(harness, user);
    const waiting = dkgOf(await harness.run((tx) => payDkg(harness, tx, user)));
    expect(abortOf(await harness.runToFailure(makePublic(waiting.dwallet_id)))).toBe("coordinator_inner 2");
    const unknown = await harness.runToFailure(makePublic(`0x${"8".repeat(64)}`));
    expect(abortOf(unknown)).toBe("coordinator_inner 3");
  });

  test("the network publishes a share that it accepts, and no other", async () => {
    const { dwalletId } = await activeDwallet(harness);
    // The cheap MPC rejects the first one.
    await harness.run(makePublic(dwalletId, Uint8Array.of(0xff, 1)));
    await harness.run(makePublic(dwalletId));
    const dwallet = await contentsWhen(
      harness,
      dwalletId,
      DWallet,
      (value) => value.public_user_secret_key_share !== null,
    );
    expect(dwallet.public_user_secret_key_share).toEqual([...SHARE]);
    expect(dwallet.state.$kind).toBe("Active");
  });
});

describe("re-encrypted shares", () => {
  const reEncrypt = (dwalletId: string, recipient: string, sourceId: string, share = new Uint8Array(1296)) =>
    pay((tx, { coordinator, identifier, ika, sui }) =>
      calls.requestReEncryptUserShareFor(
        harness.config,
        coordinator,
        dwalletId,
        recipient,
        share,
        sourceId,
        identifier,
        ika,
        sui,
        tx,
      ),
    );
  const requested = async (tx: Parameters<Harness["run"]>[0]) =>
    requestOf((await harness.run(tx)) as never, EncryptedShareVerificationRequestEvent);
  const settledShare = (id: string) =>
    contentsWhen(
      harness,
      id,
      EncryptedUserSecretKeyShare,
      (value) => value.state.$kind !== "AwaitingNetworkVerification",
    );

  test("a recipient's key, an active dWallet and one of its shares are needed, in this order", async () => {
    const { user, dwalletId, shareId } = await activeDwallet(harness);
    const abort = async (tx: Parameters<Harness["run"]>[0]) => abortOf(await harness.runToFailure(tx));
    expect(await abort(reEncrypt(dwalletId, createUser().address, shareId))).toBe("dynamic_field 1");
    const waiting = dkgOf(await harness.run((tx) => payDkg(harness, tx, user)));
    expect(await abort(reEncrypt(waiting.dwallet_id, user.address, shareId))).toBe("coordinator_inner 2");
    const other = await activeDwallet(harness);
    expect(await abort(reEncrypt(dwalletId, user.address, other.shareId))).toBe("coordinator_inner 12");
  });

  test("only the recipient can accept the share, and only if the network accepted its proof", async () => {
    const { user, dwalletId, shareId } = await activeDwallet(harness);
    const recipient = createUser();
    await registerKey(harness, recipient);
    const dwallet = await contentsWhen(harness, dwalletId, DWallet, () => true);
    const output = Uint8Array.from(dwallet.state.Active?.public_output ?? []);
    const rejected = await requested(reEncrypt(dwalletId, recipient.address, shareId, Uint8Array.of(0xff)));
    const rejectedId = rejected.encrypted_user_secret_key_share_id;
    expect((await settledShare(rejectedId)).state.$kind).toBe("NetworkVerificationRejected");
    const signature = await recipient.keypair.sign(output);
    await expect(acceptShare(harness, dwalletId, rejectedId, signature)).rejects.toThrow("code: 4");

    const accepted = await requested(reEncrypt(dwalletId, recipient.address, shareId));
    const id = accepted.encrypted_user_secret_key_share_id;
    expect(await settledShare(id)).toMatchObject({
      encryption_key_address: recipient.address,
      source_encrypted_user_secret_key_share_id: shareId,
      state: { $kind: "NetworkVerificationCompleted" },
    });
    const forged = acceptShare(harness, dwalletId, id, await user.keypair.sign(output));
    await expect(forged).rejects.toThrow("code: 6");
    await acceptShare(harness, dwalletId, id, signature);
    expect((await settledShare(id)).state.$kind).toBe("KeyHolderSigned");
  });
});
