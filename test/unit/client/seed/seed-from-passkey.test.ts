import { hkdfSync } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { seedFromPasskey, unwrapSeed } from "../../../../src/client/seed/passkey/seed-from-passkey.ts";
import { wrapSeed } from "../../../../src/client/seed/passkey/wrap-seed.ts";
import {
  DEVICE_BOUND,
  type FakePasskey,
  type FakePlatform,
  failureOf,
  formsOf,
  installFakePlatform,
  prfValue,
  shownBy,
} from "./fake-passkeys.ts";

const INPUT = Buffer.from("threshold-signing-service/passkey/v1");
let platform: FakePlatform;
beforeEach(() => {
  platform = installFakePlatform();
});
afterEach(() => vi.unstubAllGlobals());

const referenceOf = ({ id }: FakePasskey) => ({ credentialId: id });
/** The seed of a passkey as the guide defines it. */
const seedOf = (passkey: FakePasskey): Uint8Array =>
  new Uint8Array(
    hkdfSync("sha256", prfValue(passkey, INPUT), "threshold-signing-service/passkey-seed/v1", "", 32),
  );

describe("a passkey's own seed", () => {
  test("is the one that another library derives as the guide says", async () => {
    const passkey = platform.add();
    expect(await seedFromPasskey()).toEqual({
      seed: seedOf(passkey),
      credentialId: passkey.id,
      isWrapped: false,
      isSyncable: true,
    });
  });

  test("is the same each time, and another one for another passkey", async () => {
    const [one, two] = [platform.add(), platform.add()];
    const ask = async (passkey: FakePasskey) =>
      Buffer.from((await seedFromPasskey({ passkeys: [referenceOf(passkey)] })).seed).toString("hex");
    expect(await ask(one)).toBe(await ask(one));
    expect(await ask(one)).not.toBe(await ask(two));
  });

  test("comes with the word of the authenticator that the passkey stays on its device", async () => {
    platform.add();
    platform.behaviour.flags = DEVICE_BOUND;
    expect(await seedFromPasskey()).toMatchObject({ isSyncable: false });
  });
});

describe("the question", () => {
  test("names the passkeys and their transports, and requires the user's verification", async () => {
    const passkey = platform.add();
    const passkeys = [{ ...referenceOf(passkey), transports: ["hybrid"] }];
    await seedFromPasskey({ passkeys, rpId: "wallet.example", timeoutMs: 5_000 });
    expect(platform.asked).toEqual([
      {
        challenge: expect.any(Uint8Array),
        allowCredentials: [
          {
            type: "public-key",
            id: new Uint8Array(Buffer.from(passkey.id, "base64url")),
            transports: ["hybrid"],
          },
        ],
        userVerification: "required",
        timeout: 15_000,
        rpId: "wallet.example",
        extensions: { prf: { eval: { first: new Uint8Array(INPUT) } } },
      },
    ]);
  });

  test("lets the user choose if it names no passkey", async () => {
    platform.add();
    await seedFromPasskey();
    expect(platform.asked[0]).toMatchObject({ allowCredentials: [] });
    expect(platform.asked[0]).not.toHaveProperty("rpId");
  });

  test("with an empty list of passkeys is refused, because it would let any passkey answer", async () => {
    platform.add();
    expect(await failureOf(seedFromPasskey({ passkeys: [] }))).toMatchObject({
      reason: "VALIDATION",
      metadata: { field: "passkeys" },
    });
    expect(platform.asked).toEqual([]);
  });
});

