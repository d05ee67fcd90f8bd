/** What an owner encrypts its share for, and what a recipient accepts, whatever the service and the chain show. */
import { verify } from "node:crypto";
import { Code } from "@connectrpc/connect";
import { bytesToHex } from "@noble/hashes/utils.js";
import { beforeEach, describe, expect, it } from "vitest";
import type { AcceptShareRequest, ShareDWalletRequest } from "../../../../gen/proto/tss/v1/sharing_pb.ts";
import { signEncryptionKey } from "../../../../src/client/crypto/user-keys.ts";
import {
  acceptShare,
  registerRecipient,
  shareWith,
} from "../../../../src/client/sdk/actions/sharing/share-with.ts";
import { shareConsentBytes } from "../../../../src/protocol/chain/share-consent.ts";
import {
  createFakeService,
  DWALLET,
  DWALLET_ID,
  type FakeService,
  HELD_SHARE_ID,
  PROJECT_ID,
  RECIPIENT_KEY_ID,
  SEED,
  SHARE_ID,
  SIGNERS,
  serviceError,
  TOO_MANY_SHARE_IDS,
} from "./fake-service.ts";

const curve = "ED25519";
const { own, other } = SIGNERS;
const recipient = { address: other.signerAddress, encryptionKeyId: RECIPIENT_KEY_ID };
const args = { seed: SEED, curve, dwalletId: DWALLET_ID } as const;
let service: FakeService;

beforeEach(() => {
  service = createFakeService();
  service.script.dwalletState = () => ({ Active: DWALLET.output });
  service.script.listedShares = () => [SHARE_ID, HELD_SHARE_ID];
});

const sent = <T>(method: string): T => service.seen.find((call) => call.method === method)?.request as T;

/** Verifies an Ed25519 signature with Node's own code. */
function isSignedBy(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  const key = Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), publicKey]);
  return verify(null, message, { key, format: "der", type: "spki" }, signature);
}

describe("an owner", () => {
  beforeEach(() => {
    service.script.heldShare = () => ({ encryption_key_address: other.signerAddress });
  });

  it("signs a consent for exactly what is sent, and gets the share that the network has verified", async () => {
    const shared = await shareWith(service.context, { ...args, recipient, userReference: "bob" });
    expect(shared).toEqual({
      dwalletId: DWALLET_ID,
      holderAddress: other.signerAddress,
      encryptedUserSecretKeyShareId: HELD_SHARE_ID,
      publicKeyHex: bytesToHex(DWALLET.publicKey),
    });
    const request = sent<ShareDWalletRequest>("shareDWallet");
    expect(request).toMatchObject({ projectId: PROJECT_ID, userReference: "bob", expiresEpoch: 1n });
    const message = shareConsentBytes({ ...request, userReference: request.userReference });
    expect(isSignedBy(own.signerPublicKey, message, request.signature)).toBe(true);
  });

  it.each<[string, () => ReturnType<FakeService["script"]["recipientKey"]>]>([
    ["that the chain does not have", () => undefined],
    ["of another address", () => ({ signer_address: own.signerAddress })],
    ["with another signer's public key", () => ({ signer_public_key: own.signerPublicKey })],
    ["that its address has not signed", () => ({ encryption_key: own.encryptionKey })],
    ["that somebody else has signed", () => ({ encryption_key_signature: signEncryptionKey(own) })],
    ["on another curve", () => ({ curve: 0 })],
  ])("nothing is encrypted for a key %s", async (_what, key) => {
    service.script.recipientKey = key;
    await expect(shareWith(service.context, { ...args, recipient })).rejects.toMatchObject({
      reason: "RECIPIENT_MISMATCH",
    });
    expect(service.engineCalls).toEqual([]);
    expect(sent("shareDWallet")).toBeUndefined();
  });

  it("nothing is sent of a dWallet that does not follow from the seed", async () => {
    service.script.sessionDigest = new Uint8Array(32).fill(9);
    await expect(shareWith(service.context, { ...args, recipient })).rejects.toMatchObject({
      reason: "SHARE_UNVERIFIED",
    });
    expect(sent("shareDWallet")).toBeUndefined();
  });

  it("an answer about another share, or a share for somebody else, is refused", async () => {
    service.script.heldShare = () => ({ encryption_key_address: own.signerAddress });
    const foreign = shareWith(service.context, { ...args, recipient });
    await expect(foreign).rejects.toMatchObject({ reason: "SHARE_MISMATCH" });
    service.script.lie = (method, reply) => {
      if (method === "shareDWallet") Object.assign(reply, { holderAddress: own.signerAddress });
    };
    const answered = shareWith(service.context, { ...args, recipient });
    await expect(answered).rejects.toMatchObject({ reason: "OUTPUT_MISMATCH" });
  });

  it("a share that the network rejects ends at once", async () => {
    service.script.heldShare = () => ({
      encryption_key_address: other.signerAddress,
      state: { NetworkVerificationRejected: true },
    });
    const rejected = shareWith(service.context, { ...args, recipient });
    await expect(rejected).rejects.toMatchObject({ reason: "NETWORK_REJECTED" });
  });

  it.each([
    ["recipient.address", { recipient: { ...recipient, address: "bob" } }],
    ["recipient.encryptionKeyId", { recipient: { ...recipient, encryptionKeyId: "" } }],
    ["dwalletId", { dwalletId: "0x1" }],
    ["userReference", { userReference: "" }],
    ["projectId", { projectId: "mine" }],
  ])("a malformed %s is named", async (field, wrong) => {
    await expect(shareWith(service.context, { ...args, recipient, ...wrong })).rejects.toMatchObject({
      reason: "VALIDATION",
      metadata: { field },
    });
    expect(service.seen).toEqual([]);
  });
});

