/** A user who imports a key, on a service that may lie. OpenSSL computes the public key of the private key. */
import { Code, ConnectError } from "@connectrpc/connect";
import { bytesToHex } from "@noble/hashes/utils.js";
import { beforeEach, describe, expect, test } from "vitest";
import { type CreateDWalletRequest, DWalletKind } from "../../../../gen/proto/tss/v1/onboarding_pb.ts";
import { signDWalletOutput } from "../../../../src/client/crypto/user-keys.ts";
import { importKey } from "../../../../src/client/sdk/actions/imports/import-key.ts";
import { onboard, resumeOnboard } from "../../../../src/client/sdk/actions/onboard.ts";
import { readKey } from "../../../../src/client/sdk/actions/read-key.ts";
import { adoptDWallet } from "../../../../src/client/sdk/actions/recovery/adopt-dwallet.ts";
import { recoverShare } from "../../../../src/client/sdk/actions/recovery/recover-share.ts";
import { resume } from "../../../../src/client/sdk/actions/resume.ts";
import { encodeResumeToken, readResumeToken } from "../../../../src/client/sdk/actions/resume-token.ts";
import { acceptShare, shareWith } from "../../../../src/client/sdk/actions/sharing/share-with.ts";
import { sign } from "../../../../src/client/sdk/actions/signing/sign.ts";
import { IMPORTED_KEY_CAP } from "../../../../src/client/sdk/chain/object-kinds.ts";
import { createCustodyActions } from "../../../../src/client/sdk/custody/custody-actions.ts";
import { TssError } from "../../../../src/client/sdk/errors.ts";
import { makeImportedDWallet } from "../../../support/crypto/made-dwallet.ts";
import { ed25519PublicKey } from "../../../support/crypto/private-keys.ts";
import {
  createFakeService,
  DWALLET_ID,
  type FakeService,
  HELD_SHARE_ID,
  MESSAGE,
  RECIPIENT_KEY_ID,
  SEED,
  SESSION_DIGEST,
  SHARE_ID,
  SIGNERS,
  serviceError,
  shareOf,
  TOO_MANY_SHARE_IDS,
} from "./fake-service.ts";

const curve = "ED25519";
const PRIVATE_KEY = new Uint8Array(32).fill(0x5a);
const PUBLIC_KEY_HEX = bytesToHex(ed25519PublicKey(PRIVATE_KEY));
const OTHER_KEY = new Uint8Array(32).fill(0x5b);
const args = { seed: SEED, curve, privateKey: PRIVATE_KEY } as const;
const dwallet = { seed: SEED, curve, dwalletId: DWALLET_ID } as const;
const signing = { ...dwallet, signatureAlgorithm: "EdDSA", hashScheme: "SHA512", message: MESSAGE } as const;

let service: FakeService;
beforeEach(() => {
  service = createFakeService();
});

test("an imported key keeps its public key, and its share follows from the seed", async () => {
  const result = await importKey(service.context, { ...args, name: "old wallet", userReference: "alice" });
  expect(result).toMatchObject({
    dwallet: { id: DWALLET_ID, curve },
    publicKeyHex: PUBLIC_KEY_HEX,
    userSecretKeyShareHex: bytesToHex(shareOf(SEED, service.script.sessionDigest)),
    encryptedUserSecretKeyShareId: SHARE_ID,
    txDigests: { onboard: "dkg digest", accept: "accept digest" },
  });
  const created = service.seen.find(({ method }) => method === "createDWallet")!
    .request as CreateDWalletRequest;
  expect(created).toMatchObject({
    kind: DWalletKind.imported_key,
    name: "old wallet",
    userReference: "alice",
  });
  expect(service.engineCalls).not.toContain("prepareDkg");
});

