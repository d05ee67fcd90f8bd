import {
  Curve,
  createRandomSessionIdentifier,
  createUserSignMessageWithPublicOutput,
  Hash,
  prepareDKG,
  publicKeyFromDWalletOutput,
  SignatureAlgorithm,
} from "@ika.xyz/sdk";
import { beforeAll, describe, expect, test } from "vitest";
import { buildProtocolParameters } from "../../../src/protocol/parameters/build-protocol-parameters.ts";
import { me, type SdkDriver } from "../../component/localnet/sdk-driver.ts";
import { isValid } from "../../component/localnet/sdk-triples.ts";
import { sharedKeys, sharedSdk } from "../../component/localnet/shared-sdk.ts";
import { atNight, environment } from "../../support/environment.ts";
import { expectOwnKeys } from "./own-keys.ts";

/** DKG and signatures on the curves other than ED25519. */

const message = new TextEncoder().encode("signed on a local network through the SDK alone");

let sdk: SdkDriver;

beforeAll(async () => {
  if (environment.isReference) sdk = await sharedSdk();
});

/** Each curve with its algorithms, and the hash that each is signed with here. */
const CASES = [
  {
    curve: Curve.SECP256K1,
    number: 0,
    signs: [
      {
        algorithm: SignatureAlgorithm.ECDSASecp256k1,
        hashes: [Hash.KECCAK256, Hash.SHA256, Hash.DoubleSHA256],
      },
      { algorithm: SignatureAlgorithm.Taproot, hashes: [Hash.SHA256] },
    ],
  },
  {
    curve: Curve.SECP256R1,
    number: 1,
    signs: [{ algorithm: SignatureAlgorithm.ECDSASecp256r1, hashes: [Hash.SHA256] }],
  },
  {
    curve: Curve.RISTRETTO,
    number: 3,
    signs: [{ algorithm: SignatureAlgorithm.SchnorrkelSubstrate, hashes: [Hash.Merlin] }],
  },
] as const;

// The SDK takes 20 to 50 seconds for each of these curves. Other runs cover them with this project's client, and with the
// SDK's DKG in localnet-mpc.test.ts; those of ED25519 are in ed25519.ts.
describe.each(atNight(CASES, []))("$curve", ({ curve, number, signs }) => {
  test("the SDK derives this project's keys, and its signatures on the localnet are valid", async () => {
    const parameters = buildProtocolParameters(number, sdk.networkOutput);
    const keys = await sharedKeys(curve);
    expectOwnKeys(keys, number);
    const session = createRandomSessionIdentifier();
    const dkg = await prepareDKG(parameters, curve, keys.encryptionKey, session, me);
    const dwallet = await sdk.accept(keys, dkg, await sdk.requestDkg(keys, curve, dkg, session));
    const output = Uint8Array.from(dwallet.state.Active.public_output);
    const publicKey = await publicKeyFromDWalletOutput(curve, output);
    let spent: Uint8Array | undefined;
    for (const { algorithm, hashes } of signs) {
      for (const hash of hashes) {
        const presign = await sdk.readyPresign(curve, algorithm);
        const presignOutput = Uint8Array.from(presign.state.Completed.presign);
        const userMessage = await createUserSignMessageWithPublicOutput(
          ...([parameters, output, dkg.userSecretKeyShare, presignOutput, message] as const),
          ...([hash, algorithm, curve] as never as [never, never, never]),
        );
        const signId = await sdk.requestSign(
          dwallet,
          presign.cap_id,
          curve,
          algorithm,
          hash,
          userMessage,
          message,
        );
        const signature = await sdk.signatureOf(signId);
        expect(isValid({ algorithm, hash, publicKey, message, signature })).toBe(true);
        const flipped = signature.map((byte, index) => (index === 40 ? byte ^ 1 : byte));
        expect(isValid({ algorithm, hash, publicKey, message, signature: flipped })).toBe(false);
        spent ??= userMessage;
      }
    }
    // The network rejects a message for another presign, and does not crash.
    const [{ algorithm, hashes }] = signs;
    const presign = await sdk.readyPresign(curve, algorithm);
    const signId = await sdk.requestSign(
      dwallet,
      presign.cap_id,
      curve,
      algorithm,
      hashes[0],
      spent as Uint8Array,
      message,
    );
    expect(await sdk.settledSign(signId)).toBe("NetworkRejected");
  });
});
