/**
 * An attacker who may onboard for a project makes a dWallet with a share of their own, encrypted to a user's public
 * key, on an honest network. If the user accepted it, the attacker could sign without the user.
 */

import { randomBytes } from "node:crypto";
import type { Interceptor } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { type Curve, prepareDKG } from "@ika.xyz/sdk";
import { bytesToHex } from "@noble/hashes/utils.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { DWallet } from "../../gen/proto/tss/v1/onboarding_pb.ts";
import { DWallet_State } from "../../gen/proto/tss/v1/onboarding_pb.ts";
import { Curve as ProtoCurve } from "../../gen/proto/tss/v1/types_pb.ts";
import type { UserKeys } from "../../src/client/crypto/engine.ts";
import { deriveUserKeys, signDWalletOutput } from "../../src/client/crypto/user-keys.ts";
import { createClient, type OnboardResult, type TssClient } from "../../src/client/sdk/index.ts";
import { poll } from "../../src/protocol/chain/poll.ts";
import { isValidSignature } from "../support/crypto/signature-verifiers.ts";
import { type SharedService, sharedService } from "../support/service/shared-service.ts";

const curve = "ED25519";
const seed = new Uint8Array(randomBytes(32));
const signature = { seed, curve, signatureAlgorithm: "EdDSA", hashScheme: "SHA512" } as const;
const message = new TextEncoder().encode("mine alone");
let service: SharedService;
let own: OnboardResult;
let client: TssClient;
let user: UserKeys;
let chosenShareHex: string;
let chosen: DWallet;

beforeAll(async () => {
  service = await sharedService();
  client = connect();
  own = await client.onboard({ seed, curve });
  user = deriveUserKeys(seed, curve);
  await makeChosenShare();
});
afterAll(() => user?.destroy());

test("the user does not resume a dWallet whose share another party chose", async () => {
  const resumed = client.resumeOnboard({ seed, curve, dwalletId: chosen.dwalletId });
  await expect(resumed).rejects.toMatchObject({ reason: "SHARE_UNVERIFIED" });
  const { state } = await client.raw.onboarding.getDWallet({ dwalletId: chosen.dwalletId });
  expect(state).toBe(DWallet_State.AwaitingKeyHolderSignature);
});

test("the user neither recovers nor signs with a share that the signer accepted earlier, unless the caller allows it", async () => {
  const { dwalletId, encryptedUserSecretKeyShareId } = chosen;
  const { publicOutput } = await client.raw.onboarding.getDWallet({ dwalletId });
  const userOutputSignature = signDWalletOutput(user, publicOutput!);
  const acceptance = { dwalletId, encryptedUserSecretKeyShareId, userOutputSignature };
  const { publicKey } = await client.raw.onboarding.acceptDWallet(acceptance);

  const refused = { reason: "SHARE_UNVERIFIED" };
  await expect(client.recoverShare({ seed, curve, dwalletId })).rejects.toMatchObject(refused);
  await expect(client.sign({ ...signature, dwalletId, message })).rejects.toMatchObject(refused);

  const accepting = { dwalletId, acceptUnverifiedShare: true } as const;
  const { userSecretKeyShareHex } = await client.recoverShare({ seed, curve, ...accepting });
  expect(userSecretKeyShareHex).toBe(chosenShareHex);
  const signed = await client.sign({ ...signature, ...accepting, message });
  const { signatureAlgorithm, hashScheme: hash } = signature;
  const claim = { signatureAlgorithm, hash, message, publicKey: publicKey! };
  expect(isValidSignature({ ...claim, signature: signed.signature })).toBe(true);
});

test("the user derives the share from the chain when the service names no session or a wrong one", async () => {
  const { userSecretKeyShareHex, sessionDigestHex } = own;
  for (const named of [new Uint8Array(), new Uint8Array(32).fill(1)]) {
    const lying = connect(answeringWith(named));
    const recovered = await lying.recoverShare({ seed, curve, dwalletId: own.dwallet.id });
    expect(recovered.userSecretKeyShareHex).toBe(userSecretKeyShareHex);
    // A signature asks the service first, and the action verifies it.
    const signed = lying.sign({ ...signature, dwalletId: own.dwallet.id, message });
    await expect(signed).resolves.toHaveProperty("signature");
  }
  const { sessionDigest } = await client.raw.onboarding.getDWallet({ dwalletId: own.dwallet.id });
  expect(bytesToHex(sessionDigest)).toBe(sessionDigestHex);
});

function connect(interceptor?: Interceptor): TssClient {
  const { baseUrl, apiKey, network } = service.access;
  const interceptors = interceptor === undefined ? [] : [interceptor];
  return createClient({
    baseUrl,
    apiKey,
    network,
    transport: createGrpcTransport({ baseUrl, interceptors }),
  });
}

/** Replaces the session of every dWallet that the service describes. */
function answeringWith(sessionDigest: Uint8Array): Interceptor {
  return (next) => async (request) => {
    const reply = await next(request);
    if (!reply.stream && "sessionDigest" in reply.message) reply.message.sessionDigest = sessionDigest;
    return reply;
  };
}

/** Creates the attacker's dWallet from the user's public keys alone. */
async function makeChosenShare(): Promise<void> {
  const { encryptionKey, signerPublicKey } = user;
  const network = await client.raw.onboarding.getNetwork({});
  const senderAddress = network.senderAddresses[0]!;
  const sessionIdentifier = new Uint8Array(randomBytes(32));
  const parameters = await service.parameters(curve);
  const dkg = await prepareDKG(parameters, curve as Curve, encryptionKey, sessionIdentifier, senderAddress);
  chosenShareHex = bytesToHex(Uint8Array.from(dkg.userSecretKeyShare));
  const { encryptionKeys } = await client.raw.onboarding.listEncryptionKeys({});
  chosen = await client.raw.onboarding.createDWallet({
    encryptionKeyId: encryptionKeys.find((key) => key.curve === ProtoCurve.ED25519)!.encryptionKeyId,
    curve: ProtoCurve.ED25519,
    networkEncryptionKeyId: network.networkEncryptionKeyId,
    senderAddress,
    sessionIdentifier,
    userDkgMessage: Uint8Array.from(dkg.userDKGMessage),
    encryptedUserShareAndProof: Uint8Array.from(dkg.encryptedUserShareAndProof),
    userPublicOutput: Uint8Array.from(dkg.userPublicOutput),
    signerPublicKey,
  });
  // The share can be accepted only after the network has completed the DKG.
  await poll(
    async () => {
      const { state } = await client.raw.onboarding.getDWallet({ dwalletId: chosen.dwalletId });
      return state === DWallet_State.AwaitingKeyHolderSignature || undefined;
    },
    { timeoutMs: 120_000 },
  );
}
