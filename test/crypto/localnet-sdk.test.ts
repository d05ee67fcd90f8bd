import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  CoordinatorInnerModule,
  Curve,
  createRandomSessionIdentifier,
  createUserSignMessageWithPublicOutput,
  type DKGRequestInput,
  Hash,
  prepareDKG,
  prepareDKGAsync,
  publicKeyFromDWalletOutput,
  SignatureAlgorithm,
  UserShareEncryptionKeys,
} from "@ika.xyz/sdk";
import { bytesToHex } from "@noble/hashes/utils.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createSignMessage } from "../../src/client/crypto/create-sign-message.ts";
import { deriveUserKeys } from "../../src/client/crypto/user-keys.ts";
import { CURVES, findTriple, type SignatureAlgorithmName } from "../../src/protocol/algorithms.ts";
import { runSteps } from "../../src/protocol/chain/read-errors.ts";
import { buildProtocolParameters } from "../../src/protocol/parameters/build-protocol-parameters.ts";
import { type LocalnetChild, startLocalnetChild } from "../component/localnet/localnet-child.ts";
import {
  type ActiveDwallet,
  connectSdk,
  me,
  POLL,
  type SdkDriver,
} from "../component/localnet/sdk-driver.ts";
import { isValid } from "../component/localnet/sdk-triples.ts";
import { environment } from "../support/environment.ts";

const { DWallet, EncryptedUserSecretKeyShare } = CoordinatorInnerModule;
const message = new TextEncoder().encode("signed on a local network through the SDK alone");

let dataDirectory: string;
let network: LocalnetChild;
let sdk: SdkDriver;

beforeAll(async () => {
  dataDirectory = await mkdtemp(join(tmpdir(), "localnet-sdk-"));
  network = await startLocalnetChild(dataDirectory, "real");
  sdk = await connectSdk(network);
});
afterAll(async () => {
  network.child.kill();
  await rm(dataDirectory, { recursive: true, force: true });
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

// The SDK takes 20 to 50 seconds on these curves. Other runs cover them with this project's client, and with the SDK's
// DKG in localnet-mpc.test.ts.
const SLOW: readonly Curve[] = [Curve.SECP256K1, Curve.SECP256R1];
const SHOWN = CASES.filter(({ curve }) => !SLOW.includes(curve) || environment.isReference);

describe.each(SHOWN)("$curve", ({ curve, number, signs }) => {
  test("the SDK derives this project's keys, and its signatures on the localnet are valid", async () => {
    const parameters = buildProtocolParameters(number, sdk.networkOutput);
    const keys = await sdkKeys(number, curve);
    await sdk.registerKey(keys, curve);
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
        // The SDK makes one half of each algorithm here, because an ECDSA half takes it ten seconds.
        const userMessage =
          hash === hashes[0] || environment.isReference
            ? await createUserSignMessageWithPublicOutput(
                ...([parameters, output, dkg.userSecretKeyShare, presignOutput, message] as const),
                ...([hash, algorithm, curve] as never as [never, never, never]),
              )
            : runSteps(
                createSignMessage({
                  triple: findTriple(curve, algorithm as SignatureAlgorithmName, hash)!,
                  parameters,
                  dwalletOutput: output,
                  userSecretKeyShare: Uint8Array.from(dkg.userSecretKeyShare),
                  presign: presignOutput,
                  message,
                }),
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
    keys = await sdkKeys(2, curve);
    await sdk.registerKey(keys, curve);
    parameters = await sdk.ika.getProtocolPublicParameters(undefined, curve);
    const session = createRandomSessionIdentifier();
    dkg = await prepareDKGAsync(sdk.ika, curve, keys, session, me);
    const requested = await sdk.requestDkg(keys, curve, dkg, session);
    shareId = requested.shareId;
    dwallet = await sdk.accept(keys, dkg, requested);
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

  const rejectedDkg = async (change: (input: DKGRequestInput) => DKGRequestInput, otherSession = false) => {
    const session = createRandomSessionIdentifier();
    const input = await prepareDKG(parameters, curve, keys.encryptionKey, session, me);
    const used = otherSession ? createRandomSessionIdentifier() : session;
    const { dwalletId, shareId: id } = await sdk.requestDkg(keys, curve, change(input), used);
    const settled = await sdk.settle(dwalletId, DWallet, (kind) => kind !== "AwaitingNetworkDKGVerification");
    const share = await sdk.settle(
      id,
      EncryptedUserSecretKeyShare,
      (kind) => kind !== "AwaitingNetworkVerification",
    );
    return [settled, share];
  };
  const REJECTED = ["NetworkRejectedDKGVerification", "NetworkVerificationRejected"];

  test("a DKG message of another session is rejected", async () => {
    expect(await rejectedDkg((input) => input, true)).toEqual(REJECTED);
  });

  test("a tampered DKG proof is rejected", async () => {
    const flip = (input: DKGRequestInput) => ({
      ...input,
      userDKGMessage: flipped(input.userDKGMessage, 700),
    });
    expect(await rejectedDkg(flip)).toEqual(REJECTED);
  });

  test("a tampered proof of the encrypted share is rejected", async () => {
    const at = dkg.encryptedUserShareAndProof.length - 700;
    const flip = (input: DKGRequestInput) => ({
      ...input,
      encryptedUserShareAndProof: flipped(input.encryptedUserShareAndProof, at),
    });
    expect(await rejectedDkg(flip)).toEqual(REJECTED);
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
    const other = await prepareDKG(
      parameters,
      curve,
      keys.encryptionKey,
      createRandomSessionIdentifier(),
      me,
    );
    expect(await signWith({ share: other.userSecretKeyShare })).toBe("NetworkRejected");
  });

  test("a sign message for another presign is rejected", async () => {
    expect(await signWith({ otherPresign: true })).toBe("NetworkRejected");
  });

  test("a sign message for a message that was not approved is rejected", async () => {
    expect(await signWith({ approved: new TextEncoder().encode("another message") })).toBe("NetworkRejected");
  });
});

/** The SDK's keys on a curve. Expects that this project derives the same from the seed. */
async function sdkKeys(number: number, curve: Curve): Promise<UserShareEncryptionKeys> {
  const keys = await UserShareEncryptionKeys.fromRootSeedKey(seedOf(number), curve);
  const own = deriveUserKeys(seedOf(number), CURVES[number]!);
  expect(bytesToHex(own.encryptionKey)).toBe(bytesToHex(keys.encryptionKey));
  expect(bytesToHex(own.decryptionKey.reveal())).toBe(bytesToHex(keys.decryptionKey));
  // The WebAssembly has blocked the thread for seconds. One turn of the event loop lets `fetch` notice which idle
  // connections the localnet has closed meanwhile, before it sends a request on one of them.
  await new Promise((resolve) => setImmediate(resolve));
  return keys;
}

function seedOf(curve: number): Uint8Array {
  return Uint8Array.from({ length: 32 }, (_, index) => (index * 7 + curve + 1) % 256);
}

function flipped(bytes: Uint8Array, at: number): Uint8Array {
  return bytes.map((byte, index) => (index === at ? byte ^ 1 : byte));
}
