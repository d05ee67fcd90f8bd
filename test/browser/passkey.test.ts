/** Seeds of passkeys in Chromium, with authenticators that its protocol simulates. Node judges the derivation. */
import { hkdfSync } from "node:crypto";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { build } from "esbuild";
import { type Browser, type CDPSession, chromium, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { programMissing } from "../support/environment.ts";
import { ROOT } from "../support/repository/source-files.ts";
import { serveFolder } from "./serve-folder.ts";

const CHROMIUM = "/usr/bin/chromium";
/** A phone's or a laptop's own authenticator, with a user who confirms everything. */
const DEVICE = {
  protocol: "ctap2",
  ctap2Version: "ctap2_1",
  transport: "internal",
  hasResidentKey: true,
  hasUserVerification: true,
  hasPrf: true,
  isUserVerified: true,
  automaticPresenceSimulation: true,
} as const;
const NEW = { rpName: "Example Wallet", userName: "ada@example.com" };
const INPUT = "threshold-signing-service/passkey/v1";
const SEED_LABEL = "threshold-signing-service/passkey-seed/v1";

/** What the page's function `outcomeOf` returns. */
interface Outcome {
  /** The result, with bytes as hex. */
  readonly result?: {
    readonly seed: string;
    readonly credentialId: string;
    readonly [name: string]: unknown;
  };
  readonly failure?: { readonly name: string; readonly reason: string; readonly [name: string]: unknown };
}

if (!existsSync(CHROMIUM)) programMissing("Chromium (Debian: chromium)", "passkeys in a browser");
else {
  const folder = mkdtempSync(path.join(tmpdir(), "tss-passkey-"));
  let browser: Browser;
  let server: Awaited<ReturnType<typeof serveFolder>>;
  let page: Page;
  let devices: CDPSession;
  let logged: string[];

  beforeAll(async () => {
    await build({
      entryPoints: [path.join(ROOT, "src/client/seed/passkey/index.ts")],
      bundle: true,
      format: "iife",
      globalName: "passkeys",
      footer: { js: PAGE },
      outfile: path.join(folder, "page.js"),
      logLevel: "error",
    });
    writeFileSync(
      path.join(folder, "index.html"),
      '<!doctype html><meta charset="utf-8"><title>page</title><link rel="icon" href="data:,"><script src="./page.js"></script>',
    );
    server = await serveFolder(folder);
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
  });
  afterAll(async () => {
    await browser?.close();
    server?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  beforeEach(async () => {
    page = await browser.newPage();
    logged = [];
    page.on("console", (message) => logged.push(message.text()));
    devices = await page.context().newCDPSession(page);
    await devices.send("WebAuthn.enable");
    await open("wallet.localhost");
  });
  afterEach(async () => {
    await page.close();
  });

  /** Opens a new page of a domain. The authenticators stay. */
  const open = async (domain: string): Promise<void> => {
    const { port } = new URL(server.url);
    await page.goto(`http://${domain}:${port}/`);
  };
  const addDevice = async (options: Partial<Record<keyof typeof DEVICE, unknown>> = {}): Promise<string> => {
    const device = { ...DEVICE, ...options } as typeof DEVICE;
    return (await devices.send("WebAuthn.addVirtualAuthenticator", { options: device })).authenticatorId;
  };
  const removeDevice = async (authenticatorId: string): Promise<void> => {
    await devices.send("WebAuthn.removeVirtualAuthenticator", { authenticatorId });
  };
  const passkeysOn = async (authenticatorId: string): Promise<unknown[]> =>
    (await devices.send("WebAuthn.getCredentials", { authenticatorId })).credentials;
  /** Calls a function of the entry in the page. */
  const call = async (name: string, args: object = {}): Promise<Outcome> =>
    await page.evaluate(`outcomeOf(${JSON.stringify(name)}, ${JSON.stringify(args)})`);
  const create = async (args: object = {}): Promise<NonNullable<Outcome["result"]>> => {
    const { result, failure } = await call("createPasskey", { ...NEW, ...args });
    expect(failure).toBeUndefined();
    return result!;
  };
  const seedOf = async (args: object = {}): Promise<string> => {
    const { result, failure } = await call("seedFromPasskey", args);
    expect(failure).toBeUndefined();
    return result!.seed;
  };
  /** The value of the passkey's function, read without the code under test. */
  const valueOfPasskey = async (): Promise<Buffer> =>
    Buffer.from(await page.evaluate<string>(`rawValue(${JSON.stringify(INPUT)})`), "hex");

  describe("a passkey's seed", () => {
    test("is the same in a page that is opened later, and the one that Node derives from the passkey's value", async () => {
      await addDevice();
      expect(await call("passkeySupport")).toMatchObject({
        result: { prf: "supported", hasPlatformAuthenticator: true },
      });
      const passkey = await create();
      expect(passkey).toMatchObject({ transports: ["internal"], isSyncable: false });
      const seed = await seedOf({ passkeys: [passkey] });
      expect(seed).toMatch(/^[0-9a-f]{64}$/);
      await open("wallet.localhost");
      expect(await seedOf()).toBe(seed);
      const derived = hkdfSync("sha256", await valueOfPasskey(), SEED_LABEL, "", 32);
      expect(seed).toBe(Buffer.from(derived).toString("hex"));
      expect(logged).toEqual([]);
    });

    test("is another one for another passkey, and for a passkey of another domain", async () => {
      const device = await addDevice();
      const passkeys = [await create(), await create()];
      expect(await passkeysOn(device)).toHaveLength(2);
      const seeds = [];
      for (const passkey of passkeys) seeds.push(await seedOf({ passkeys: [passkey] }));
      await open("other.localhost");
      await create();
      seeds.push(await seedOf());
      expect(new Set(seeds).size).toBe(3);
    });

    test("stays when a second passkey of the account is created on the same device", async () => {
      await addDevice();
      const first = await create();
      const seed = await seedOf({ passkeys: [first] });
      await create();
      expect(await seedOf({ passkeys: [first] })).toBe(seed);
    });
  });

  describe("a device", () => {
    test("without the extension is refused by name, and keeps no useless passkey", async () => {
      const device = await addDevice({ hasPrf: false });
      expect(await call("createPasskey", NEW)).toMatchObject({
        failure: { name: "TssError", reason: "PASSKEY_WITHOUT_PRF" },
      });
      expect(await passkeysOn(device)).toEqual([]);
    });

    test("whose user is not verified gives neither a passkey nor a seed", async () => {
      const device = await addDevice();
      await create();
      await devices.send("WebAuthn.setUserVerified", { authenticatorId: device, isUserVerified: false });
      expect(await call("createPasskey", NEW)).toMatchObject({ failure: { reason: "PASSKEY_REFUSED" } });
      expect(await call("seedFromPasskey")).toMatchObject({ failure: { reason: "PASSKEY_REFUSED" } });
    });

    test("whose passkey was removed gives no seed", async () => {
      const device = await addDevice();
      const passkey = await create();
      await devices.send("WebAuthn.clearCredentials", { authenticatorId: device });
      expect(await call("seedFromPasskey", { passkeys: [passkey] })).toMatchObject({
        failure: { reason: "PASSKEY_REFUSED" },
      });
    });

    test("with an excluded passkey gets no second one", async () => {
      await addDevice();
      const first = await create();
      expect(await call("createPasskey", { ...NEW, excluded: [first] })).toMatchObject({
        failure: { reason: "PASSKEY_EXISTS" },
      });
    });

    test("that waits for its user is left at the caller's signal, with the signal's reason", async () => {
      await addDevice();
      await create();
      await addDevice({ transport: "usb", automaticPresenceSimulation: false });
      expect(
        await call("createPasskey", {
          ...NEW,
          abortAfterStart: true,
          authenticatorAttachment: "cross-platform",
        }),
      ).toMatchObject({
        failure: { reason: "ABORTED", cause: "the user left" },
      });
    });
  });

  describe("a second passkey", () => {
    test("on another device opens the first one's seed, and alone it has another seed", async () => {
      const phone = await addDevice();
      const first = await create();
      const seed = await seedOf({ passkeys: [first] });
      const key = await addDevice({ transport: "usb" });
      const second = await create({ authenticatorAttachment: "cross-platform", excluded: [first] });
      expect(await passkeysOn(key)).toHaveLength(1);
      const { result } = await call("wrapSeed", { seed, passkey: second });
      const wrappedSeed = String(result);
      expect(wrappedSeed.length).toBeLessThan(200);
      expect(await call("unwrapSeed", { wrappedSeed })).toMatchObject({ result: { seed, isWrapped: true } });

      await removeDevice(phone);
      await open("wallet.localhost");
      const args = { passkeys: [first], wrappedSeeds: [wrappedSeed] };
      expect(await call("seedFromPasskey", args)).toMatchObject({ result: { seed, isWrapped: true } });
      expect(await seedOf()).not.toBe(seed);
      expect(logged).toEqual([]);
    });
  });

  describe("a hostile page", () => {
    test("of another domain can neither ask for the passkey nor open a wrapped seed", async () => {
      await addDevice();
      const passkey = await create();
      const seed = await seedOf();
      const { result: wrappedSeed } = await call("wrapSeed", { seed, passkey });
      await open("evil.localhost");
      for (const args of [{ passkeys: [passkey] }, {}])
        expect(await call("seedFromPasskey", args)).toMatchObject({ failure: { reason: "PASSKEY_REFUSED" } });
      expect(await call("seedFromPasskey", { rpId: "wallet.localhost" })).toMatchObject({
        failure: { reason: "VALIDATION", metadata: { field: "rpId" } },
      });
      expect(await call("unwrapSeed", { wrappedSeed })).toMatchObject({
        failure: { reason: "PASSKEY_REFUSED" },
      });
    });

    test("of a subdomain gets the seed if the user confirms, and nothing otherwise", async () => {
      const device = await addDevice();
      await create();
      const seed = await seedOf();
      await open("blog.wallet.localhost");
      const args = { rpId: "wallet.localhost" };
      expect(await seedOf(args)).toBe(seed);
      await devices.send("WebAuthn.setUserVerified", { authenticatorId: device, isUserVerified: false });
      expect(await call("seedFromPasskey", args)).toMatchObject({ failure: { reason: "PASSKEY_REFUSED" } });
    });
  });
}

/** The page's own functions, which turn bytes into hex and errors into plain data. */
const PAGE = `
  const toHex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const fromHex = (hex) => Uint8Array.from(hex.match(/../g), (byte) => parseInt(byte, 16));
  const plain = (_, value) => (value instanceof Uint8Array ? toHex(value) : value);
  window.outcomeOf = async (name, { seed, abortAfterStart, ...args }) => {
    const controller = new AbortController();
    try {
      const running = passkeys[name](
        seed === undefined ? args : { ...args, seed: fromHex(seed) },
        { signal: controller.signal },
      );
      if (abortAfterStart) controller.abort("the user left");
      return JSON.parse(JSON.stringify({ result: await running }, plain));
    } catch (error) {
      const { name, reason, message, metadata, cause } = error;
      return { failure: { name, reason, message, metadata, cause: String(cause) } };
    }
  };
  window.rawValue = async (input) => {
    const credential = await navigator.credentials.get({
      publicKey: {
        challenge: new Uint8Array(32),
        userVerification: "required",
        extensions: { prf: { eval: { first: new TextEncoder().encode(input) } } },
      },
    });
    return toHex(new Uint8Array(credential.getClientExtensionResults().prf.results.first));
  };
`;
