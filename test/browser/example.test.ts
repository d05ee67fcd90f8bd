/** The page and the backend of `examples/web`, started as their README says, and used in Chromium as a person would. */
import { existsSync, readFileSync } from "node:fs";
import { fromBase58 } from "@mysten/sui/utils";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  Curve,
  createClient,
  Hash,
  type SessionSource,
  type SessionToken,
  SignatureAlgorithm,
  type TssClient,
} from "../../src/client/sdk/index.ts";
import { openDeviceKey } from "../../src/client/sdk/sessions/device-key.ts";
import { isValidSignature } from "../support/crypto/signature-verifiers.ts";
import { migratedFolder } from "../support/database/migrated-folder.ts";
import { programMissing } from "../support/environment.ts";
import { type ServiceProcess, startService } from "../support/service/service.ts";
import {
  type ExampleProgram,
  factOn,
  keysIn,
  readDatabases,
  readMemory,
  startExampleProgram,
  type Visit,
  visit,
} from "./example-page.ts";

const CHROMIUM = "/usr/bin/chromium";
const EDDSA = { signatureAlgorithm: "EdDSA", hash: "SHA512" } as const;
const { folder, remove } = await migratedFolder();
let service: ServiceProcess;
let backend: ExampleProgram;
let browser: Browser;
let url: string;
let page: Page;
let visited: Visit;

if (!existsSync(CHROMIUM)) programMissing("Chromium (Debian: chromium)", "the example web");

