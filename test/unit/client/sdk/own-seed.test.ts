import { bytesToHex } from "@noble/hashes/utils.js";
import { beforeEach, describe, expect, test } from "vitest";
import { deriveUserKeys } from "../../../../src/client/crypto/user-keys.ts";
import { ownSeed } from "../../../../src/client/sdk/action.ts";
import { getOrCreate, onboard, resumeOnboard } from "../../../../src/client/sdk/actions/onboard.ts";
import { readKey } from "../../../../src/client/sdk/actions/read-key.ts";
import { adoptDWallet } from "../../../../src/client/sdk/actions/recovery/adopt-dwallet.ts";
import { findDWallets } from "../../../../src/client/sdk/actions/recovery/find-dwallets.ts";
import { recoverShare } from "../../../../src/client/sdk/actions/recovery/recover-share.ts";
import { resume } from "../../../../src/client/sdk/actions/resume.ts";
import { acceptShare, shareWith } from "../../../../src/client/sdk/actions/sharing/share-with.ts";
import { sign } from "../../../../src/client/sdk/actions/signing/sign.ts";
import { signMany } from "../../../../src/client/sdk/actions/signing/sign-many.ts";
import { TssError } from "../../../../src/client/sdk/errors.ts";
import {
  createFakeService,
  DWALLET,
  DWALLET_ID,
  type FakeService,
  HELD_SHARE_ID,
  MESSAGE,
  RECIPIENT_KEY_ID,
  SEED,
  SIGNERS,
  shareOf,
} from "./fake-service.ts";

const curve = "ED25519";
const signing = { dwalletId: DWALLET_ID, curve, signatureAlgorithm: "EdDSA", hashScheme: "SHA512" } as const;

let service: FakeService;
let seed: Uint8Array;
beforeEach(() => {
  service = createFakeService();
  seed = Uint8Array.from(SEED);
});

/** The result of an action whose caller overwrites the seed as soon as the call has returned. */
async function overwritten<T>(result: Promise<T>): Promise<T> {
  seed.fill(0);
  return await result;
}

describe("an action derives the share from its own copy if the caller overwrites the seed", () => {
  test.each([
    ["onboard", () => onboard(service.context, { seed, curve })],
    ["getOrCreate", () => getOrCreate(service.context, { seed, curve, name: "treasury" })],
  ])("in %s", async (_name, begin) => {
    const { userSecretKeyShareHex } = await overwritten(begin());
    expect(userSecretKeyShareHex).toBe(bytesToHex(shareOf(SEED, service.script.sessionDigest)));
  });

  test("in a resumed onboarding, by its token and by its id", async () => {
    const abort = new AbortController();
    const { signal } = abort;
    service.script.before = (method) => method === "createDWallet" && abort.abort();
    const error = await onboard(service.context, { seed: SEED, curve }, { signal }).catch((cause) => cause);
    if (!(error instanceof TssError) || error.resumeToken === undefined) throw new Error("no token");
    service.script.before = () => {};
    const resumed = await overwritten(resume(service.context, error.resumeToken, { seed }));
    const userSecretKeyShareHex = bytesToHex(shareOf(SEED, service.script.sessionDigest));
    expect(resumed).toMatchObject({ userSecretKeyShareHex });
    seed = Uint8Array.from(SEED);
    const byId = resumeOnboard(service.context, { seed, curve, dwalletId: DWALLET_ID });
    expect(await overwritten(byId)).toMatchObject({ userSecretKeyShareHex });
  });
});

describe("an action opens its dWallet with its own copy if the caller overwrites the seed", () => {
  beforeEach(() => {
    service.script.dwalletState = () => ({ Active: DWALLET.output });
  });

  test.each([
    ["readKey", () => readKey(service.context, { seed, curve, dwalletId: DWALLET_ID })],
    ["recoverShare", () => recoverShare(service.context, { seed, curve, dwalletId: DWALLET_ID })],
    ["adoptDWallet", () => adoptDWallet(service.context, { seed, curve, dwalletId: DWALLET_ID })],
    [
      "shareWith",
      () => {
        const { signerAddress: address } = SIGNERS.other;
        service.script.heldShare = () => ({ encryption_key_address: address });
        const recipient = { address, encryptionKeyId: RECIPIENT_KEY_ID };
        return shareWith(service.context, { seed, curve, dwalletId: DWALLET_ID, recipient });
      },
    ],
    [
      "acceptShare",
      () => {
        service.script.listedShares = () => [HELD_SHARE_ID];
        return acceptShare(service.context, { seed, curve, dwalletId: DWALLET_ID });
      },
    ],
    ["sign", () => sign(service.context, { ...signing, seed, message: MESSAGE })],
  ])("in %s", async (_name, begin) => {
    await expect(overwritten<unknown>(begin())).resolves.toBeDefined();
  });

  test("in a search for dWallets", async () => {
    const { engine } = service.context;
    const derive: typeof engine.deriveUserKeys = async (input) => deriveUserKeys(input.seed, "ED25519");
    const context = { ...service.context, engine: { ...engine, deriveUserKeys: derive } };
    const found = await overwritten(findDWallets(context, { seed, curve }));
    expect(found.dwallets).toMatchObject([{ dwalletId: DWALLET_ID }]);
  });

  test("in a resumed signature", async () => {
    const tokens: string[] = [];
    const whole = { ...signing, seed: SEED, message: MESSAGE };
    await sign(service.context, whole, { onResumeToken: (token) => void tokens.push(token) });
    const resumed = resume(service.context, tokens[0]!, { seed, message: MESSAGE });
    await expect(overwritten(resumed)).resolves.toMatchObject({ kind: "sign" });
  });

  test("in the last of several signatures, with the message of the call", async () => {
    const message = Uint8Array.from(MESSAGE);
    const items = Array(3).fill({ ...signing, seed, message });
    const results = signMany(service.context, items, { concurrency: 1 });
    message.fill(0);
    const statuses = (await overwritten(results)).map(({ status }) => status);
    expect(statuses).toEqual(Array(3).fill("fulfilled"));
    const reserved = service.seen.filter(({ method }) => method === "reserveSign");
    expect(reserved.map(({ request }) => request)).toMatchObject(Array(3).fill({ message: MESSAGE }));
  });
});

test("an action overwrites only its own copy of the seed", () => {
  const owned: { destroy(): void }[] = [];
  const action = {
    own<T extends { destroy(): void }>(secret: T): T {
      owned.push(secret);
      return secret;
    },
  };
  const copy = ownSeed(action, seed);
  expect(copy).toEqual(SEED);
  for (const secret of owned) secret.destroy();
  expect(copy).toEqual(new Uint8Array(32));
  expect(seed).toEqual(SEED);
});
