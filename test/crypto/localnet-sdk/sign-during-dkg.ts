import {
  CoordinatorInnerModule,
  createRandomSessionIdentifier,
  prepareDKGAsync,
  type UserShareEncryptionKeys,
} from "@ika.xyz/sdk";
import { beforeAll, describe, expect, test } from "vitest";
import { me, type SdkDriver } from "../../component/localnet/sdk-driver.ts";
import {
  isSound,
  noticeClosedConnections,
  publicKeyOf,
  requestOf,
} from "../../component/localnet/sdk-steps.ts";
import { SDK_CURVES, type SdkAlgorithm } from "../../component/localnet/sdk-triples.ts";
import { sharedKeys, sharedSdk, unusedShare } from "../../component/localnet/shared-sdk.ts";
import { atNight } from "../../support/environment.ts";

/** The unmodified Ika SDK alone acts as a user whose dWallet signs as it comes into being. */

const message = new TextEncoder().encode("signed by a dWallet that has just been born");

let sdk: SdkDriver;

beforeAll(async () => {
  sdk = await sharedSdk();
});

describe.each(SDK_CURVES)("a DKG with a signature on $curve", ({ curve, signs }) => {
  let keys: UserShareEncryptionKeys;
  beforeAll(async () => {
    keys = await sharedKeys(curve);
  });

  // By day shared-dwallet.ts has the DKG with a public share.
  test.each(atNight(["an encrypted", "a public"], ["an encrypted"]))(
    "a DKG signs a message at once, with %s share",
    async (share) => {
      for (const sign of signs) {
        const { dwalletId, signId, userPublicOutput, shareId } = await dkgWithSignature(
          sign,
          share === "a public",
        );
        const signature = await sdk.signatureOf(signId);
        const dwallet =
          shareId === undefined
            ? await sdk.ika.getDWalletInParticularState(dwalletId, "Active")
            : await sdk.accept(keys, { userPublicOutput }, { dwalletId, shareId });
        const publicKey = await publicKeyOf(curve, dwallet);
        expect(isSound({ ...sign, publicKey, message, signature })).toBe(true);
      }
    },
  );

  test.each(atNight(["a DKG with a half by another dWallet's share is rejected, as is its signature"], []))(
    "%s",
    async () => {
      const { dwalletId, signId } = await dkgWithSignature(signs[0]!, false, await unusedShare(curve));
      const { DWallet, SignSession } = CoordinatorInnerModule;
      const isSettled = (kind: string) => kind !== "AwaitingNetworkDKGVerification";
      expect(await sdk.settle(dwalletId, DWallet, isSettled)).toBe("NetworkRejectedDKGVerification");
      expect(await sdk.settle(signId, SignSession, (kind) => kind !== "Requested")).toBe("NetworkRejected");
    },
  );

  /** `signingShare` makes the user's half of the signature. Default: the dWallet's own share. */
  async function dkgWithSignature(
    { algorithm, hash }: SdkAlgorithm,
    isPublic: boolean,
    signingShare?: Uint8Array,
  ) {
    const presign = await sdk.readyPresign(curve, algorithm);
    const session = createRandomSessionIdentifier();
    const dkg = await prepareDKGAsync(sdk.ika, curve, keys, session, me);
    const { id: dwalletNetworkEncryptionKeyId } = await sdk.ika.getLatestNetworkEncryptionKey();
    const executed = await sdk.execute(keys, async (tx, ikaTransaction, coins) => {
      const signDuringDKGRequest = {
        message,
        presign,
        verifiedPresignCap: ikaTransaction.verifyPresignCap({ presign }),
        hashScheme: hash as never,
        signatureAlgorithm: algorithm as never,
      };
      const common = {
        sessionIdentifier: ikaTransaction.registerSessionIdentifier(session),
        dwalletNetworkEncryptionKeyId,
        signDuringDKGRequest: signDuringDKGRequest as never,
        curve,
        ...coins,
      };
      const [cap] = (await (isPublic
        ? ikaTransaction.requestDWalletDKGWithPublicUserShare({
            publicKeyShareAndProof: dkg.userDKGMessage,
            publicUserSecretKeyShare: dkg.userSecretKeyShare,
            userPublicOutput: dkg.userPublicOutput,
            ...common,
          })
        : ikaTransaction.requestDWalletDKG({
            dkgRequestInput: { ...dkg, userSecretKeyShare: signingShare ?? dkg.userSecretKeyShare },
            ...common,
          }))) as unknown as never[];
      await noticeClosedConnections();
      tx.transferObjects([cap as never, coins.suiCoin], me);
    });
    const request = requestOf(executed, CoordinatorInnerModule.DWalletDKGRequestEvent);
    return {
      dwalletId: request.dwallet_id,
      signId: request.sign_during_dkg_request?.sign_id as string,
      shareId: request.user_secret_key_share.Encrypted?.encrypted_user_secret_key_share_id,
      userPublicOutput: dkg.userPublicOutput,
    };
  }
});
