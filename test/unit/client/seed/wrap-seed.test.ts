import { createDecipheriv, hkdfSync } from "node:crypto";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { unwrapSeed } from "../../../../src/client/seed/passkey/seed-from-passkey.ts";
import { wrapSeed } from "../../../../src/client/seed/passkey/wrap-seed.ts";
import {
  type FakePasskey,
  type FakePlatform,
  failureOf,
  formsOf,
  installFakePlatform,
  prfValue,
  shownBy,
} from "./fake-passkeys.ts";

const INPUT = Buffer.from("threshold-signing-service/passkey/v1");
const SEED = new Uint8Array(32).map((_, index) => index);
const WELL_FORMED = `v1.AAAA.${"A".repeat(80)}`;
let platform: FakePlatform;
let passkey: FakePasskey;
let wrappedSeed: string;
beforeEach(async () => {
  platform = installFakePlatform();
  passkey = platform.add();
  wrappedSeed = await wrapSeed({ seed: SEED, passkey: { credentialId: passkey.id } });
});
afterEach(() => vi.unstubAllGlobals());

test("a wrapped seed opens with another library, as the guide says", () => {
  const [version, credentialId, body = ""] = wrappedSeed.split(".");
  expect([version, credentialId]).toEqual(["v1", passkey.id]);
  const bytes = Buffer.from(body, "base64url");
  const label = "threshold-signing-service/passkey-wrap/v1";
  const key = new Uint8Array(hkdfSync("sha256", prfValue(passkey, INPUT), label, "", 32));
  const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, 12));
  decipher.setAAD(Buffer.from(`v1.${passkey.id}`));
  decipher.setAuthTag(bytes.subarray(44));
  const opened = Buffer.concat([decipher.update(bytes.subarray(12, 44)), decipher.final()]);
  expect(new Uint8Array(opened)).toEqual(SEED);
});

test("two wrapped seeds of one seed and passkey have nothing in common but the passkey", async () => {
  const again = await wrapSeed({ seed: SEED, passkey: { credentialId: passkey.id } });
  const bodies = [wrappedSeed, again].map((text) => text.split(".")[2] ?? "");
  const [one = "", two = ""] = bodies.map((body) => Buffer.from(body, "base64url").toString("hex"));
  expect(one.slice(0, 24)).not.toBe(two.slice(0, 24));
  expect(one.slice(24, 88)).not.toBe(two.slice(24, 88));
});

test("a wrapped seed with any bit of its body changed does not open, and the error shows no secret", async () => {
  const [, , body = ""] = wrappedSeed.split(".");
  const bytes = Buffer.from(body, "base64url");
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes);
    changed[at]! ^= 1 << (at % 8);
    const text = `v1.${passkey.id}.${changed.toString("base64url")}`;
    const error = await failureOf(unwrapSeed({ wrappedSeed: text }));
    expect(error).toMatchObject({ reason: "PASSKEY_MISMATCH", metadata: { credentialId: passkey.id } });
    const shown = shownBy(error);
    expect(formsOf(SEED).filter((form) => shown.includes(form))).toEqual([]);
  }
});

test("a wrapped seed that names another passkey does not open, even with the right key", async () => {
  // Another name, and the key of the first one: only the associated data differs.
  const other = { ...platform.add(), key: passkey.key };
  platform.behaviour.answering = other;
  const text = wrappedSeed.replace(passkey.id, other.id);
  expect(await failureOf(unwrapSeed({ wrappedSeed: text }))).toMatchObject({ reason: "PASSKEY_MISMATCH" });
});

test("a seed that its owner overwrites while the user answers is wrapped unchanged", async () => {
  const own = Uint8Array.from(SEED);
  const wrapping = wrapSeed({ seed: own, passkey: { credentialId: passkey.id } });
  own.fill(0);
  expect((await unwrapSeed({ wrappedSeed: await wrapping })).seed).toEqual(SEED);
});

test("the copy of the seed that is encrypted is overwritten", async () => {
  const encrypt = vi.spyOn(crypto.subtle, "encrypt");
  try {
    await wrapSeed({ seed: SEED, passkey: { credentialId: passkey.id } });
    expect(encrypt.mock.calls.map(([, , bytes]) => bytes)).toEqual([new Uint8Array(32)]);
  } finally {
    encrypt.mockRestore();
  }
});

test("the key that wraps cannot be read from the platform's cryptography, and its bytes are overwritten", async () => {
  const importKey = vi.spyOn(crypto.subtle, "importKey");
  try {
    await wrapSeed({ seed: SEED, passkey: { credentialId: passkey.id } });
    const [[format, bytes, algorithm, isExtractable, usages] = []] = importKey.mock.calls;
    expect([format, algorithm, isExtractable, usages]).toEqual(["raw", "AES-GCM", false, ["encrypt"]]);
    expect(bytes).toEqual(new Uint8Array(32));
  } finally {
    importKey.mockRestore();
  }
});

test.each([
  ["no text", 7 as never],
  ["an empty text", ""],
  ["no version", "AAAA.AAAA"],
  ["a word before the version", `x${WELL_FORMED}`],
  ["another version's name", WELL_FORMED.replace("v1", "v1x")],
  ["a line after the body", `${WELL_FORMED}\n.`],
  ["a part too many", `v1.AAAA.${"A".repeat(80)}.AAAA`],
  ["a short body", "v1.AAAA.AAAA"],
  ["a body of half a byte too many", `${WELL_FORMED}A`],
  ["a body that is not base64url", `v1.AAAA.${"+".repeat(80)}`],
  ["no passkey", `v1..${"A".repeat(80)}`],
])("%s is refused as a wrapped seed without a question", async (_, text) => {
  const asked = platform.asked.length;
  expect(await failureOf(unwrapSeed({ wrappedSeed: text }))).toMatchObject({
    reason: "VALIDATION",
    message: "wrappedSeed: must be a result of wrapSeed",
    metadata: { field: "wrappedSeed" },
  });
  expect(platform.asked).toHaveLength(asked);
});

test("a wrapped seed of a later version is refused by its version", async () => {
  for (const version of ["2", "10"]) {
    const text = wrappedSeed.replace("v1", `v${version}`);
    expect(await failureOf(unwrapSeed({ wrappedSeed: text }))).toMatchObject({
      reason: "VALIDATION",
      message: `wrappedSeed: has version ${version}, which this client cannot read`,
      metadata: { field: "wrappedSeed" },
    });
  }
});

test("a seed of 31 bytes is not wrapped", async () => {
  const wrapping = wrapSeed({ seed: new Uint8Array(31), passkey: { credentialId: passkey.id } });
  expect(await failureOf(wrapping)).toMatchObject({ reason: "VALIDATION", metadata: { field: "seed" } });
});
