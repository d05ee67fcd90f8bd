import { CoordinatorInnerModule, type Curve, type UserShareEncryptionKeys } from "@ika.xyz/sdk";
import { beforeAll, describe, expect, test } from "vitest";
import { type ActiveDwallet, me, POLL, type SdkDriver } from "../../component/localnet/sdk-driver.ts";
import {
  importedKeyPresign,
  isSound,
  noticeClosedConnections,
  publicKeyOf,
  requestOf,
} from "../../component/localnet/sdk-steps.ts";
import { SDK_CURVES, type SdkAlgorithm } from "../../component/localnet/sdk-triples.ts";
import { sharedDwallet, sharedImport, sharedKeys, sharedSdk } from "../../component/localnet/shared-sdk.ts";
import { atNight } from "../../support/environment.ts";

/** The unmodified Ika SDK alone acts as a user who signs a half now, and as whoever completes it later. */

const message = new TextEncoder().encode("signed once a condition holds");

let sdk: SdkDriver;

beforeAll(async () => {
  sdk = await sharedSdk();
});

describe.each(SDK_CURVES)("a half that is made early on $curve", ({ curve, signs }) => {
  let keys: UserShareEncryptionKeys;
  beforeAll(async () => {
    keys = await sharedKeys(curve);
  });

  const completes = async (dwallet: ActiveDwallet, shareId: string): Promise<void> => {
    const publicKey = await publicKeyOf(curve, dwallet);
    for (const sign of signs) {
      const partialId = await requestFutureSign(keys, curve, dwallet, shareId, sign);
      const partial = await sdk.ika.getPartialUserSignatureInParticularState(
        partialId,
        "NetworkVerificationCompleted",
        POLL,
      );
      expect(Uint8Array.from(partial.message)).toEqual(message);
      const signature = await completeSign(curve, dwallet, partial.cap_id, sign);
      expect(isSound({ ...sign, publicKey, message, signature })).toBe(true);
    }
  };

  test("a dWallet's half of a signature is completed later, without the user's share", async () => {
    const { dwallet, shareId } = await sharedDwallet(curve);
    await completes(dwallet, shareId);
  });

  test.each(atNight(["so is an imported key's"], []))("%s", async () => {
    const { dwallet, shareId } = await sharedImport(curve);
    await completes(dwallet, shareId);
  });
});

/** Signs the user's half from the encrypted share. Returns the partial signature's id. */
async function requestFutureSign(
  keys: UserShareEncryptionKeys,
  curve: Curve,
  dwallet: ActiveDwallet,
  shareId: string,
  { algorithm, hash }: SdkAlgorithm,
): Promise<string> {
  const isImported = dwallet.is_imported_key_dwallet;
  const presign = isImported
    ? await importedKeyPresign(sdk, dwallet, curve, algorithm)
    : await sdk.readyPresign(curve, algorithm);
  const encryptedUserSecretKeyShare = await sdk.ika.getEncryptedUserSecretKeyShare(shareId);
  const executed = await sdk.execute(keys, async (tx, ikaTransaction, coins) => {
    const request = {
      dWallet: dwallet as never,
      verifiedPresignCap: ikaTransaction.verifyPresignCap({ presign }),
      presign,
      encryptedUserSecretKeyShare,
      message,
      hashScheme: hash as never,
      signatureScheme: algorithm as never,
      ...coins,
    };
    const cap = isImported
      ? await ikaTransaction.requestFutureSignWithImportedKey(request)
      : await ikaTransaction.requestFutureSign(request);
    await noticeClosedConnections();
    tx.transferObjects([cap, coins.suiCoin], me);
  });
  const { FutureSignRequestEvent } = CoordinatorInnerModule;
  return requestOf(executed, FutureSignRequestEvent).partial_centralized_signed_message_id;
}

/** Approves the message and completes the signature, without any keys of the user. */
async function completeSign(
  curve: Curve,
  dwallet: ActiveDwallet,
  partialUserSignatureCap: string,
  { algorithm, hash }: SdkAlgorithm,
): Promise<Uint8Array> {
  const executed = await sdk.execute(undefined, async (tx, ikaTransaction, coins) => {
    const approval = {
      dWalletCap: dwallet.dwallet_cap_id,
      curve: curve as never,
      signatureAlgorithm: algorithm as never,
      hashScheme: hash as never,
      message,
    };
    if (dwallet.is_imported_key_dwallet) {
      const importedKeyMessageApproval = ikaTransaction.approveImportedKeyMessage(approval);
      ikaTransaction.futureSignWithImportedKey({
        partialUserSignatureCap,
        importedKeyMessageApproval,
        ...coins,
      });
    } else {
      const messageApproval = ikaTransaction.approveMessage(approval);
      ikaTransaction.futureSign({ partialUserSignatureCap, messageApproval, ...coins });
    }
    tx.transferObjects([coins.suiCoin], me);
  });
  expect(requestOf(executed, CoordinatorInnerModule.SignRequestEvent).is_future_sign).toBe(true);
  return sdk.signatureOf(sdk.signIdOf(executed));
}