test("no request and no error contains the private key, and the caller's copy is free at once", async () => {
  const privateKey = Uint8Array.from(PRIVATE_KEY);
  const importing = importKey(service.context, { ...args, privateKey });
  privateKey.fill(0);
  expect((await importing).publicKeyHex).toBe(PUBLIC_KEY_HEX);
  const sent = service.seen.map(({ request }) =>
    JSON.stringify(request, (_, value) => (value instanceof Uint8Array ? bytesToHex(value) : value)),
  );
  expect(sent.join()).not.toContain(bytesToHex(PRIVATE_KEY));
  service.script.before = () => {
    throw serviceError(Code.FailedPrecondition, "INSUFFICIENT_CREDIT");
  };
  const error = await importKey(service.context, args).catch((cause: unknown) => cause);
  expect(`${String(error)} ${JSON.stringify(error)}`).not.toContain(bytesToHex(PRIVATE_KEY));
});

test.each([
  [{ privateKey: new Uint8Array(31) }, "privateKey"],
  [{ privateKey: "00".repeat(32) as never }, "privateKey"],
  [{ curve: "SECP256K1" as never, privateKey: new Uint8Array(32) }, "privateKey"],
  [{ name: " x" }, "name"],
  [{ userReference: "" }, "userReference"],
])("a malformed argument is refused by its name before any call: %#", async (change, field) => {
  await expect(importKey(service.context, { ...args, ...change })).rejects.toMatchObject({
    reason: "VALIDATION",
    metadata: { field },
  });
  expect(service.counts()).toEqual({});
});

describe("a dWallet of another key is not accepted", () => {
  /** The service keeps the user's half and deals another share to the network, which it can prove. */
  const substitute = () => {
    const { dwalletState } = service.script;
    service.script.dwalletState = () => {
      service.script.made = makeImportedDWallet(shareOf(SEED, service.script.sessionDigest), OTHER_KEY);
      return dwalletState();
    };
  };

  test("by the import, nor by its resumption", async () => {
    substitute();
    const refused = { reason: "OUTPUT_MISMATCH", metadata: { dwalletId: DWALLET_ID } };
    await expect(importKey(service.context, args)).rejects.toMatchObject(refused);
    const network = "localnet";
    const token = encodeResumeToken({ kind: "import", network, curve, dwalletId: DWALLET_ID });
    await expect(resume(service.context, token, args)).rejects.toMatchObject(refused);
    expect(service.counts()["acceptDWallet"]).toBeUndefined();
  });

  test("if an earlier message made the session's dWallet", async () => {
    substitute();
    service.script.isImportedKey = true;
    service.script.before = (method) => {
      if (method !== "createDWallet") return;
      throw serviceError(Code.AlreadyExists, "SESSION_REUSED", { metadata: { dwalletId: DWALLET_ID } });
    };
    await expect(importKey(service.context, args)).rejects.toMatchObject({ reason: "OUTPUT_MISMATCH" });
    expect(service.counts()["acceptDWallet"]).toBeUndefined();
  });

  test("as the dWallet of a DKG, by its id or in its place", async () => {
    service.script.isImportedKey = true;
    service.script.shareState = () => ({ NetworkVerificationCompleted: true });
    substitute();
    await expect(resumeOnboard(service.context, dwallet)).rejects.toMatchObject({
      reason: "SHARE_UNVERIFIED",
    });
    await expect(onboard(service.context, { seed: SEED, curve })).rejects.toMatchObject({
      reason: "OUTPUT_MISMATCH",
    });
    expect(service.counts()["acceptDWallet"]).toBeUndefined();
  });
});

