/** What the seed and the chain yield while the service is off, and what a lying fullnode can do about it. */
import { Code } from "@connectrpc/connect";
import { bytesToHex } from "@noble/hashes/utils.js";
import { beforeEach, describe, expect, test } from "vitest";
import { readKey } from "../../../../src/client/sdk/actions/read-key.ts";
import { findDWallets } from "../../../../src/client/sdk/actions/recovery/find-dwallets.ts";
import { recoverShare } from "../../../../src/client/sdk/actions/recovery/recover-share.ts";
import { makeDWallet } from "../../../support/crypto/made-dwallet.ts";
import {
  createFakeService,
  DWALLET,
  DWALLET_ID,
  type FakeService,
  SEED,
  SESSION_DIGEST,
  SHARE_ID,
  SIGNERS,
  serviceError,
  shareOf,
  TOO_MANY_SHARE_IDS,
} from "./fake-service.ts";

const dwallet = { seed: SEED, curve: "ED25519", dwalletId: DWALLET_ID } as const;
const accepting = { ...dwallet, acceptUnverifiedShare: true } as const;
const SHARE_HEX = bytesToHex(DWALLET.userSecretKeyShare);
const [OTHER_ID, THIRD_ID] = ["8", "9"].map((digit) => `0x${digit.repeat(64)}`) as [string, string];
const FOUND = {
  dwalletId: DWALLET_ID,
  curve: "ED25519",
  state: "Active",
  encryptedUserSecretKeyShareId: SHARE_ID,
} as const;

let service: FakeService;
beforeEach(() => {
  service = createFakeService();
  service.script.dwalletState = () => ({ Active: service.script.made.output });
  service.script.chainSession = SESSION_DIGEST;
  turnOff();
});

/** Every call of the service fails as a refused connection does. */
function turnOff(): void {
  service.script.before = (method) => {
    if (CHAIN_READS.has(method)) return;
    throw serviceOff();
  };
}
const CHAIN_READS = new Set(["chainSessions", "tableEntries"]);
const serviceOff = () => new (class extends TypeError {})("fetch failed");

describe("while the service is off", () => {
  test("a share is recovered and a key is proved, and the service is not even asked", async () => {
    await expect(recoverShare(service.context, dwallet)).resolves.toMatchObject({
      userSecretKeyShareHex: SHARE_HEX,
      encryptedUserSecretKeyShareId: SHARE_ID,
    });
    await expect(readKey(service.context, dwallet)).resolves.toMatchObject({
      dwallet: { id: DWALLET_ID, curve: "ED25519" },
    });
    expect(Object.keys(service.counts()).filter((method) => !CHAIN_READS.has(method))).toEqual([]);
  });

  test("a share that is accepted unverified is decrypted from the chain", async () => {
    service.script.chainSession = undefined;
    const { userSecretKeyShareHex } = await recoverShare(service.context, accepting);
    expect(userSecretKeyShareHex).toBe(SHARE_HEX);
  });

  test("a session that the fullnode has pruned is requested from the caller by name", async () => {
    service.script.chainSession = undefined;
    await expect(recoverShare(service.context, dwallet)).rejects.toMatchObject({
      reason: "SHARE_UNVERIFIED",
      message: expect.stringContaining("sessionDigestHex"),
    });
    const sessionDigestHex = bytesToHex(SESSION_DIGEST);
    await expect(recoverShare(service.context, { ...dwallet, sessionDigestHex })).resolves.toMatchObject({
      userSecretKeyShareHex: SHARE_HEX,
    });
  });

  test("a dWallet that the chain lacks is not found", async () => {
    service.script.dwalletState = () => undefined;
    const refused = { reason: "DWALLET_NOT_FOUND" };
    await expect(recoverShare(service.context, dwallet)).rejects.toMatchObject(refused);
    await expect(readKey(service.context, dwallet)).rejects.toMatchObject(refused);
  });
});

test("what the service itself refuses is the error of a recovery that the chain cannot answer", async () => {
  service.script.before = (method) => {
    if (method === "getDWallet") throw serviceError(Code.Unauthenticated, "INVALID_KEY");
  };
  await expect(recoverShare(service.context, dwallet)).resolves.toBeDefined();
  service.script.chainSession = undefined;
  await expect(recoverShare(service.context, dwallet)).rejects.toMatchObject({ reason: "INVALID_KEY" });
});

