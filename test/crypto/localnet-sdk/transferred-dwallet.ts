import { CoordinatorInnerModule, type UserShareEncryptionKeys } from "@ika.xyz/sdk";
import { beforeAll, describe, expect, test } from "vitest";
import { type ActiveDwallet, me, POLL, type SdkDriver } from "../../component/localnet/sdk-driver.ts";
import { derivedKeys } from "../../component/localnet/sdk-shortcuts.ts";
import {
  isSound,
  noticeClosedConnections,
  publicKeyOf,
  requestOf,
  signWithSdk,
} from "../../component/localnet/sdk-steps.ts";
import { SDK_CURVES } from "../../component/localnet/sdk-triples.ts";
import { sharedDwallet, sharedKeys, sharedSdk, unusedShare } from "../../component/localnet/shared-sdk.ts";

/** The unmodified Ika SDK alone acts as a user who gives a dWallet to another, and as that other. */

const message = new TextEncoder().encode("signed by a dWallet's second owner");

let sdk: SdkDriver;

beforeAll(async () => {
  sdk = await sharedSdk();
});

describe.each(SDK_CURVES)("a dWallet that is given away on $curve", ({ curve, signs }) => {
  test("a recipient accepts a share that was encrypted to it, and signs with it", async () => {
    const giver = await sharedKeys(curve);
    const recipient = await derivedKeys(new Uint8Array(32).fill(24), curve);
    await sdk.registerKey(recipient, curve);
    const { dwallet, shareId: sourceId } = await sharedDwallet(curve);

    // Another dWallet's share is not this one's.
    const wrong = await reEncrypt(giver, recipient, dwallet, sourceId, await unusedShare(curve));
    const { EncryptedUserSecretKeyShare } = CoordinatorInnerModule;
    const isSettled = (kind: string) => kind !== "AwaitingNetworkVerification";
    expect(await sdk.settle(wrong, EncryptedUserSecretKeyShare, isSettled)).toBe(
      "NetworkVerificationRejected",
    );

    const shareId = await reEncrypt(giver, recipient, dwallet, sourceId);
    const destination = await sdk.ika.getEncryptedUserSecretKeyShareInParticularState(
      shareId,
      "NetworkVerificationCompleted",
      POLL,
    );
    expect(destination.source_encrypted_user_secret_key_share_id).toBe(sourceId);
    await accept(giver, recipient, dwallet, sourceId, shareId);
    const accepted = await sdk.ika.getEncryptedUserSecretKeyShareInParticularState(
      shareId,
      "KeyHolderSigned",
      POLL,
    );
    const publicKey = await publicKeyOf(curve, dwallet);
    for (const { algorithm, hash } of signs) {
      const share = { encryptedUserSecretKeyShare: accepted };
      const signature = await signWithSdk(sdk, recipient, dwallet, {
        curve,
        algorithm,
        hash,
        message,
        share,
      });
      expect(isSound({ algorithm, hash, publicKey, message, signature })).toBe(true);
    }
  });
});

/** Requests a share for the recipient, of the giver's own share unless another is given. Returns its id. */
async function reEncrypt(
  giver: UserShareEncryptionKeys,
  recipient: UserShareEncryptionKeys,
  dWallet: ActiveDwallet,
  sourceShareId: string,
  sourceSecretShare?: Uint8Array,
): Promise<string> {
  const source = await sdk.ika.getEncryptedUserSecretKeyShare(sourceShareId);
  const executed = await sdk.execute(giver, async (tx, ikaTransaction, coins) => {
    await ikaTransaction.requestReEncryptUserShareFor({
      dWallet: dWallet as never,
      destinationEncryptionKeyAddress: recipient.getSuiAddress(),
      sourceEncryptedUserSecretKeyShare: source,
      ...(sourceSecretShare === undefined ? {} : { sourceSecretShare }),
      ...coins,
    } as never);
    await noticeClosedConnections();
    tx.transferObjects([coins.suiCoin], me);
  });
  const { EncryptedShareVerificationRequestEvent } = CoordinatorInnerModule;
  return requestOf(executed, EncryptedShareVerificationRequestEvent).encrypted_user_secret_key_share_id;
}

/** The recipient checks the giver's signature of the dWallet's output, and accepts its own share. */
async function accept(
  giver: UserShareEncryptionKeys,
  recipient: UserShareEncryptionKeys,
  dWallet: ActiveDwallet,
  sourceShareId: string,
  shareId: string,
): Promise<void> {
  const sourceEncryptionKey = await sdk.ika.getActiveEncryptionKey(giver.getSuiAddress());
  const source = await sdk.ika.getEncryptedUserSecretKeyShare(sourceShareId);
  const destination = await sdk.ika.getEncryptedUserSecretKeyShare(shareId);
  await sdk.execute(recipient, async (tx, ikaTransaction, coins) => {
    await ikaTransaction.acceptEncryptedUserShare({
      dWallet: dWallet as never,
      sourceEncryptionKey,
      sourceEncryptedUserSecretKeyShare: source,
      destinationEncryptedUserSecretKeyShare: destination,
    });
    tx.transferObjects([coins.suiCoin], me);
  });
}