describe("a recipient", () => {
  it("registers a key whose address is the seed's", async () => {
    const registered = await registerRecipient(service.context, { seed: SEED, curve, userReference: "bob" });
    expect(registered.address).toBe(own.signerAddress);
    expect(sent("registerEncryptionKey")).toMatchObject({ userReference: "bob" });
    service.script.registeredSigner = other.signerAddress;
    await expect(registerRecipient(service.context, { seed: SEED, curve })).rejects.toMatchObject({
      reason: "OUTPUT_MISMATCH",
    });
  });

  it("signs the dWallet's output on the chain, and gets the share", async () => {
    const accepted = await acceptShare(service.context, args);
    expect(accepted).toMatchObject({
      dwallet: { id: DWALLET_ID, curve },
      publicKeyHex: bytesToHex(DWALLET.publicKey),
      userSecretKeyShareHex: bytesToHex(DWALLET.userSecretKeyShare),
      encryptedUserSecretKeyShareId: HELD_SHARE_ID,
    });
    const { userOutputSignature } = sent<AcceptShareRequest>("acceptShare");
    expect(isSignedBy(own.signerPublicKey, DWALLET.output, userOutputSignature)).toBe(true);
  });

  it.each<[string, () => void, string]>([
    [
      "does not fit the dWallet",
      () => {
        service.script.decryptedShare = Uint8Array.of(0, 32, 7, ...new Uint8Array(31));
      },
      "SHARE_MISMATCH",
    ],
    [
      "is another dWallet's",
      () => {
        service.script.heldShare = () => ({ dwallet_id: `0x${"9".repeat(64)}` });
      },
      "SHARE_UNVERIFIED",
    ],
    [
      "is another user's",
      () => {
        service.script.heldShare = () => ({ encryption_key_address: other.signerAddress });
      },
      "SHARE_UNVERIFIED",
    ],
    [
      "is not on the chain",
      () => {
        service.script.heldShare = () => undefined;
      },
      "SHARE_UNVERIFIED",
    ],
    [
      "is the DKG's own",
      () => {
        service.script.heldShare = () => ({ source_encrypted_user_secret_key_share_id: null });
      },
      "SHARE_UNVERIFIED",
    ],
    [
      "was rejected by the network",
      () => {
        service.script.heldShare = () => ({ state: { NetworkVerificationRejected: true } });
      },
      "NETWORK_REJECTED",
    ],
  ])("a share is not accepted if it %s", async (_what, change, reason) => {
    change();
    await expect(acceptShare(service.context, args)).rejects.toMatchObject({ reason });
    expect(sent("acceptShare")).toBeUndefined();
  });

  it("refuses another public key than the one that its caller got from the owner", async () => {
    const named = (publicKeyHex: string) => acceptShare(service.context, { ...args, publicKeyHex });
    await expect(named("ab".repeat(32))).rejects.toMatchObject({ reason: "OUTPUT_MISMATCH" });
    expect(sent("acceptShare")).toBeUndefined();
    await expect(named(bytesToHex(DWALLET.publicKey))).resolves.toBeDefined();
  });

  it("accepts the offered share although a fullnode lists any number of others", async () => {
    service.script.listedShares = () => TOO_MANY_SHARE_IDS;
    await expect(acceptShare(service.context, args)).resolves.toMatchObject({
      encryptedUserSecretKeyShareId: HELD_SHARE_ID,
    });
  });

  it("believes no service that has not recorded the acceptance", async () => {
    service.script.lie = (method, reply) => {
      if (method === "acceptShare") Object.assign(reply, { state: 4 });
    };
    await expect(acceptShare(service.context, args)).rejects.toMatchObject({ reason: "OUTPUT_MISMATCH" });
  });

  it("gets the service's refusal", async () => {
    service.script.before = (method) => {
      if (method === "listHolders") throw serviceError(Code.NotFound, "DWALLET_NOT_FOUND");
    };
    await expect(acceptShare(service.context, args)).rejects.toMatchObject({ reason: "DWALLET_NOT_FOUND" });
  });
});
