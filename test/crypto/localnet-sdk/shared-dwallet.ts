import {
  CoordinatorInnerModule,
  type Curve,
  createRandomSessionIdentifier,
  type DKGRequestInput,
  prepareDKGAsync,
  type UserShareEncryptionKeys,
} from "@ika.xyz/sdk";
import { beforeAll, describe, expect, test } from "vitest";
import { type ActiveDwallet, me, POLL, type SdkDriver } from "../../component/localnet/sdk-driver.ts";
import {
  dwalletWhen,
  isSound,
  publicKeyOf,
  requestOf,
  signWithSdk,
} from "../../component/localnet/sdk-steps.ts";
import { SDK_CURVES } from "../../component/localnet/sdk-triples.ts";
import { sharedKeys, sharedSdk, unusedShare } from "../../component/localnet/shared-sdk.ts";
import { atNight } from "../../support/environment.ts";

/** The unmodified Ika SDK alone acts as the user of a dWallet whose share is public. */

const message = new TextEncoder().encode("signed with a share that everybody knows");

let sdk: SdkDriver;

beforeAll(async () => {
  sdk = await sharedSdk();
});

describe.each(SDK_CURVES)("a dWallet with a public share on $curve", ({ curve, signs }) => {
  let keys: UserShareEncryptionKeys;
  beforeAll(async () => {
    keys = await sharedKeys(curve);
  });

  const prepare = async (): Promise<{ dkg: DKGRequestInput; session: Uint8Array }> => {
    const session = createRandomSessionIdentifier();
    return { session, dkg: await prepareDKGAsync(sdk.ika, curve, keys, session, me) };
  };

  const signsEverywhere = async (dwallet: ActiveDwallet): Promise<void> => {
    const publicKey = await publicKeyOf(curve, dwallet);
    for (const { algorithm, hash } of signs) {
      const request = { curve, algorithm, hash, message, share: {} };
      const signature = await signWithSdk(sdk, undefined, dwallet, request);
      expect(isSound({ algorithm, hash, publicKey, message, signature })).toBe(true);
    }
  };

  test("a dWallet that is created with a public share is active without acceptance, and signs", async () => {
    const { dkg, session } = await prepare();
    const dwalletId = await requestPublicDkg(keys, curve, dkg, session, dkg.userSecretKeyShare);
    const dwallet = await sdk.ika.getDWalletInParticularState(dwalletId, "Active", POLL);
    expect(dwallet.kind).toBe("shared");
    expect(dwallet.public_user_secret_key_share).toEqual(Array.from(dkg.userSecretKeyShare));
    await signsEverywhere(dwallet);
  });

  test("a share that is made public signs, and another dWallet's share stays out", async () => {
    const mine = await prepare();
    const dwallet = await sdk.accept(
      keys,
      mine.dkg,
      await sdk.requestDkg(keys, curve, mine.dkg, mine.session),
    );
    // The network answers in the order of the requests.
    await makePublic(dwallet, await unusedShare(curve));
    await makePublic(dwallet, mine.dkg.userSecretKeyShare);
    const shared = await dwalletWhen(sdk, dwallet.id, (found) => found.public_user_secret_key_share !== null);
    expect(shared.public_user_secret_key_share).toEqual(Array.from(mine.dkg.userSecretKeyShare));
    await signsEverywhere(shared);
    await expect(makePublic(shared, mine.dkg.userSecretKeyShare)).rejects.toThrow("code: 16");
  });

  test.each(atNight(["a DKG with another public share than its message proves is rejected"], []))(
    "%s",
    async () => {
      const [mine, share] = [await prepare(), await unusedShare(curve)];
      const dwalletId = await requestPublicDkg(keys, curve, mine.dkg, mine.session, share);
      const settled = await sdk.settle(
        dwalletId,
        CoordinatorInnerModule.DWallet,
        (kind) => kind !== "AwaitingNetworkDKGVerification",
      );
      expect(settled).toBe("NetworkRejectedDKGVerification");
    },
  );
});

async function requestPublicDkg(
  keys: UserShareEncryptionKeys,
  curve: Curve,
  dkg: DKGRequestInput,
  session: Uint8Array,
  publicUserSecretKeyShare: Uint8Array,
): Promise<string> {
  const { id } = await sdk.ika.getLatestNetworkEncryptionKey();
  const executed = await sdk.execute(keys, async (tx, ikaTransaction, coins) => {
    const [cap] = (await ikaTransaction.requestDWalletDKGWithPublicUserShare({
      sessionIdentifier: ikaTransaction.registerSessionIdentifier(session),
      dwalletNetworkEncryptionKeyId: id,
      curve,
      publicKeyShareAndProof: dkg.userDKGMessage,
      publicUserSecretKeyShare,
      userPublicOutput: dkg.userPublicOutput,
      ...coins,
    })) as unknown as never[];
    tx.transferObjects([cap as never, coins.suiCoin], me);
  });
  const request = requestOf(executed, CoordinatorInnerModule.DWalletDKGRequestEvent);
  expect(request.user_secret_key_share.$kind).toBe("Public");
  return request.dwallet_id;
}

function makePublic(dwallet: ActiveDwallet, secretShare: Uint8Array) {
  return sdk.execute(undefined, async (tx, ikaTransaction, coins) => {
    ikaTransaction.makeDWalletUserSecretKeySharesPublic({ dWallet: dwallet as never, secretShare, ...coins });
    tx.transferObjects([coins.suiCoin], me);
  });
}
