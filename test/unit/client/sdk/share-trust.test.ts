/** Which share a client accepts: only the one that its own seed implies, whatever the service or the chain returns. */
import { bytesToHex } from "@noble/hashes/utils.js";
import { beforeEach, describe, expect, test } from "vitest";
import type { SecretBytes } from "../../../../src/client/crypto/secret-bytes.ts";
import { signDWalletOutput } from "../../../../src/client/crypto/user-keys.ts";
import { onboard, resumeOnboard } from "../../../../src/client/sdk/actions/onboard.ts";
import { readKey } from "../../../../src/client/sdk/actions/read-key.ts";
import { recoverShare } from "../../../../src/client/sdk/actions/recovery/recover-share.ts";
import { sign } from "../../../../src/client/sdk/actions/signing/sign.ts";
import { makeDWallet } from "../../../support/crypto/made-dwallet.ts";
import {
  createFakeService,
  DWALLET,
  DWALLET_ID,
  type FakeService,
  MESSAGE,
  SEED,
  SESSION_DIGEST,
  SHARE_ID,
  SIGNERS,
  shareOf,
} from "./fake-service.ts";

const dwallet = { seed: SEED, curve: "ED25519", dwalletId: DWALLET_ID } as const;
const signature = {
  ...dwallet,
  signatureAlgorithm: "EdDSA",
  hashScheme: "SHA512",
  message: MESSAGE,
} as const;
const OTHER_DIGEST = new Uint8Array(32).fill(9);
/** A dWallet that an attacker makes for the user: its share is the attacker's, encrypted to the user's key. */
const CHOSEN = makeDWallet(shareOf(new Uint8Array(32).fill(66), SESSION_DIGEST));

let service: FakeService;
beforeEach(() => {
  service = createFakeService();
});

function putOnChain(made: typeof CHOSEN, state: "AwaitingKeyHolderSignature" | "Active"): void {
  service.script.made = made;
  service.script.decryptedShare = made.userSecretKeyShare;
  if (state === "Active") service.script.dwalletState = () => ({ Active: made.output });
}

describe("a dWallet with a share that another party chose", () => {
  test.each([
    ["the session that it names", SESSION_DIGEST, undefined],
    ["another session on the chain", SESSION_DIGEST, OTHER_DIGEST],
    ["no session at all", new Uint8Array(), undefined],
  ])("is not resumed, with %s", async (_what, ofService, onChain) => {
    putOnChain(CHOSEN, "AwaitingKeyHolderSignature");
    service.script.sessionDigest = ofService;
    service.script.chainSession = onChain;
    await expect(resumeOnboard(service.context, dwallet)).rejects.toMatchObject({
      reason: "SHARE_UNVERIFIED",
    });
    expect(service.counts()["acceptDWallet"]).toBeUndefined();
    expect(service.engineCalls).not.toContain("decryptShare");
  });

  test("is neither recovered nor used to sign, even if the seed's signer once signed for it", async () => {
    putOnChain(CHOSEN, "Active");
    await expect(recoverShare(service.context, dwallet)).rejects.toMatchObject({
      reason: "SHARE_UNVERIFIED",
    });
    await expect(sign(service.context, signature)).rejects.toMatchObject({ reason: "SHARE_UNVERIFIED" });
    expect(service.counts()["reserveSign"]).toBeUndefined();
  });

  test("is refused by onboard, and then by resumeOnboard with the same id", async () => {
    const { dwalletState } = service.script;
    service.script.dwalletState = () => {
      putOnChain(CHOSEN, "AwaitingKeyHolderSignature");
      return dwalletState();
    };
    const error = await onboard(service.context, { seed: SEED, curve: "ED25519" }).catch((e: unknown) => e);
    expect(error).toMatchObject({ reason: "OUTPUT_MISMATCH", metadata: { dwalletId: DWALLET_ID } });
    const { sessionDigestHex } = (error as { metadata: { sessionDigestHex: string } }).metadata;
    for (const known of [{}, { sessionDigestHex }]) {
      const resumed = resumeOnboard(service.context, { ...dwallet, ...known });
      await expect(resumed).rejects.toMatchObject({ reason: "SHARE_UNVERIFIED" });
    }
    expect(service.counts()["acceptDWallet"]).toBeUndefined();
  });
});