describe("an interrupted import", () => {
  /** Runs an import whose calls fail from the first one of `method` on, and returns the error's token. */
  const tokenOfCut = async (method: string, name?: string): Promise<string> => {
    let isCut = false;
    service.script.before = (called) => {
      isCut ||= called === method;
      if (isCut) throw new ConnectError("the connection was cut", Code.Unavailable);
    };
    const error = await importKey(service.context, { ...args, name }).catch((cause: unknown) => cause);
    service.script.before = () => {};
    if (!(error instanceof TssError) || error.resumeToken === undefined) throw new Error("no token");
    return error.resumeToken;
  };

  test.each(["registerEncryptionKey", "createDWallet", "acceptDWallet"])(
    "is resumed in its session after a cut at %s",
    async (method) => {
      const token = await tokenOfCut(method, "old wallet");
      expect(readResumeToken(token, "localnet")).toMatchObject({ kind: "import", name: "old wallet" });
      expect(await resume(service.context, token, args)).toMatchObject({
        kind: "onboard",
        publicKeyHex: PUBLIC_KEY_HEX,
      });
      const sessions = service.seen
        .filter((call) => call.method === "createDWallet")
        .map(({ request }) => bytesToHex((request as CreateDWalletRequest).sessionIdentifier));
      expect(new Set(sessions).size).toBe(1);
      // The dWallet exists, so nothing is requested, and charged, again.
      if (method === "acceptDWallet") expect(sessions).toHaveLength(1);
    },
  );

  test("needs the private key, and is not resumed with another one", async () => {
    const token = await tokenOfCut("acceptDWallet");
    await expect(resume(service.context, token, { seed: SEED })).rejects.toMatchObject({
      reason: "VALIDATION",
      metadata: { field: "privateKey" },
    });
    const other = { seed: SEED, privateKey: OTHER_KEY };
    await expect(resume(service.context, token, other)).rejects.toMatchObject({ reason: "OUTPUT_MISMATCH" });
    expect(await resume(service.context, token, args)).toMatchObject({ publicKeyHex: PUBLIC_KEY_HEX });
  });
});

describe("a token of another action than the arguments", () => {
  const network = "localnet";
  const point = { network, curve, sessionIdentifier: new Uint8Array(32).fill(3) } as const;

  test.each([
    ["makes no new dWallet for a private key", "onboard", { privateKey: PRIVATE_KEY }, "privateKey"],
    ["imports no key on another curve", "import", { privateKey: PRIVATE_KEY, curve: "RISTRETTO" }, "curve"],
    ["makes no dWallet on another curve", "onboard", { curve: "SECP256K1" }, "curve"],
  ] as const)("%s", async (_, kind, change, field) => {
    const token = encodeResumeToken({ ...point, kind });
    await expect(resume(service.context, token, { seed: SEED, ...change })).rejects.toMatchObject({
      reason: "VALIDATION",
      metadata: { field },
    });
    expect(service.counts()).toEqual({});
  });

  test("does not complete another dWallet than the named one", async () => {
    const token = encodeResumeToken({ ...point, kind: "import", dwalletId: DWALLET_ID });
    const dwalletId = `0x${"8".repeat(64)}`;
    await expect(resume(service.context, token, { ...args, dwalletId })).rejects.toMatchObject({
      reason: "VALIDATION",
      metadata: { field: "dwalletId" },
    });
    expect(service.counts()).toEqual({});
  });
});

