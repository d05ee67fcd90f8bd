import {
  CoordinatorInnerModule,
  Curve,
  createRandomSessionIdentifier,
  createUserSignMessageWithPublicOutput,
  type DKGRequestInput,
  Hash,
  publicKeyFromDWalletOutput,
  SignatureAlgorithm,
  type UserShareEncryptionKeys,
} from "@ika.xyz/sdk";
import { beforeAll, describe, expect, test } from "vitest";
import { type ActiveDwallet, me, POLL, type SdkDriver } from "../../component/localnet/sdk-driver.ts";
import { isValid } from "../../component/localnet/sdk-triples.ts";
import { sharedDwallet, sharedKeys, sharedSdk, unusedShare } from "../../component/localnet/shared-sdk.ts";
import { atNight } from "../../support/environment.ts";
import { expectOwnKeys } from "./own-keys.ts";

/** DKG and signatures on ED25519, and what the network rejects. */

const { DWallet, EncryptedUserSecretKeyShare } = CoordinatorInnerModule;
const message = new TextEncoder().encode("signed on a local network through the SDK alone");

let sdk: SdkDriver;

describe("ED25519, entirely through IkaClient and IkaTransaction", () => {
  const curve = Curve.ED25519;
  const algorithm = SignatureAlgorithm.EdDSA;
  const hash = Hash.SHA512;
  let keys: UserShareEncryptionKeys;
  let parameters: Uint8Array;
  let dkg: DKGRequestInput;
  let dwallet: ActiveDwallet;
  let shareId: string;

  beforeAll(async () => {
    sdk = await sharedSdk();
    keys = await sharedKeys(curve);
    parameters = await sdk.ika.getProtocolPublicParameters(undefined, curve);
    ({ dkg, shareId, dwallet } = await sharedDwallet(curve));
  });

  // By day user-keys.test.ts holds this against recorded keys of the SDK.
  test.each(atNight(["this project derives the same keys from the seed as the SDK"], []))("%s", () => {
    expectOwnKeys(keys, 2);
  });

  test("IkaTransaction signs from the encrypted share, and OpenSSL accepts the signature", async () => {
    const presign = await sdk.readyPresign(curve, algorithm);
    const encryptedUserSecretKeyShare = await sdk.ika.getEncryptedUserSecretKeyShare(shareId);
    const executed = await sdk.execute(keys, async (tx, ikaTransaction, coins) => {
      const signed = ikaTransaction.requestSign({
        dWallet: dwallet as never,
        messageApproval: ikaTransaction.approveMessage({
          dWalletCap: dwallet.dwallet_cap_id,
          curve,
          signatureAlgorithm: algorithm,
          hashScheme: hash,
          message,
        }),
        hashScheme: hash,
        verifiedPresignCap: ikaTransaction.verifyPresignCap({ presign }),
        presign,
        encryptedUserSecretKeyShare,
        message,
        signatureScheme: algorithm,
        ...coins,
      });
      await signed;
      tx.transferObjects([coins.suiCoin as never], me);
    });
    const sign = await sdk.ika.getSignInParticularState(
      sdk.signIdOf(executed),
      curve,
      algorithm,
      "Completed",
      POLL,
    );
    const publicKey = await publicKeyFromDWalletOutput(
      curve,
      Uint8Array.from(dwallet.state.Active.public_output),
    );
    const signature = Uint8Array.from(sign.state.Completed.signature);
    expect(isValid({ algorithm, hash, publicKey, message, signature })).toBe(true);
  });

  // localnet-mpc.test.ts has each of the proofs that the network checks.
  test("a DKG message of another session is rejected", async () => {
    const requested = await sdk.requestDkg(keys, curve, dkg, createRandomSessionIdentifier());
    const settled = [
      await sdk.settle(requested.dwalletId, DWallet, (kind) => kind !== "AwaitingNetworkDKGVerification"),
      await sdk.settle(
        requested.shareId,
        EncryptedUserSecretKeyShare,
        (kind) => kind !== "AwaitingNetworkVerification",
      ),
    ];
    expect(settled).toEqual(["NetworkRejectedDKGVerification", "NetworkVerificationRejected"]);
  });

  const signWith = async (options: {
    share?: Uint8Array;
    approved?: Uint8Array;
    change?: (userMessage: Uint8Array) => Uint8Array;
    otherPresign?: boolean;
  }) => {
    const presign = await sdk.readyPresign(curve, algorithm);
    const used = options.otherPresign === true ? await sdk.readyPresign(curve, algorithm) : presign;
    const userMessage = await createUserSignMessageWithPublicOutput(
      parameters,
      Uint8Array.from(dwallet.state.Active.public_output),
      options.share ?? dkg.userSecretKeyShare,
      Uint8Array.from(presign.state.Completed.presign),
      message,
      hash,
      algorithm,
      curve,
    );
    const changed = options.change?.(userMessage) ?? userMessage;
    return sdk
      .requestSign(dwallet, used.cap_id, curve, algorithm, hash, changed, options.approved ?? message)
      .then(sdk.settledSign);
  };

  test("the same flow without a fault completes", async () => {
    expect(await signWith({})).toBe("Completed");
  });

  test("a tampered partial signature is rejected", async () => {
    const last = (userMessage: Uint8Array) => flipped(userMessage, userMessage.length - 5);
    expect(await signWith({ change: last })).toBe("NetworkRejected");
  });

  test("a sign message of random bytes is rejected", async () => {
    expect(await signWith({ change: () => new Uint8Array(0) })).toBe("NetworkRejected");
    expect(await signWith({ change: (userMessage) => userMessage.slice(0, 20) })).toBe("NetworkRejected");
  });

  test("a sign message made with another dWallet's share is rejected", async () => {
    expect(await signWith({ share: await unusedShare(curve) })).toBe("NetworkRejected");
  });

  test("a sign message for another presign is rejected", async () => {
    expect(await signWith({ otherPresign: true })).toBe("NetworkRejected");
  });

  test("a sign message for a message that was not approved is rejected", async () => {
    expect(await signWith({ approved: new TextEncoder().encode("another message") })).toBe("NetworkRejected");
  });
});

function flipped(bytes: Uint8Array, at: number): Uint8Array {
  return bytes.map((byte, index) => (index === at ? byte ^ 1 : byte));
}
