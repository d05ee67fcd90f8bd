import {
  CoordinatorInnerModule,
  Curve,
  createRandomSessionIdentifier,
  type ImportDWalletVerificationRequestInput,
  prepareImportedKeyDWalletVerification,
  type UserShareEncryptionKeys,
} from "@ika.xyz/sdk";
import { ed25519, ristretto255 } from "@noble/curves/ed25519.js";
import { p256 } from "@noble/curves/nist.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { beforeAll, describe, expect, test } from "vitest";
import { me, type SdkDriver } from "../../component/localnet/sdk-driver.ts";
import {
  isSound,
  publicKeyOf,
  requestImport,
  signWithImportedKey,
} from "../../component/localnet/sdk-steps.ts";
import { OWN_SECRET, OWN_SECRETS, SDK_CURVES } from "../../component/localnet/sdk-triples.ts";
import { sharedImport, sharedKeys, sharedSdk } from "../../component/localnet/shared-sdk.ts";
import { atNight } from "../../support/environment.ts";

/** The unmodified Ika SDK alone acts as the user who brings a key. */

const message = new TextEncoder().encode("signed with a key that existed before the dWallet");

let sdk: SdkDriver;

beforeAll(async () => {
  sdk = await sharedSdk();
});

/** The public keys of the imported secret, by noble. */
const PUBLIC_KEYS: Readonly<Record<Curve, Uint8Array>> = {
  [Curve.SECP256K1]: secp256k1.Point.BASE.multiply(OWN_SECRET).toBytes(true),
  [Curve.SECP256R1]: p256.Point.BASE.multiply(OWN_SECRET).toBytes(true),
  [Curve.ED25519]: ed25519.Point.BASE.multiply(OWN_SECRET).toBytes(),
  [Curve.RISTRETTO]: ristretto255.Point.BASE.multiply(OWN_SECRET).toBytes(),
};

describe.each(SDK_CURVES)("an imported key on $curve", ({ curve, signs }) => {
  const own = { secret: OWN_SECRETS[curve], publicKey: PUBLIC_KEYS[curve] };
  let keys: UserShareEncryptionKeys;
  beforeAll(async () => {
    keys = await sharedKeys(curve);
  });

  test("an imported key keeps its public key, and signs from the encrypted share", async () => {
    const { dwallet, shareId } = await sharedImport(curve);
    expect(dwallet.kind).toBe("imported-key");
    const publicKey = await publicKeyOf(curve, dwallet);
    expect(bytesToHex(publicKey)).toBe(bytesToHex(own.publicKey));
    for (const { algorithm, hash } of signs) {
      const encryptedUserSecretKeyShare = await sdk.ika.getEncryptedUserSecretKeyShare(shareId);
      const request = { curve, algorithm, hash, message, share: { encryptedUserSecretKeyShare } };
      const signature = await signWithImportedKey(sdk, keys, dwallet, request);
      expect(isSound({ algorithm, hash, publicKey: own.publicKey, message, signature })).toBe(true);
    }
  });

  test.each(atNight(["every proof of the import must hold"], []))("%s", async () => {
    const session = createRandomSessionIdentifier();
    const input = await prepareImportedKeyDWalletVerification(sdk.ika, curve, session, me, keys, own.secret);
    const verdictOf = async (
      change: Partial<ImportDWalletVerificationRequestInput>,
      used = createRandomSessionIdentifier(),
    ) => {
      const request = await requestImport(sdk, keys, curve, { ...input, ...change }, used);
      return sdk.settle(
        request.dwallet_id,
        CoordinatorInnerModule.DWallet,
        (kind) => kind !== "AwaitingNetworkImportedKeyVerification",
      );
    };
    const REJECTED = "NetworkRejectedImportedKeyVerification";
    const otherSession = createRandomSessionIdentifier();
    const other = await prepareImportedKeyDWalletVerification(
      ...([sdk.ika, curve, otherSession, me, keys, own.secret] as const),
    );
    // Another session than the proofs are bound to, and what belongs to another import.
    expect(await verdictOf({})).toBe(REJECTED);
    const { userPublicOutput, encryptedUserShareAndProof, userMessage } = other;
    expect(await verdictOf({ userPublicOutput }, session)).toBe(REJECTED);
    const share = { ...other, encryptedUserShareAndProof: input.encryptedUserShareAndProof };
    expect(await verdictOf(share, otherSession)).toBe(REJECTED);
    expect(encryptedUserShareAndProof).not.toEqual(input.encryptedUserShareAndProof);
    expect(userPublicOutput).not.toEqual(input.userPublicOutput);
    expect(userMessage).not.toEqual(input.userMessage);
  });
});