describe("a dWallet with the user's share and a false network share", () => {
  const ROGUE = makeDWallet(DWALLET.userSecretKeyShare, 4n);

  test("is neither resumed, recovered nor used to sign, even with a given share", async () => {
    putOnChain(ROGUE, "AwaitingKeyHolderSignature");
    await expect(resumeOnboard(service.context, dwallet)).rejects.toMatchObject({
      reason: "SHARE_UNVERIFIED",
    });
    putOnChain(ROGUE, "Active");
    await expect(recoverShare(service.context, dwallet)).rejects.toMatchObject({
      reason: "SHARE_UNVERIFIED",
    });
    const userSecretKeyShareHex = bytesToHex(DWALLET.userSecretKeyShare);
    await expect(sign(service.context, { ...signature, userSecretKeyShareHex })).rejects.toMatchObject({
      reason: "SHARE_MISMATCH",
    });
    for (const method of ["acceptDWallet", "reserveSign"]) expect(service.counts()[method]).toBeUndefined();
  });
});

describe("the digest of the session", () => {
  beforeEach(() => putOnChain(DWALLET, "Active"));

  test("comes from the service to sign, and is read nowhere else if it is right", async () => {
    await sign(service.context, signature);
    expect(service.counts()["chainSessions"]).toBeUndefined();
  });

  test("comes from the chain to recover, and is read nowhere else if it is right", async () => {
    service.script.chainSession = SESSION_DIGEST;
    await recoverShare(service.context, dwallet);
    await readKey(service.context, dwallet);
    expect(service.counts()["getDWallet"]).toBeUndefined();
  });

  test.each([
    ["wrong", OTHER_DIGEST],
    ["missing", undefined],
  ])("comes from the service to recover if the chain's is %s", async (_what, digest) => {
    service.script.chainSession = digest;
    const { userSecretKeyShareHex } = await recoverShare(service.context, dwallet);
    expect(userSecretKeyShareHex).toBe(bytesToHex(DWALLET.userSecretKeyShare));
  });

  test.each([
    ["wrong", OTHER_DIGEST],
    ["missing", new Uint8Array()],
    ["malformed", new Uint8Array(31)],
  ])("is read from the chain if the service's is %s", async (_what, digest) => {
    service.script.sessionDigest = digest;
    service.script.chainSession = SESSION_DIGEST;
    const { userSecretKeyShareHex } = await recoverShare(service.context, dwallet);
    expect(userSecretKeyShareHex).toBe(bytesToHex(DWALLET.userSecretKeyShare));
    await expect(sign(service.context, signature)).resolves.toBeDefined();
  });

  test("is the caller's if it is given, and then is not read", async () => {
    service.script.sessionDigest = OTHER_DIGEST;
    const args = { ...dwallet, encryptedUserSecretKeyShareId: SHARE_ID };
    const sessionDigestHex = bytesToHex(SESSION_DIGEST);
    await recoverShare(service.context, { ...args, sessionDigestHex });
    expect(service.counts()["getDWallet"]).toBeUndefined();
    await sign(service.context, { ...signature, sessionDigestHex });
    expect(service.counts()["getDWallet"]).toBeUndefined();
    service.script.sessionDigest = SESSION_DIGEST;
    const wrong = recoverShare(service.context, { ...args, sessionDigestHex: bytesToHex(OTHER_DIGEST) });
    await expect(wrong).rejects.toMatchObject({ reason: "SHARE_UNVERIFIED" });
  });

  test("that is unknown is requested from the caller by name", async () => {
    service.script.sessionDigest = new Uint8Array();
    await expect(recoverShare(service.context, dwallet)).rejects.toMatchObject({
      reason: "SHARE_UNVERIFIED",
      message: expect.stringContaining("sessionDigestHex"),
    });
  });

  test("is returned by a resumed onboarding, and is in the error of one that ended early", async () => {
    service.script.dwalletState = () => ({ AwaitingKeyHolderSignature: DWALLET.output });
    const failing = onboard(service.context, { seed: SEED, curve: "ED25519" });
    await expect(failing).rejects.toMatchObject({ metadata: { sessionDigestHex: expect.any(String) } });
    putOnChain(DWALLET, "Active");
    service.script.sessionDigest = SESSION_DIGEST;
    const resumed = await resumeOnboard(service.context, dwallet);
    expect(resumed.sessionDigestHex).toBe(bytesToHex(SESSION_DIGEST));
  });
});

