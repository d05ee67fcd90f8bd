/** The page and the backend of `examples/web`, started as their README says, and used in Chromium as a person would. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { fromBase58 } from "@mysten/sui/utils";
import { type Browser, chromium, type Page, type Request, type Response } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startThrowawayService, type ThrowawayService } from "../../src/cli/demo/throwaway-service.ts";
import { openDeviceKey } from "../../src/client/sdk/device-key.ts";
import {
  Curve,
  createClient,
  Hash,
  type SessionSource,
  type SessionToken,
  SignatureAlgorithm,
  type TssClient,
} from "../../src/client/sdk/index.ts";
import { isValidSignature } from "../support/crypto/signature-verifiers.ts";
import { programEnvironment, programMissing } from "../support/environment.ts";
import { documentedCommands } from "../support/repository/documented-commands.ts";
import { ROOT } from "../support/repository/source-files.ts";

const CHROMIUM = "/usr/bin/chromium";
const EDDSA = { signatureAlgorithm: "EdDSA", hash: "SHA512" } as const;
const folder = mkdtempSync(path.join(tmpdir(), "tss-example-web-"));
let service: ThrowawayService;
let backend: ChildProcess;
let browser: Browser;
let url: string;
let page: Page;
/** What the page sent and received. */
let traffic: Promise<string>[];
let faults: string[];

if (!existsSync(CHROMIUM)) programMissing("Chromium (Debian: chromium)", "the example web");

describe.skipIf(!existsSync(CHROMIUM))("the example web", () => {
  beforeAll(async () => {
    service = await startThrowawayService({ PRESIGN_BUCKETS: "ED25519/EdDSA" });
    mkdirSync(path.join(folder, ".data"));
    writeFileSync(path.join(folder, ".data/dev.json"), JSON.stringify(service.access));
    const commands = documentedCommands("examples/web/README.md").map(({ text }) => text.split(" "));
    const [, , program] = commands.find(([npx, tsx]) => npx === "npx" && tsx === "tsx")!;
    backend = spawn(path.join(ROOT, "node_modules/.bin/tsx"), [path.join(ROOT, program!)], {
      cwd: folder,
      env: { ...programEnvironment, NO_COLOR: "1", PORT: "0" },
      stdio: ["ignore", "pipe", "inherit"],
    });
    url = await printedUrl(backend);
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
  });
  afterAll(async () => {
    await browser?.close();
    backend?.kill();
    await service?.stop();
    rmSync(folder, { recursive: true });
  });
  beforeEach(async () => {
    traffic = [];
    faults = [];
    page = await browser.newPage();
    page.setDefaultTimeout(100_000);
    page.context().on("request", (request) => void traffic.push(sentBy(request)));
    page.context().on("response", (response) => void traffic.push(receivedBy(response)));
    page.on("pageerror", (error) => void faults.push(String(error)));
    page.on("console", (line) => {
      if (line.text().includes("Content Security Policy")) faults.push(line.text());
    });
    await page.goto(url);
    await signIn("alice");
  });
  afterEach(async () => {
    await page.close();
    expect(faults).toEqual([]);
    expect(keysIn(await Promise.all(traffic))).toEqual([]);
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
    expect(await fact("message")).toBe("signed in the example");
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
    const address = await fact("solana address");
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
    expect(await fact("solana address")).toBe(address);
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
    await fact("signature");
    const [token = ""] = /tss_session_[\w-]+/.exec((await Promise.all(traffic)).join("\n")) ?? [];
    const stored = [
      await page.content(),
      await page.evaluate<string>("JSON.stringify([localStorage, sessionStorage])"),
      await page.evaluate<string>(READ_DATABASES),
      JSON.stringify(await page.context().cookies()),
    ];
    expect(keysIn(stored)).toEqual([]);
    // The search finds what the page does hold.
    expect(stored.join("\n")).toContain("CryptoKey");
    const memory = await readMemory();
    expect(memory).toContain(token);
    expect(keysIn([memory])).toEqual([]);

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
    await page.unroute(submit);
    const requests = await signRequestIds();
    await page.getByRole("button", { name: "Sign out" }).click();
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
    expect(await ask(own, { proofKeyThumbprint })).toEqual([200, ["token", "expireTime"]]);
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

/** Returns those secrets of the project and the operator, with or without their prefix, that are in a text. */
function keysIn(texts: readonly string[]): string[] {
  const { apiKey, adminApiKey } = service.access;
  const secrets = [apiKey, adminApiKey].map((key) => key.replace(/^tss_[a-z]+_/, ""));
  expect(secrets.every((secret) => secret.length >= 32)).toBe(true);
  return secrets.filter((secret) => texts.some((text) => text.includes(secret)));
}

async function sentBy(request: Request): Promise<string> {
  const body = request.postDataBuffer()?.toString("latin1") ?? "";
  return `${request.url()}\n${JSON.stringify(await request.allHeaders())}\n${body}`;
}

/** Returns the head and the body of a reply; the head alone if the page has left the reply. */
async function receivedBy(response: Response): Promise<string> {
  const body = await response.body().catch(() => Buffer.alloc(0));
  return `${JSON.stringify(await response.allHeaders())}\n${body.toString("latin1")}`;
}

/** Returns all strings of the page's heap, as Chromium's own snapshot has them. */
async function readMemory(): Promise<string> {
  const devtools = await page.context().newCDPSession(page);
  const chunks: string[] = [];
  devtools.on("HeapProfiler.addHeapSnapshotChunk", ({ chunk }) => void chunks.push(chunk));
  await devtools.send("HeapProfiler.takeHeapSnapshot");
  return chunks.join("");
}

/** Runs in the page. Returns the names, keys and values of all its databases. */
const READ_DATABASES = `(async () => {
  const settled = (request) => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  const found = [];
  for (const { name } of await indexedDB.databases()) {
    const database = await settled(indexedDB.open(name));
    for (const store of database.objectStoreNames) {
      const values = database.transaction(store).objectStore(store);
      const [keys, all] = [settled(values.getAllKeys()), settled(values.getAll())];
      found.push(name, store, await keys, await all);
    }
    database.close();
  }
  return JSON.stringify(found, (_, value) => (value instanceof CryptoKey ? String(value) : value));
})()`;

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
  const signature = Buffer.from(await fact("signature"), "hex");
  const publicKey = fromBase58(await fact("solana address"));
  const message = new TextEncoder().encode(text);
  expect(isValidSignature({ ...EDDSA, publicKey, message, signature })).toBe(true);
}

/** Waits until the page shows a value under this name, or an error. */
async function fact(name: string): Promise<string> {
  const value = page.locator(`dt:text-is("${name}") + dd`);
  const alert = page.getByRole("alert").filter({ hasText: /./ });
  await value.or(alert).first().waitFor();
  expect(await alert.allTextContents()).toEqual([]);
  return (await value.textContent()) ?? "";
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

/** Returns the URL that the program prints. Rejects if the program ends first. */
async function printedUrl(program: ChildProcess): Promise<string> {
  const exited = once(program, "exit").then(([code]) => {
    throw new Error(`the backend ended with ${code}`);
  });
  const found = new Promise<string>((resolve) => {
    createInterface({ input: program.stdout! }).on("line", (line) => {
      const [printed] = /http:\/\/\S+/.exec(line) ?? [];
      if (printed !== undefined) resolve(printed);
    });
  });
  return await Promise.race([found, exited]);
}
