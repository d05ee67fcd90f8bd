import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type CreatePasskeyArgs, createPasskey } from "../../../../src/client/seed/passkey/create-passkey.ts";
import { DEVICE_BOUND, type FakePlatform, failureOf, installFakePlatform } from "./fake-passkeys.ts";

const ARGS = { rpName: "Example Wallet", userName: "ada@example.com" };
let platform: FakePlatform;
beforeEach(() => {
  platform = installFakePlatform();
});
afterEach(() => vi.unstubAllGlobals());

describe("a new passkey", () => {
  test("is discoverable, verifies its user, and is asked for the extension without a value", async () => {
    await createPasskey({ ...ARGS, rpId: "wallet.example", authenticatorAttachment: "platform" });
    expect(platform.created).toEqual([
      {
        rp: { name: "Example Wallet", id: "wallet.example" },
        user: { id: expect.any(Uint8Array), name: "ada@example.com", displayName: "ada@example.com" },
        challenge: expect.any(Uint8Array),
        pubKeyCredParams: [
          { type: "public-key", alg: -7 },
          { type: "public-key", alg: -257 },
        ],
        excludeCredentials: [],
        authenticatorSelection: {
          residentKey: "required",
          requireResidentKey: true,
          userVerification: "required",
          authenticatorAttachment: "platform",
        },
        attestation: "none",
        timeout: 310_000,
        extensions: { prf: {} },
      },
    ]);
  });

  test("has a random handle, so that no provider replaces another passkey by it", async () => {
    await createPasskey(ARGS);
    await createPasskey(ARGS);
    const handles = platform.created.map(({ user }) => Buffer.from(user.id as Uint8Array).toString("hex"));
    expect(handles.map(({ length }) => length)).toEqual([64, 64]);
    expect(handles[0]).not.toBe(handles[1]);
  });

  test("has the caller's handle if there is one", async () => {
    const userHandle = Uint8Array.of(1, 2, 3);
    await createPasskey({ ...ARGS, userHandle, userDisplayName: "Ada" });
    expect(platform.created[0]?.user).toEqual({ id: userHandle, name: ARGS.userName, displayName: "Ada" });
  });

  test.each([1, 64])("may have a handle of %i bytes", async (length) => {
    await createPasskey({ ...ARGS, userHandle: new Uint8Array(length) });
    expect(platform.created[0]?.user.id).toHaveProperty("byteLength", length);
  });

  test("leaves the domain, the kind of device and the ways to reach excluded passkeys to the browser by default", async () => {
    await createPasskey({ ...ARGS, excluded: [{ credentialId: "AAAA" }] });
    const { rp, authenticatorSelection, excludeCredentials } = platform.created[0]!;
    expect(
      [rp, authenticatorSelection, excludeCredentials?.[0]].map((each) => Object.keys(each ?? {})),
    ).toEqual([["name"], ["residentKey", "requireResidentKey", "userVerification"], ["type", "id"]]);
  });

  test.each([
    ["accepted with 1,023 bytes", 1_023, undefined],
    ["refused with 1,024 bytes", 1_024, "credentialId: must be base64url without padding"],
  ])("excludes a passkey whose id is %s, the limit of WebAuthn", async (_, length, message) => {
    const excluded = [{ credentialId: Buffer.alloc(length).toString("base64url") }];
    const call = createPasskey({ ...ARGS, excluded });
    if (message === undefined) expect(await call).toHaveProperty("credentialId");
    else expect(await failureOf(call)).toMatchObject({ message, metadata: { field: "credentialId" } });
  });

  test.each([
    ["a passkey that its provider copies", 0x1d, true],
    ["a passkey that stays on its device", DEVICE_BOUND, false],
  ])("tells whether it is %s", async (_, flags, isSyncable) => {
    platform.behaviour.flags = flags;
    expect(await createPasskey(ARGS)).toEqual({
      credentialId: platform.passkeys[0]?.id,
      transports: ["internal", "hybrid"],
      isSyncable,
    });
  });

  test("of an older browser has no transports, and does not tell whether it is copied", async () => {
    platform.behaviour.isModern = false;
    expect(await createPasskey(ARGS)).toMatchObject({ transports: [], isSyncable: undefined });
  });
});

describe("a passkey that can hold no seed", () => {
  test.each([
    ["says so", { prf: { enabled: false } }],
    ["says nothing", {}],
    ["says nothing about it", { prf: {} }],
  ])("and %s is refused by name, and its provider is asked to remove it", async (_, created) => {
    platform.behaviour.created = created;
    const credentialId = () => platform.passkeys[0]?.id;
    expect(await failureOf(createPasskey({ ...ARGS, rpId: "example" }))).toMatchObject({
      reason: "PASSKEY_WITHOUT_PRF",
      metadata: { credentialId: credentialId() },
    });
    expect(platform.forgotten).toEqual([{ rpId: "example", credentialId: credentialId() }]);
  });

  test("is removed from the page's own domain by default", async () => {
    platform.behaviour.created = {};
    await failureOf(createPasskey(ARGS));
    expect(platform.forgotten).toMatchObject([{ rpId: "wallet.example" }]);
  });

  test.each([
    ["cannot remove passkeys", {}],
    ["fails to", { signalUnknownCredential: () => Promise.reject(new DOMException("x", "SecurityError")) }],
  ])("is refused in the same way by a browser that %s", async (_, publicKeyCredential) => {
    vi.stubGlobal("PublicKeyCredential", publicKeyCredential);
    platform.behaviour.created = {};
    expect(await failureOf(createPasskey(ARGS))).toMatchObject({ reason: "PASSKEY_WITHOUT_PRF" });
  });
});

test("excludes the named passkeys, and says that the device has one of them", async () => {
  const { id } = platform.add();
  platform.behaviour.failure = new DOMException("x", "InvalidStateError");
  const excluded = [{ credentialId: id, transports: ["usb"] }];
  expect(await failureOf(createPasskey({ ...ARGS, excluded }))).toMatchObject({ reason: "PASSKEY_EXISTS" });
  const bytes = new Uint8Array(Buffer.from(id, "base64url"));
  expect(platform.created[0]?.excludeCredentials).toEqual([
    { type: "public-key", id: bytes, transports: ["usb"] },
  ]);
});

test.each<[string, Partial<CreatePasskeyArgs>]>([
  ["rpName", { rpName: "" }],
  ["rpName", { rpName: 7 as never }],
  ["userName", { userName: "" }],
  ["userDisplayName", { userDisplayName: "" }],
  ["userHandle", { userHandle: new Uint8Array(0) }],
  ["userHandle", { userHandle: new Uint8Array(65) }],
  ["credentialId", { excluded: [{ credentialId: "a+b=" }] }],
  ["timeoutMs", { timeoutMs: 0 }],
])("a wrong %s is refused without a question", async (field, wrong) => {
  expect(await failureOf(createPasskey({ ...ARGS, ...wrong }))).toMatchObject({
    reason: "VALIDATION",
    metadata: { field },
  });
  expect(platform.created).toEqual([]);
});