describe("an answer", () => {
  test.each([
    ["no extension", () => ({})],
    ["no results", () => ({ prf: {} })],
    ["empty results", () => ({ prf: { results: {} } })],
    ["null", () => ({ prf: { results: { first: null } } })],
    ["31 bytes", () => ({ prf: { results: { first: new Uint8Array(31).buffer } } })],
    ["64 bytes", () => ({ prf: { results: { first: new Uint8Array(64) } } })],
    ["a number", () => ({ prf: { results: { first: 32 } } })],
    ["a text", () => ({ prf: { results: { first: "x".repeat(32) } } })],
  ])("with %s is no seed, and the error names the passkey", async (_, results) => {
    const { id } = platform.add();
    platform.behaviour.results = results;
    expect(await failureOf(seedFromPasskey())).toMatchObject({
      reason: "PASSKEY_WITHOUT_PRF",
      metadata: { credentialId: id },
    });
  });

  test("may hold its value as a view of a larger buffer", async () => {
    const passkey = platform.add();
    platform.behaviour.results = (value) => {
      const larger = new Uint8Array(96).fill(9);
      larger.set(value, 32);
      return { prf: { results: { first: larger.subarray(32, 64) } } };
    };
    expect((await seedFromPasskey()).seed).toEqual(seedOf(passkey));
  });

  test("without the user's verification is refused, because its value is another one", async () => {
    platform.add();
    platform.behaviour.flags = 0x19;
    const error = await failureOf(seedFromPasskey());
    expect(error).toMatchObject({ reason: "PASSKEY_REFUSED", message: expect.stringContaining("verifying") });
  });

  test("of another passkey than the named ones is refused", async () => {
    const named = platform.add();
    platform.behaviour.answering = platform.add();
    const error = await failureOf(seedFromPasskey({ passkeys: [referenceOf(named)] }));
    expect(error).toMatchObject({ reason: "PASSKEY_MISMATCH" });
  });
});

describe("a passkey's value", () => {
  const isOverwritten = () => platform.handedOut.map((value) => value.every((byte) => byte === 0));
  const ways: [string, () => Promise<unknown>][] = [
    ["a seed", () => seedFromPasskey()],
    [
      "a wrapped seed",
      () =>
        wrapSeed({ seed: new Uint8Array(32).fill(7), passkey: { credentialId: platform.passkeys[0]!.id } }),
    ],
  ];
  test.each(ways)("is overwritten after %s", async (_, call) => {
    platform.add();
    await call();
    expect(isOverwritten()).toEqual([true]);
  });

  test.each(ways)(
    "is overwritten, and in no error, if the question for %s fails after it",
    async (_, call) => {
      const passkey = platform.add();
      platform.behaviour.flags = 0;
      const error = await failureOf(call());
      expect(error).toMatchObject({ name: "TssError" });
      expect(isOverwritten()).toEqual([true]);
      const shown = shownBy(error);
      const secrets = [prfValue(passkey, INPUT), seedOf(passkey)].flatMap(formsOf);
      expect(secrets.filter((form) => shown.includes(form))).toEqual([]);
    },
  );
});

describe("with wrapped seeds", () => {
  const seed = new Uint8Array(32).fill(7);
  let first: FakePasskey;
  let second: FakePasskey;
  let wrappedSeed: string;
  beforeEach(async () => {
    first = platform.add();
    second = platform.add();
    wrappedSeed = await wrapSeed({ seed, passkey: referenceOf(second) });
    platform.asked.length = 0;
  });

  test("the passkey of one gives that seed, and every other passkey its own", async () => {
    const args = { wrappedSeeds: [wrappedSeed] };
    platform.behaviour.answering = second;
    expect(await seedFromPasskey(args)).toMatchObject({ seed, isWrapped: true, credentialId: second.id });
    platform.behaviour.answering = first;
    expect(await seedFromPasskey(args)).toMatchObject({ seed: seedOf(first), isWrapped: false });
  });

  test("the passkeys of both may answer", async () => {
    await seedFromPasskey({ passkeys: [referenceOf(first)], wrappedSeeds: [wrappedSeed] });
    const allowed = platform.asked[0]?.allowCredentials?.map(({ id }) =>
      Buffer.from(id as Uint8Array).toString("base64url"),
    );
    expect(allowed).toEqual([first.id, second.id]);
  });

  test("unwrapSeed asks only for the passkey of the wrapped seed", async () => {
    expect(await unwrapSeed({ wrappedSeed })).toMatchObject({ seed, isWrapped: true });
    expect(platform.asked[0]?.allowCredentials).toHaveLength(1);
    platform.behaviour.answering = first;
    expect(await failureOf(unwrapSeed({ wrappedSeed }))).toMatchObject({ reason: "PASSKEY_MISMATCH" });
  });
});