describe("an imported key of the seed", () => {
  const SHARE = shareOf(SEED, SESSION_DIGEST);
  const OWN = makeImportedDWallet(SHARE, PRIVATE_KEY);
  beforeEach(() => {
    service.script.made = OWN;
    service.script.isImportedKey = true;
    service.script.dwalletState = () => ({ Active: OWN.output });
  });

  test("is recovered from the chain, read, adopted and used to sign", async () => {
    service.script.chainSession = SESSION_DIGEST;
    const share = { userSecretKeyShareHex: bytesToHex(SHARE) };
    expect(await recoverShare(service.context, dwallet)).toMatchObject(share);
    expect(await readKey(service.context, dwallet)).toMatchObject({ publicKeyHex: PUBLIC_KEY_HEX });
    const adopted = await adoptDWallet(service.context, dwallet);
    expect(adopted).toMatchObject({ publicKeyHex: PUBLIC_KEY_HEX });
    await expect(sign(service.context, signing)).resolves.toBeDefined();
    await expect(sign(service.context, { ...signing, ...share })).resolves.toBeDefined();
  });

  test("is looked up once on the chain, however often it signs", async () => {
    const given = { ...signing, userSecretKeyShareHex: bytesToHex(SHARE) };
    for (let count = 0; count < 3; count++) await sign(service.context, given);
    expect(service.counts()["tableEntries"]).toBe(1);
  });

  test.each([
    ["is not signed", () => ({ NetworkVerificationCompleted: true }) as never],
    [
      "has another user's signature",
      () => ({ KeyHolderSigned: signDWalletOutput(SIGNERS.other, OWN.output) }),
    ],
    [
      "is of another output",
      () => ({
        KeyHolderSigned: signDWalletOutput(SIGNERS.own, makeImportedDWallet(SHARE, OTHER_KEY).output),
      }),
    ],
  ])("is refused if the share on the chain %s: the whole key may be another party's", async (_, state) => {
    service.script.shareState = state;
    const refused = { reason: "SHARE_UNVERIFIED" };
    await expect(recoverShare(service.context, dwallet)).rejects.toMatchObject(refused);
    await expect(readKey(service.context, dwallet)).rejects.toMatchObject(refused);
    await expect(sign(service.context, signing)).rejects.toMatchObject(refused);
    const given = { ...signing, userSecretKeyShareHex: bytesToHex(SHARE) };
    await expect(sign(service.context, given)).rejects.toMatchObject({ reason: "SHARE_MISMATCH" });
    const unverified = { ...signing, acceptUnverifiedShare: true };
    service.script.decryptedShare = SHARE;
    await expect(sign(service.context, unverified)).rejects.toBeInstanceOf(TssError);
    expect(service.counts()["reserveSign"]).toBeUndefined();
  });

  describe("whose share is not among those that a fullnode lists", () => {
    /** Anyone can add shares to a dWallet's table, against a fee: a copy of the user's own ciphertext is valid. */
    beforeEach(() => {
      service.script.listedShares = () => [...TOO_MANY_SHARE_IDS, SHARE_ID];
    });

    test("signs, because the service names the share", async () => {
      await expect(sign(service.context, signing)).resolves.toBeDefined();
    });

    test("is recovered, though the list begins with a copy of its share that nobody accepted", async () => {
      service.script.chainSession = SESSION_DIGEST;
      service.script.listedShares = () => [HELD_SHARE_ID, ...TOO_MANY_SHARE_IDS, SHARE_ID];
      expect(await recoverShare(service.context, dwallet)).toMatchObject({
        userSecretKeyShareHex: bytesToHex(SHARE),
      });
    });

    test("is recovered without the service, if the caller names the share", async () => {
      service.script.chainSession = SESSION_DIGEST;
      service.script.before = () => {
        throw new ConnectError("the service is off", Code.Unavailable);
      };
      const named = { ...dwallet, encryptedUserSecretKeyShareId: SHARE_ID };
      const share = { userSecretKeyShareHex: bytesToHex(SHARE) };
      expect(await recoverShare(service.context, named)).toMatchObject(share);
      await expect(recoverShare(service.context, dwallet)).rejects.toBeInstanceOf(TssError);
    });

    test("is refused if the named share is another user's or another dWallet's", async () => {
      service.script.encryptionKeyAddress = SIGNERS.other.signerAddress;
      await expect(sign(service.context, signing)).rejects.toMatchObject({ reason: "SHARE_UNVERIFIED" });
      service.script.encryptionKeyAddress = SIGNERS.own.signerAddress;
      service.script.shareDWalletId = `0x${"8".repeat(64)}`;
      await expect(sign(service.context, signing)).rejects.toMatchObject({ reason: "SHARE_UNVERIFIED" });
    });
  });

  test("of another seed's share is refused, though this seed's signer has accepted the output", async () => {
    const other = makeImportedDWallet(shareOf(new Uint8Array(32).fill(66), SESSION_DIGEST), PRIVATE_KEY);
    service.script.made = other;
    service.script.dwalletState = () => ({ Active: other.output });
    await expect(recoverShare(service.context, dwallet)).rejects.toMatchObject({
      reason: "SHARE_UNVERIFIED",
    });
  });

  test("is shared with the public key that its owner has accepted, and not without this proof", async () => {
    const address = SIGNERS.other.signerAddress;
    service.script.heldShare = () => ({ encryption_key_address: address });
    const recipient = { address, encryptionKeyId: RECIPIENT_KEY_ID };
    const { shareState } = service.script;
    service.script.shareState = () => ({ NetworkVerificationCompleted: true });
    await expect(shareWith(service.context, { ...dwallet, recipient })).rejects.toMatchObject({
      reason: "SHARE_UNVERIFIED",
    });
    expect(service.counts()["shareDWallet"]).toBeUndefined();
    service.script.shareState = shareState;
    await expect(shareWith(service.context, { ...dwallet, recipient })).resolves.toEqual({
      dwalletId: DWALLET_ID,
      holderAddress: address,
      encryptedUserSecretKeyShareId: HELD_SHARE_ID,
      publicKeyHex: PUBLIC_KEY_HEX,
    });
  });

  describe("that somebody else shares with the seed's key", () => {
    const held = { ...dwallet, acceptUnverifiedShare: true } as const;
    beforeEach(() => {
      service.script.encryptionKeyAddress = SIGNERS.other.signerAddress;
      service.script.listedShares = () => [SHARE_ID, HELD_SHARE_ID];
      service.script.decryptedShare = SHARE;
    });

    test("is accepted for the public key that the owner names, and then recovered and signed with", async () => {
      const accepted = await acceptShare(service.context, { ...dwallet, publicKeyHex: PUBLIC_KEY_HEX });
      expect(accepted).toMatchObject({
        publicKeyHex: PUBLIC_KEY_HEX,
        userSecretKeyShareHex: bytesToHex(SHARE),
        encryptedUserSecretKeyShareId: HELD_SHARE_ID,
      });
      await expect(recoverShare(service.context, held)).rejects.toMatchObject({ reason: "OUTPUT_MISMATCH" });
      service.script.heldShare = () => ({
        state: { KeyHolderSigned: signDWalletOutput(SIGNERS.own, OWN.output) },
      });
      expect(await recoverShare(service.context, held)).toMatchObject({
        userSecretKeyShareHex: bytesToHex(SHARE),
      });
      await expect(sign(service.context, { ...signing, ...held })).resolves.toBeDefined();
    });

    test.each<[string, { publicKeyHex?: string }, object]>([
      ["without a public key", {}, { reason: "VALIDATION", metadata: { field: "publicKeyHex" } }],
      ["for another public key", { publicKeyHex: "ab".repeat(32) }, { reason: "OUTPUT_MISMATCH" }],
      [
        "for a public key of another form",
        { publicKeyHex: PUBLIC_KEY_HEX.toUpperCase() },
        { reason: "VALIDATION", metadata: { field: "publicKeyHex" } },
      ],
    ])("is not accepted %s: the chain may show a key that nobody has imported", async (_, named, refused) => {
      await expect(acceptShare(service.context, { ...dwallet, ...named })).rejects.toMatchObject(refused);
      expect(service.counts()["acceptShare"]).toBeUndefined();
    });

    test("is not accepted if the share is of another half of the key", async () => {
      service.script.decryptedShare = shareOf(new Uint8Array(32).fill(66), SESSION_DIGEST);
      const named = { ...dwallet, publicKeyHex: PUBLIC_KEY_HEX };
      await expect(acceptShare(service.context, named)).rejects.toMatchObject({ reason: "SHARE_MISMATCH" });
      expect(service.counts()["acceptShare"]).toBeUndefined();
    });
  });

  test("leaves with the capability of an imported key", async () => {
    const kinds: unknown[] = [];
    const { ownerOf } = service.context;
    const context = {
      ...service.context,
      ownerOf: ((action, kind, id) => {
        kinds.push(kind);
        return ownerOf(action, kind, id);
      }) as typeof ownerOf,
    };
    const recipient = `0x${"9".repeat(64)}`;
    const left = await createCustodyActions(context).leave({ seed: SEED, dwalletId: DWALLET_ID, recipient });
    expect(left).toMatchObject({ recipient });
    expect(new Set(kinds)).toEqual(new Set([IMPORTED_KEY_CAP]));
  });
});
