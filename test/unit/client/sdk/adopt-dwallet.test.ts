/** What the owner of a dWallet signs for a service that does not know it, and what a liar can do about it. */
import { Code } from "@connectrpc/connect";
import { fromBase58 } from "@mysten/sui/utils";
import { ed25519 } from "@noble/curves/ed25519.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { beforeEach, describe, expect, test } from "vitest";
import type { AdoptDWalletRequest } from "../../../../gen/proto/tss/v1/onboarding_pb.ts";
import { adoptDWallet } from "../../../../src/client/sdk/actions/recovery/adopt-dwallet.ts";
import { adoptionConsentBytes } from "../../../../src/protocol/chain/adoption-consent.ts";
import {
  createFakeService,
  DWALLET,
  DWALLET_ID,
  type FakeService,
  PROJECT_ID,
  SEED,
  SESSION_DIGEST,
  SHARE_ID,
  SIGNERS,
  serviceError,
  TOO_MANY_SHARE_IDS,
  TREASURY_ID,
} from "./fake-service.ts";

const args = { seed: SEED, curve: "ED25519", dwalletId: DWALLET_ID } as const;
const OTHER_ID = `0x${"8".repeat(64)}`;

let service: FakeService;
beforeEach(() => {
  service = createFakeService();
  service.script.dwalletState = () => ({ Active: service.script.made.output });
  service.script.chainSession = SESSION_DIGEST;
});

const sent = () =>
  service.seen.find(({ method }) => method === "adoptDWallet")?.request as AdoptDWalletRequest | undefined;

test("the owner signs for exactly this chain, Treasury, dWallet, share, session, project, user and epoch", async () => {
  const adopted = await adoptDWallet(service.context, { ...args, name: "savings", userReference: "alice" });
  expect(adopted).toMatchObject({
    dwallet: { id: DWALLET_ID, curve: "ED25519" },
    publicKeyHex: bytesToHex(DWALLET.publicKey),
    encryptedUserSecretKeyShareId: SHARE_ID,
    sessionDigestHex: bytesToHex(SESSION_DIGEST),
  });
  const request = sent()!;
  expect(request).toMatchObject({ name: "savings", userReference: "alice" });
  const message = adoptionConsentBytes({
    chain: fromBase58("4btiuiMPvEENsttpZC7CZ53DruC3MAgfznDbASZ7DR6S"),
    treasuryId: TREASURY_ID,
    dwalletId: DWALLET_ID,
    encryptedUserSecretKeyShareId: SHARE_ID,
    sessionDigest: SESSION_DIGEST,
    projectId: PROJECT_ID,
    userReference: "alice",
    expiresEpoch: 1n,
  });
  expect(ed25519.verify(request.signature, message, SIGNERS.own.signerPublicKey)).toBe(true);
});

test("a project that the caller names is not asked for", async () => {
  const projectId = "01890a5d-ac96-774b-bcce-000000000001";
  await adoptDWallet(service.context, { ...args, projectId });
  expect(sent()).toMatchObject({ projectId });
  expect(service.counts()["getAccount"]).toBeUndefined();
});

test("a share behind a thousand others is found, and one behind too many is adopted by its id", async () => {
  service.script.listedShares = () => [...TOO_MANY_SHARE_IDS.slice(0, 1_000), SHARE_ID];
  await adoptDWallet(service.context, args);
  service.script.listedShares = () => TOO_MANY_SHARE_IDS;
  await expect(adoptDWallet(service.context, args)).rejects.toMatchObject({
    reason: "TOO_MANY_SHARES",
    metadata: { dwalletId: DWALLET_ID },
  });
  const named = { ...args, encryptedUserSecretKeyShareId: SHARE_ID };
  await expect(adoptDWallet(service.context, named)).resolves.toMatchObject({
    encryptedUserSecretKeyShareId: SHARE_ID,
  });
});

describe("an owner", () => {
  test.each<[string, (script: FakeService["script"]) => void, string]>([
    [
      "if the share is not the seed's",
      (script) => (script.chainSession = new Uint8Array(32)),
      "SHARE_UNVERIFIED",
    ],
    [
      "if the chain has no share of the owner",
      (script) => (script.listedShares = () => []),
      "SHARE_UNVERIFIED",
    ],
    [
      "if the owner has not accepted the share",
      (script) => (script.shareState = () => ({ NetworkVerificationCompleted: true })),
      "SHARE_UNVERIFIED",
    ],
    ["if the Treasury does not hold it", (script) => (script.custodyOwner = undefined), "CUSTODY_MISMATCH"],
    ["if somebody else owns it", (script) => (script.custodyOwner = OTHER_ID), "CUSTODY_MISMATCH"],
    [
      "if another object has the capability",
      (script) => (script.capHolder = () => OTHER_ID),
      "CUSTODY_MISMATCH",
    ],
    [
      "if the chain has no such dWallet",
      (script) => (script.dwalletState = () => undefined),
      "DWALLET_NOT_FOUND",
    ],
  ])("gives no consent %s", async (_what, change, reason) => {
    change(service.script);
    // The service answers the question for the session, which is a hint.
    service.script.sessionDigest = new Uint8Array(32);
    await expect(adoptDWallet(service.context, args)).rejects.toMatchObject({ reason });
    expect(sent()).toBeUndefined();
    expect(service.engineCalls).not.toContain("signAsUser");
  });
});

test("a refusal of the service is the action's error, and an answer with another dWallet is one", async () => {
  service.script.before = (method) => {
    if (method === "adoptDWallet") throw serviceError(Code.AlreadyExists, "DWALLET_TAKEN");
  };
  await expect(adoptDWallet(service.context, args)).rejects.toMatchObject({ reason: "DWALLET_TAKEN" });
  service.script.before = () => {};
  service.script.lie = (method, reply) => {
    if (method === "adoptDWallet") Object.assign(reply, { dwalletId: OTHER_ID });
  };
  await expect(adoptDWallet(service.context, args)).rejects.toMatchObject({ reason: "OUTPUT_MISMATCH" });
});

test("malformed arguments are refused by name", async () => {
  for (const [field, wrong] of Object.entries({
    seed: new Uint8Array(31),
    dwalletId: "1",
    name: " x",
    userReference: "",
    projectId: "p",
    sessionDigestHex: "00",
    encryptedUserSecretKeyShareId: "1",
  }))
    await expect(adoptDWallet(service.context, { ...args, [field]: wrong })).rejects.toMatchObject({
      reason: "VALIDATION",
      metadata: { field },
    });
});
