import { Ed25519PublicKey } from "@mysten/sui/keypairs/ed25519";
import { bytesToHex } from "@noble/hashes/utils.js";
import { encodeBase58 } from "ethers";
import { describe, expect, test } from "vitest";
import type {
  CreateDWalletRequest,
  RegisterEncryptionKeyRequest,
} from "../../../../gen/proto/tss/v1/onboarding_pb.ts";
import { SecretBytes } from "../../../../src/client/crypto/secret-bytes.ts";
import { onboard, resumeOnboard } from "../../../../src/client/sdk/actions/onboard.ts";
import { recoverShare } from "../../../../src/client/sdk/actions/recovery/recover-share.ts";
import { flipBit, vectorOf } from "../../../support/crypto/signature-vectors.ts";
import { verifyEdDsa } from "../../../support/crypto/signature-verifiers.ts";
import { createFakeService, DWALLET, DWALLET_ID, SEED, SHARE_ID } from "./fake-service.ts";
import { hourAt } from "./hour-at.ts";

const args = { seed: SEED, curve: "ED25519" } as const;

/** The public key and its addresses, computed with libraries that the client does not use. */
const publicNames = (publicKey: Uint8Array) => ({
  publicKeyHex: Buffer.from(publicKey).toString("hex"),
  addresses: [
    { kind: "solana", address: encodeBase58(publicKey) },
    { kind: "sui", address: new Ed25519PublicKey(publicKey).toSuiAddress() },
  ],
});

test("an onboarding returns the dWallet, the share and both digests, stage by stage", async () => {
  const service = createFakeService();
  const stages: string[] = [];
  const times: number[] = [];
  const result = await onboard(service.context, args, {
    onProgress(stage, elapsedMs) {
      stages.push(stage);
      times.push(elapsedMs);
    },
  });
  expect(result).toEqual({
    dwallet: { id: DWALLET_ID, curve: "ED25519" },
    ...publicNames(service.script.made.publicKey),
    userSecretKeyShareHex: bytesToHex(service.script.made.userSecretKeyShare),
    userPublicOutputHex: bytesToHex(service.script.made.userPublicOutput),
    encryptedUserSecretKeyShareId: SHARE_ID,
    sessionDigestHex: bytesToHex(service.script.sessionDigest),
    txDigests: { onboard: "dkg digest", accept: "accept digest" },
  });
  expect(stages).toEqual([
    "network",
    "parameters",
    "keys",
    "register",
    "prepare",
    "create",
    "dkg",
    "accept",
    "activate",
    "done",
  ]);
  expect(times).toEqual([...times].sort((left, right) => left - right));
});

test("an onboarding takes four calls to the service", async () => {
  const service = createFakeService();
  await onboard(service.context, args);
  expect(service.counts()).toEqual({
    getNetwork: 1,
    registerEncryptionKey: 1,
    createDWallet: 1,
    acceptDWallet: 1,
  });
});

test("every call carries the key and the network, and the bodies verify", async () => {
  const service = createFakeService();
  await onboard(service.context, args);
  for (const { headers } of service.seen) {
    expect(headers.get("authorization")).toBe("Bearer tss_local_test");
    expect(headers.get("x-network")).toBe("localnet");
  }
  const find = (method: string) => service.seen.find((call) => call.method === method)!.request;
  const registered = find("registerEncryptionKey") as RegisterEncryptionKeyRequest;
  const { signerPublicKey: publicKey, encryptionKey: message, signature } = registered;
  expect(verifyEdDsa({ signatureAlgorithm: "EdDSA", hash: "SHA512", publicKey, message, signature })).toBe(
    true,
  );
  const created = find("createDWallet") as CreateDWalletRequest;
  expect(created.sessionIdentifier).toHaveLength(32);
  expect(created.senderAddress).toBe(`0x${"a".repeat(64)}`);
  const accepted = find("acceptDWallet") as { userOutputSignature: Uint8Array };
  expect(
    verifyEdDsa({
      signatureAlgorithm: "EdDSA",
      hash: "SHA512",
      publicKey,
      message: service.script.made.output,
      signature: accepted.userOutputSignature,
    }),
  ).toBe(true);
});

test("no request contains the seed or the share", async () => {
  const service = createFakeService();
  await onboard(service.context, args);
  const sent = service.seen
    .map(({ request, headers }) => JSON.stringify([hexOfBytes(request), [...headers]]))
    .join("\n");
  expect(sent).not.toContain(bytesToHex(SEED));
  expect(sent).not.toContain(bytesToHex(service.script.made.userSecretKeyShare).slice(8));
});

