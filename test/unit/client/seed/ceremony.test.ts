import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { PasskeyOptions } from "../../../../src/client/seed/passkey/ceremony.ts";
import { createPasskey, passkeySupport } from "../../../../src/client/seed/passkey/index.ts";
import { seedFromPasskey, unwrapSeed } from "../../../../src/client/seed/passkey/seed-from-passkey.ts";
import { wrapSeed } from "../../../../src/client/seed/passkey/wrap-seed.ts";
import { type FakePlatform, failureOf, installFakePlatform } from "./fake-passkeys.ts";

const passkey = { credentialId: "AAAA" };
const wrappedSeed = `v1.AAAA.${"A".repeat(80)}`;
interface Args {
  readonly timeoutMs?: number;
}
const CALLS: [string, (args?: Args, options?: PasskeyOptions) => Promise<unknown>][] = [
  [
    "createPasskey",
    (args, options) => createPasskey({ rpName: "Wallet", userName: "ada", ...args }, options),
  ],
  ["seedFromPasskey", (args, options) => seedFromPasskey({ ...args }, options)],
  ["wrapSeed", (args, options) => wrapSeed({ seed: new Uint8Array(32), passkey, ...args }, options)],
  ["unwrapSeed", (args, options) => unwrapSeed({ wrappedSeed, ...args }, options)],
];
afterEach(() => vi.unstubAllGlobals());

describe.each([
  ["without a navigator, such as Node 20", undefined, undefined],
  ["with a navigator and no more, such as Node 22, a worker or React Native", {}, undefined],
  ["without HTTPS, whose page has no PublicKeyCredential", { credentials: {} }, undefined],
  ["with one that has no credentials", {}, class {}],
])("a platform %s", (_, navigator, publicKeyCredential) => {
  beforeEach(() => {
    vi.stubGlobal("navigator", navigator);
    vi.stubGlobal("PublicKeyCredential", publicKeyCredential);
  });

  test.each(CALLS)("has no passkeys, and %s says so", async (_name, call) => {
    expect(await failureOf(call())).toMatchObject({
      name: "TssError",
      reason: "PASSKEY_UNAVAILABLE",
      message: expect.stringContaining("https://"),
    });
  });

  test("offers no extension", async () => {
    expect(await passkeySupport()).toEqual({ prf: "unsupported", hasPlatformAuthenticator: false });
  });
});

describe.each(CALLS)("%s", (_, call) => {
  let platform: FakePlatform;
  const questions = () => platform.created.length + platform.asked.length;
  beforeEach(() => {
    platform = installFakePlatform();
  });

  test.each([
    ["NotAllowedError", "PASSKEY_REFUSED"],
    ["AbortError", "PASSKEY_REFUSED"],
    ["NotSupportedError", "PASSKEY_UNAVAILABLE"],
    ["ConstraintError", "PASSKEY_UNAVAILABLE"],
    ["SecurityError", "VALIDATION"],
    ["UnknownError", "PASSKEY_FAILED"],
    ["constructor", "PASSKEY_FAILED"],
  ])("reports the browser's %s as %s, with the browser's error as its cause", async (name, reason) => {
    platform.behaviour.failure = new DOMException("the browser's text", name);
    const error = await failureOf(call());
    expect(error).toMatchObject({ name: "TssError", reason, cause: platform.behaviour.failure });
  });

  test("knows the errors of a provider that runs in another realm, or that throws plain objects", async () => {
    platform.behaviour.failure = { name: "NotAllowedError", message: "" };
    expect(await failureOf(call())).toMatchObject({ reason: "PASSKEY_REFUSED" });
    platform.behaviour.failure = "no" as never;
    expect(await failureOf(call())).toMatchObject({ reason: "PASSKEY_FAILED", cause: "no" });
  });

  test("ends with its caller's signal and the signal's reason, even if the provider goes on", async () => {
    platform.behaviour.hangs = true;
    const controller = new AbortController();
    const failure = failureOf(call({}, { signal: controller.signal }));
    const reason = new Error("the user left");
    controller.abort(reason);
    expect(await failure).toMatchObject({ reason: "ABORTED", cause: reason });
  });

  test("asks nobody if its caller's signal has aborted", async () => {
    const error = await failureOf(call({}, { signal: AbortSignal.abort("gone") }));
    expect(error).toMatchObject({ reason: "ABORTED", cause: "gone" });
    expect(questions()).toBe(0);
  });

  test("ends at its time limit, even if the provider goes on", async () => {
    platform.behaviour.hangs = true;
    expect(await failureOf(call({ timeoutMs: 1 }))).toMatchObject({
      reason: "TIMEOUT",
      message: "the user did not answer within 1 ms",
    });
  });
});

test("only creation takes InvalidStateError for a passkey that exists", async () => {
  installFakePlatform().behaviour.failure = new DOMException("x", "InvalidStateError");
  const reasons = await Promise.all(CALLS.map(async ([, call]) => await failureOf(call())));
  expect(reasons).toMatchObject([
    { reason: "PASSKEY_EXISTS" },
    ...Array(3).fill({ reason: "PASSKEY_FAILED" }),
  ]);
});

test("a platform that answers with nothing has refused", async () => {
  vi.stubGlobal("PublicKeyCredential", class {});
  vi.stubGlobal("navigator", { credentials: { get: async () => null } });
  expect(await failureOf(seedFromPasskey())).toMatchObject({ reason: "PASSKEY_REFUSED" });
});

test.each([
  ["supported", { getClientCapabilities: async () => ({ "extension:prf": true }) }],
  ["unsupported", { getClientCapabilities: async () => ({ "extension:prf": false }) }],
  ["unknown", { getClientCapabilities: async () => ({ conditionalGet: true }) }],
  ["unknown", { getClientCapabilities: () => Promise.reject(new Error("no")) }],
  ["unknown", {}],
])("the extension is %s if the browser says %o", async (prf, publicKeyCredential) => {
  vi.stubGlobal("navigator", { credentials: {} });
  vi.stubGlobal("PublicKeyCredential", publicKeyCredential);
  expect(await passkeySupport()).toEqual({ prf, hasPlatformAuthenticator: false });
});

test.each([true, false])("the device's own passkeys are what the browser says: %s", async (has) => {
  vi.stubGlobal("navigator", { credentials: {} });
  vi.stubGlobal("PublicKeyCredential", {
    isUserVerifyingPlatformAuthenticatorAvailable: async () => has,
  });
  expect(await passkeySupport()).toMatchObject({ hasPlatformAuthenticator: has });
});