describe.skipIf(!existsSync(CHROMIUM))("the example web", () => {
  beforeAll(async () => {
    service = await startService(folder, { PRESIGN_BUCKETS: "ED25519/EdDSA" });
    backend = await startExampleProgram("examples/web/README.md", service.access);
    url = backend.url;
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
  });
  afterAll(async () => {
    await browser?.close();
    backend?.stop();
    await service?.stop();
    remove();
  });
  beforeEach(async () => {
    page = await browser.newPage();
    visited = visit(page);
    await page.goto(url);
    await signIn("alice");
  });
  afterEach(async () => {
    await page.close();
    expect(visited.faults).toEqual([]);
    expect(keysIn(await visited.traffic(), service.access)).toEqual([]);
  });

  it("creates a key on a worker, signs with it, and shows the seed only to the user", async () => {
    const worker = page.waitForEvent("worker");
    await page.getByRole("button", { name: "Make a seed" }).click();
    await page.getByRole("button", { name: "Make a key and sign" }).click();
    await page.getByRole("alert").filter({ hasText: "Download the seed first." }).waitFor();
    const seed = await makeSeed();
    expect(seed).toMatch(/^[0-9a-f]{64}$/);
    await page.getByLabel("Message").fill("signed in the example");
    await page.getByLabel("Service").press("Enter");
    await expectSigned("signed in the example");
    expect((await worker).url()).toMatch(/^blob:/);
    expect(await page.getByRole("status").textContent()).toBe("Done. The signature is verified.");
    const progress = page.getByRole("progressbar");
    expect(await progress.getAttribute("value")).toBe(await progress.getAttribute("max"));
    expect(await page.evaluate("Object.keys(localStorage)")).toEqual([]);
    expect(await factOn(page, "message")).toBe("signed in the example");
    await page.getByLabel("Message").fill("another message, which is not signed");
    expect(await page.getByRole("status").textContent()).toBe("Nothing in progress.");
    expect(await page.getByRole("heading", { name: "Result" }).isVisible()).toBe(false);
  });

  it("cancels before the half is submitted, and completes the same signature after a reload", async () => {
    const seed = await makeSeed();
    await page.getByLabel("Message").fill("resumed in the example");
    const submit = "**/tss.v1.Signing/SubmitSign";
    // The request is held and never continues.
    const held = new Promise<void>((resolve) => void page.route(submit, () => resolve()));
    await page.getByRole("button", { name: "Make a key and sign" }).click();
    await held;
    expect(await page.getByRole("status").textContent()).toBe("The signature: submit");
    const address = await factOn(page, "solana address");
    const before = await signRequestIds();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("alert").filter({ hasText: "(ABORTED: " }).waitFor();
    expect(await page.getByRole("progressbar").getAttribute("value")).toBe("0");

    const kept: string = await page.evaluate("JSON.stringify(localStorage)");
    expect(kept).toContain("resume_");
    expect(kept).not.toContain(seed);
    expect(kept).not.toContain(service.access.apiKey);

    await page.unroute(submit);
    await page.reload();
    expect(await page.getByLabel("Seed", { exact: true }).inputValue()).toBe("");
    await page.getByLabel("Seed", { exact: true }).fill(seed);
    expect(await page.getByLabel("Message").isEditable()).toBe(false);
    expect(await page.getByLabel("Message").inputValue()).toBe("resumed in the example");
    await page.getByLabel("Service").fill("http://127.0.0.1:1");
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByRole("alert").filter({ hasText: "(UNREACHABLE: " }).waitFor();
    await page.getByLabel("Service").fill(service.access.baseUrl);
    expect(await page.locator("#failure").textContent()).toBe("");
    await page.getByRole("button", { name: "Resume" }).click();
    await expectSigned("resumed in the example");
    expect(await factOn(page, "solana address")).toBe(address);
    expect(await signRequestIds()).toEqual(before);
    expect(await page.getByRole("button", { name: "Resume" }).isVisible()).toBe(false);
  });

  it("reports that the user was signed out, and continues after the user has signed in", async () => {
    await page.context().clearCookies();
    const seed = await makeSeed();
    await page.getByRole("button", { name: "Make a key and sign" }).click();
    const alert = page.getByRole("alert").filter({ hasText: "(SESSION_UNAVAILABLE: " });
    await alert.waitFor();
    expect(await alert.textContent()).toContain("the page's backend answered 401 SIGNED_OUT");
    await page.reload();
    await signIn("alice");
    await page.getByLabel("Seed", { exact: true }).fill(seed);
    await page.getByRole("button", { name: "Resume" }).click();
    await expectSigned("hello");
  });

  it("has the project's key neither in its memory, nor in its storage, nor in its traffic", async () => {
    await makeSeed();
    await page.getByRole("button", { name: "Make a key and sign" }).click();
    await factOn(page, "signature");
    const [token = ""] = /tss_session_[\w-]+/.exec((await visited.traffic()).join("\n")) ?? [];
    const stored = [
      await page.content(),
      await page.evaluate<string>("JSON.stringify([localStorage, sessionStorage])"),
      await readDatabases(page),
      JSON.stringify(await page.context().cookies()),
    ];
    expect(keysIn(stored, service.access)).toEqual([]);
    // The search finds what the page does hold.
    expect(stored.join("\n")).toContain("CryptoKey");
    const memory = await readMemory(page);
    expect(memory).toContain(token);
    expect(keysIn([memory], service.access)).toEqual([]);

    const { baseUrl, network } = service.access;
    const thief = createClient({ baseUrl, network, session: async () => token, deviceKey: false });
    await expect(thief.account()).rejects.toMatchObject({ reason: "PROOF_INVALID" });
  });

  it("gives a user neither the key nor the interrupted signature of another user", async () => {
    const seed = await makeSeed();
    const submit = "**/tss.v1.Signing/SubmitSign";
    const held = new Promise<void>((resolve) => void page.route(submit, () => resolve()));
    await page.getByRole("button", { name: "Make a key and sign" }).click();
    await held;
    const requests = await signRequestIds();
    await page.getByRole("button", { name: "Sign out" }).click();
    // Not earlier, because that may let the held call go on, and the signature then ends.
    await page.unroute(submit);
    await signIn("bob");
    const resume = page.getByRole("button", { name: "Resume" });
    expect(await resume.isVisible()).toBe(false);
    await page.evaluate(
      "localStorage.setItem('threshold-signing-task bob', localStorage.getItem('threshold-signing-task alice'))",
    );
    await page.reload();
    await page.getByLabel("Seed", { exact: true }).fill(seed);
    await resume.click();
    const alert = page.getByRole("alert").filter({ hasText: /./ });
    expect(await alert.textContent()).toContain("(SIGN_REQUEST_NOT_FOUND: ");

    const bob = await clientOfPageUser();
    const dwalletId = await newestDWalletId();
    const secrets = { seed: new Uint8Array(Buffer.from(seed, "hex")), message: new Uint8Array([1]) };
    const algorithm = {
      ...{ curve: Curve.ED25519, signatureAlgorithm: SignatureAlgorithm.EdDSA, hashScheme: Hash.SHA512 },
    };
    const refused = { reason: "DWALLET_NOT_FOUND" };
    await expect(bob.getDWallet({ dwalletId })).rejects.toMatchObject(refused);
    await expect(bob.sign({ ...secrets, ...algorithm, dwalletId })).rejects.toMatchObject(refused);
    expect(await signRequestIds()).toEqual(requests);
    await page.getByRole("button", { name: "Sign out" }).click();
    await signIn("alice");
    await page.getByLabel("Seed", { exact: true }).fill(seed);
    await resume.click();
    await expectSigned("hello");
    expect(await signRequestIds()).toEqual(requests);
  });

  it("gets sessions only for a user who is signed in, from its own origin and for a device", async () => {
    const [cookie] = await page.context().cookies();
    const own = { origin: new URL(url).origin, cookie: `${cookie!.name}=${cookie!.value}` };
    const proofKeyThumbprint = "A".repeat(43);
    const ask = async (headers: Record<string, string>, body: object) => {
      const reply = await fetch(new URL("/session", url), {
        ...{ method: "POST", headers, body: JSON.stringify(body) },
      });
      return [reply.status, Object.keys((await reply.json()) as object)];
    };
    expect(await ask(own, { proofKeyThumbprint })).toEqual([200, ["token", "expireTime", "userReference"]]);
    expect(await ask(own, {})).toEqual([400, ["reason"]]);
    expect(await ask({ ...own, cookie: "example-login=0" }, { proofKeyThumbprint })).toEqual([
      401,
      ["reason"],
    ]);
    expect(await ask({ ...own, origin: "http://127.0.0.1:1" }, { proofKeyThumbprint })).toEqual([
      403,
      ["reason"],
    ]);
    expect(await page.evaluate("document.cookie")).toBe("");
  });
});