describe("an onboarding is refused", () => {
  test("by a service of another network, before anything else", async () => {
    const service = createFakeService();
    service.script.network = "testnet";
    await expect(onboard(service.context, args)).rejects.toMatchObject({ reason: "NETWORK_MISMATCH" });
    expect(service.counts()).toEqual({ getNetwork: 1 });
  });

  test("at once when the network rejects the DKG", async () => {
    const service = createFakeService();
    service.script.dwalletState = () => ({ NetworkRejectedDKGVerification: true });
    await expect(onboard(service.context, args)).rejects.toMatchObject({
      reason: "NETWORK_REJECTED",
      metadata: { state: "NetworkRejectedDKGVerification", dwalletId: DWALLET_ID, stage: "dkg" },
    });
  });

  test("before the acceptance if the network's output is not the user's", async () => {
    const service = createFakeService();
    const other = { ...service.context.engine };
    const { prepareDkg } = other;
    other.prepareDkg = async (input) => ({
      ...(await prepareDkg(input)),
      userPublicOutput: Uint8Array.of(1),
    });
    await expect(onboard({ ...service.context, engine: other }, args)).rejects.toMatchObject({
      reason: "OUTPUT_MISMATCH",
    });
    expect(service.counts()["acceptDWallet"]).toBeUndefined();
  });

  test("before the acceptance if the output is not of this curve", async () => {
    const service = createFakeService();
    const { dwalletOutput } = vectorOf("Taproot");
    service.script.dwalletState = () => ({ AwaitingKeyHolderSignature: dwalletOutput });
    await expect(onboard(service.context, args)).rejects.toMatchObject({ reason: "CRYPTO_FAILED" });
    expect(service.counts()["acceptDWallet"]).toBeUndefined();
  });

  test("before the acceptance if the output has another share", async () => {
    const service = createFakeService();
    const engine = { ...service.context.engine };
    const { prepareDkg } = engine;
    engine.prepareDkg = (input) => {
      const bytes = flipBit(input.userSecretKeyShare.reveal().slice(), 24);
      return prepareDkg({ ...input, userSecretKeyShare: new SecretBytes(bytes) });
    };
    await expect(onboard({ ...service.context, engine }, args)).rejects.toMatchObject({
      reason: "SHARE_MISMATCH",
    });
    expect(service.counts()["acceptDWallet"]).toBeUndefined();
  });
});

test("after a time-out the id in the error resumes the same dWallet", async () => {
  const service = createFakeService();
  const { dwalletState } = service.script;
  service.script.dwalletState = () => ({ AwaitingNetworkDKGVerification: true });
  const { onProgress, restore } = hourAt("dkg");
  const error = await onboard(service.context, args, { onProgress }).catch((cause: unknown) => cause);
  restore();
  expect(error).toMatchObject({ reason: "TIMEOUT", metadata: { dwalletId: DWALLET_ID, stage: "dkg" } });

  service.script.dwalletState = dwalletState;
  const resumed = await resumeOnboard(service.context, { ...args, dwalletId: DWALLET_ID });
  expect(resumed).toEqual({
    dwallet: { id: DWALLET_ID, curve: "ED25519" },
    ...publicNames(service.script.made.publicKey),
    userSecretKeyShareHex: bytesToHex(service.script.made.userSecretKeyShare),
    userPublicOutputHex: bytesToHex(service.script.made.userPublicOutput),
    encryptedUserSecretKeyShareId: SHARE_ID,
    sessionDigestHex: bytesToHex(service.script.sessionDigest),
    txDigests: { onboard: "dkg digest", accept: "accept digest" },
  });
  expect(service.counts()["createDWallet"]).toBe(1);
});

test("a client remembers at most a thousand Active dWallets", async () => {
  const { context } = createFakeService();
  await onboard(context, args);
  const [active] = context.activeDWallets.values();
  context.activeDWallets.clear();
  for (let count = 0; count < 1000; count++) context.activeDWallets.set(`0x${count}`, active!);
  await onboard(context, args);
  expect(context.activeDWallets.size).toBe(1000);
  expect(context.activeDWallets.has(DWALLET_ID)).toBe(true);
});

test("a share is recovered from the seed and the chain", async () => {
  const service = createFakeService();
  service.script.dwalletState = () => ({ Active: DWALLET.output });
  const recovered = await recoverShare(service.context, { ...args, dwalletId: DWALLET_ID });
  expect(recovered).toEqual({
    userSecretKeyShareHex: bytesToHex(DWALLET.userSecretKeyShare),
    userPublicOutputHex: bytesToHex(DWALLET.userPublicOutput),
    encryptedUserSecretKeyShareId: SHARE_ID,
  });
});

/** A message's bytes fields as hex, so that they can be searched. */
function hexOfBytes(message: unknown): unknown {
  return Object.fromEntries(
    Object.entries(message as object).map(([key, value]) => [
      key,
      value instanceof Uint8Array ? bytesToHex(value) : String(value),
    ]),
  );
}