describe("a lying fullnode gets a refusal and no share", () => {
  test.each<[string, (script: FakeService["script"]) => void, string]>([
    ["another dWallet", (script) => (script.dwalletObjectId = OTHER_ID), "OUTPUT_MISMATCH"],
    ["no share", (script) => (script.listedShares = () => []), "SHARE_UNVERIFIED"],
    ["a share that does not exist", (script) => (script.listedShares = () => [OTHER_ID]), "SHARE_UNVERIFIED"],
    [
      "a share of another owner",
      (script) => (script.encryptionKeyAddress = SIGNERS.other.signerAddress),
      "SHARE_UNVERIFIED",
    ],
    ["a share of another dWallet", (script) => (script.shareDWalletId = OTHER_ID), "SHARE_UNVERIFIED"],
    [
      "a public output of its own",
      (script) => (script.made = makeDWallet(shareOf(new Uint8Array(32).fill(66), SESSION_DIGEST))),
      "SHARE_UNVERIFIED",
    ],
    ["another session", (script) => (script.chainSession = new Uint8Array(32).fill(9)), "SHARE_UNVERIFIED"],
  ])("if it shows %s", async (_what, lie, reason) => {
    lie(service.script);
    await expect(recoverShare(service.context, dwallet)).rejects.toMatchObject({ reason });
  });

  test.each<[string, (script: FakeService["script"]) => void, string]>([
    ["another encrypted share", (script) => (script.decryptedShare = OTHER_SHARE), "SHARE_MISMATCH"],
    [
      "a share that the user never accepted",
      (script) => (script.shareState = () => ({ NetworkVerificationCompleted: true })),
      "OUTPUT_MISMATCH",
    ],
  ])("also for an unverified share, if it shows %s", async (_what, lie, reason) => {
    lie(service.script);
    await expect(recoverShare(service.context, accepting)).rejects.toMatchObject({ reason });
  });
});
const OTHER_SHARE = shareOf(new Uint8Array(32).fill(66), SESSION_DIGEST);

describe("the dWallets of a seed", () => {
  const find = async (curve?: "ED25519" | "SECP256K1") =>
    await findDWallets(service.context, { seed: SEED, curve });

  test("are found in the Treasury, once each, without the service", async () => {
    const own = { dwalletId: DWALLET_ID, owner: SIGNERS.own.signerAddress };
    const foreign = { dwalletId: THIRD_ID, owner: SIGNERS.other.signerAddress };
    service.script.listedDWallets = () => [own, foreign, own];
    await expect(find("ED25519")).resolves.toEqual({ dwallets: [FOUND], isComplete: true });
    expect(Object.keys(service.counts())).toEqual(["tableEntries"]);
  });

  test("have the state of the chain", async () => {
    service.script.dwalletState = () => ({ AwaitingKeyHolderSignature: DWALLET.output });
    const { dwallets } = await find("ED25519");
    expect(dwallets).toEqual([{ ...FOUND, state: "AwaitingKeyHolderSignature" }]);
  });

  test.each<[string, (script: FakeService["script"]) => void]>([
    [
      "whose share belongs to another owner",
      (script) => (script.encryptionKeyAddress = SIGNERS.other.signerAddress),
    ],
    ["whose share belongs to another dWallet", (script) => (script.shareDWalletId = OTHER_ID)],
    ["that does not exist", (script) => (script.dwalletState = () => undefined)],
    [
      "that another owner holds",
      (script) =>
        (script.listedDWallets = () => [{ dwalletId: DWALLET_ID, owner: SIGNERS.other.signerAddress }]),
    ],
  ])("do not include one %s", async (_what, lie) => {
    lie(service.script);
    await expect(find("ED25519")).resolves.toEqual({ dwallets: [], isComplete: true });
  });

  test("are refused if the fullnode shows another dWallet for one", async () => {
    service.script.dwalletObjectId = OTHER_ID;
    await expect(find("ED25519")).rejects.toMatchObject({ reason: "OUTPUT_MISMATCH" });
  });

  test("are those of the requested curve, and by default of every curve", async () => {
    expect((await find("SECP256K1")).dwallets).toEqual([]);
    expect((await find()).dwallets).toEqual([FOUND]);
  });

  test("end at a limit, which the result tells", async () => {
    const owner = SIGNERS.own.signerAddress;
    const idOf = (index: number) => `0x${index.toString(16).padStart(64, "0")}`;
    const listed = Array.from({ length: 999 }, (_, index) => ({ dwalletId: idOf(index), owner }));
    service.script.listedDWallets = () => listed;
    await expect(find("ED25519")).resolves.toMatchObject({ isComplete: true });
    service.script.listedDWallets = () => [...listed, { dwalletId: DWALLET_ID, owner }];
    await expect(find("ED25519")).resolves.toEqual({ dwallets: [FOUND], isComplete: false });
  });

  test("are found behind a thousand shares of others, and one with too many shares only shows as incomplete", async () => {
    service.script.listedShares = () => [...TOO_MANY_SHARE_IDS.slice(0, 1_000), SHARE_ID];
    await expect(find("ED25519")).resolves.toEqual({ dwallets: [FOUND], isComplete: true });
    service.script.listedShares = () => TOO_MANY_SHARE_IDS;
    await expect(find("ED25519")).resolves.toEqual({ dwallets: [], isComplete: false });
  });

  test("need an existing Treasury, 32 bytes and a known curve", async () => {
    const unknown = { ...service.context, treasuryId: async () => OTHER_ID };
    await expect(findDWallets(unknown, { seed: SEED })).rejects.toMatchObject({
      reason: "TREASURY_MISMATCH",
      metadata: { treasuryId: OTHER_ID },
    });
    await expect(findDWallets(service.context, { seed: new Uint8Array(31) })).rejects.toMatchObject({
      reason: "VALIDATION",
    });
    const curve = "P256" as "ED25519";
    await expect(findDWallets(service.context, { seed: SEED, curve })).rejects.toMatchObject({
      reason: "UNSUPPORTED_ALGORITHM",
    });
  });
});