async function signIn(user: string): Promise<void> {
  await page.getByRole("button", { name: "Sign in" }).waitFor();
  await page.getByLabel("User").selectOption(user);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByLabel("Service").waitFor();
}

/** Makes a seed unless the page has one, downloads it, and returns it. */
async function makeSeed(): Promise<string> {
  const make = page.getByRole("button", { name: "Make a seed" });
  if (await make.isEnabled()) await make.click();
  const seed = await page.getByLabel("Seed", { exact: true }).inputValue();
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download the seed" }).click();
  expect(readFileSync(await (await download).path(), "utf8")).toBe(seed);
  return seed;
}

/** Expects a signature on the page that OpenSSL accepts for the message under the key of the page's address. */
async function expectSigned(text: string): Promise<void> {
  const signature = Buffer.from(await factOn(page, "signature"), "hex");
  const publicKey = fromBase58(await factOn(page, "solana address"));
  const message = new TextEncoder().encode(text);
  expect(isValidSignature({ ...EDDSA, publicKey, message, signature })).toBe(true);
}

/** Returns the project's sign requests from the service. */
async function signRequestIds(): Promise<string[]> {
  const { baseUrl, apiKey, network } = service.access;
  const ids: string[] = [];
  const client = createClient({ baseUrl, apiKey, network });
  for await (const { signRequestId } of client.listSigns()) ids.push(signRequestId);
  return ids;
}

async function newestDWalletId(): Promise<string> {
  const { baseUrl, apiKey, network } = service.access;
  for await (const { dwalletId } of createClient({ baseUrl, apiKey, network }).listDWallets())
    return dwalletId;
  throw new Error("the project has no dWallet");
}

/** Returns a client outside the page with sessions of the page's user, and with its own device key. */
async function clientOfPageUser(): Promise<TssClient> {
  const { baseUrl, network } = service.access;
  const [cookie] = await page.context().cookies();
  const headers = { origin: new URL(url).origin, cookie: `${cookie!.name}=${cookie!.value}` };
  const session: SessionSource = async (request) => {
    const reply = await fetch(new URL("/session", url), {
      ...{ method: "POST", headers, body: JSON.stringify(request) },
    });
    return (await reply.json()) as SessionToken;
  };
  return createClient({ baseUrl, network, session, deviceKey: await openDeviceKey() });
}