describe("a share that the caller accepts unverified", () => {
  const accepting = { ...dwallet, acceptUnverifiedShare: true } as const;
  beforeEach(() => putOnChain(CHOSEN, "Active"));

  test("is decrypted, and signs", async () => {
    const { userSecretKeyShareHex } = await recoverShare(service.context, accepting);
    expect(userSecretKeyShareHex).toBe(bytesToHex(CHOSEN.userSecretKeyShare));
    const signed = await sign(service.context, { ...signature, acceptUnverifiedShare: true });
    expect(signed.signature).toEqual(CHOSEN.sign(MESSAGE));
  });

  test.each([
    ["nobody's signature", () => ({ NetworkVerificationCompleted: true as const }), "OUTPUT_MISMATCH"],
    [
      "another signer's signature",
      () => ({ KeyHolderSigned: signDWalletOutput(SIGNERS.other, CHOSEN.output) }),
      "OUTPUT_MISMATCH",
    ],
    [
      "the signer's signature over another output",
      () => ({ KeyHolderSigned: signDWalletOutput(SIGNERS.own, DWALLET.output) }),
      "OUTPUT_MISMATCH",
    ],
  ])("is refused with %s", async (_what, shareState, reason) => {
    service.script.shareState = shareState;
    await expect(recoverShare(service.context, accepting)).rejects.toMatchObject({ reason });
    expect(service.engineCalls).not.toContain("decryptShare");
  });

  test("is refused if it is encrypted to another seed's key", async () => {
    service.script.encryptionKeyAddress = SIGNERS.other.signerAddress;
    await expect(recoverShare(service.context, accepting)).rejects.toMatchObject({
      reason: "SHARE_MISMATCH",
    });
    expect(service.engineCalls).not.toContain("decryptShare");
  });

  test("is refused if it belongs to another dWallet", async () => {
    service.script.shareDWalletId = `0x${"9".repeat(64)}`;
    await expect(recoverShare(service.context, accepting)).rejects.toMatchObject({
      reason: "SHARE_MISMATCH",
    });
    expect(service.engineCalls).not.toContain("decryptShare");
  });

  test("is refused and destroyed if the decrypted share does not match the output", async () => {
    service.script.decryptedShare = DWALLET.userSecretKeyShare;
    const { engine } = service.context;
    const decrypted: SecretBytes[] = [];
    const decryptShare: typeof engine.decryptShare = async (input) => {
      const share = await engine.decryptShare(input);
      decrypted.push(share);
      return share;
    };
    const context = { ...service.context, engine: { ...engine, decryptShare } };
    await expect(recoverShare(context, accepting)).rejects.toMatchObject({ reason: "SHARE_MISMATCH" });
    expect(decrypted).toHaveLength(1);
    expect(() => decrypted[0]!.reveal()).toThrow("the secret was destroyed");
  });
});

test("a fullnode that answers with a dWallet other than the requested one is refused", async () => {
  service.script.dwalletObjectId = `0x${"9".repeat(64)}`;
  const refused = { reason: "OUTPUT_MISMATCH" };
  await expect(resumeOnboard(service.context, dwallet)).rejects.toMatchObject(refused);
  putOnChain(DWALLET, "Active");
  await expect(recoverShare(service.context, dwallet)).rejects.toMatchObject(refused);
  await expect(sign(service.context, signature)).rejects.toMatchObject(refused);
});

test("a key that the service registered for another signer ends the onboarding before a DKG is requested", async () => {
  service.script.registeredSigner = SIGNERS.other.signerAddress;
  await expect(onboard(service.context, { seed: SEED, curve: "ED25519" })).rejects.toMatchObject({
    reason: "OUTPUT_MISMATCH",
  });
  expect(service.counts()["createDWallet"]).toBeUndefined();
});
