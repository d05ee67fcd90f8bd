/** The page of `examples/web`, built and served as its README says, and used in Chromium as a person would. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { fromBase58 } from "@mysten/sui/utils";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startThrowawayService, type ThrowawayService } from "../../src/cli/demo/throwaway-service.ts";
import { createClient } from "../../src/client/sdk/index.ts";
import { isValidSignature } from "../support/crypto/signature-verifiers.ts";
import { programEnvironment, programMissing } from "../support/environment.ts";
import { documentedCommands } from "../support/repository/documented-commands.ts";
import { ROOT } from "../support/repository/source-files.ts";

const CHROMIUM = "/usr/bin/chromium";
const EDDSA = { signatureAlgorithm: "EdDSA", hash: "SHA512" } as const;
let service: ThrowawayService;
let preview: ChildProcess;
let browser: Browser;
let url: string;
let page: Page;
let seenUrls: string[];
let faults: string[];

if (!existsSync(CHROMIUM)) programMissing("Chromium (Debian: chromium)", "the example web");

describe.skipIf(!existsSync(CHROMIUM))("the example web", () => {
  beforeAll(async () => {
    const commands = documentedCommands("examples/web/README.md").map(({ text }) => text.split(" "));
    const [build, serve] = commands.filter(([npx, program]) => npx === "npx" && program === "vite");
    const vite = path.join(ROOT, "node_modules/.bin/vite");
    const environment = { cwd: ROOT, env: { ...programEnvironment, NO_COLOR: "1" } };
    execFileSync(vite, build!.slice(2), { ...environment, stdio: "pipe" });
    preview = spawn(vite, serve!.slice(2), { ...environment, stdio: ["ignore", "pipe", "inherit"] });
    url = await printedUrl(preview);
    service = await startThrowawayService({ PRESIGN_BUCKETS: "ED25519/EdDSA" });
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
  });
  afterAll(async () => {
    await browser?.close();
    preview?.kill();
    await service?.stop();
  });
  beforeEach(async () => {
    seenUrls = [];
    faults = [];
    page = await browser.newPage();
    page.setDefaultTimeout(100_000);
    page.on("request", (request) => void seenUrls.push(request.url()));
    page.on("pageerror", (error) => void faults.push(String(error)));
    page.on("console", (line) => {
      if (line.text().includes("Content Security Policy")) faults.push(line.text());
    });
    await page.goto(url);
    await page.getByLabel("Service").fill(service.access.baseUrl);
  });
  afterEach(async () => {
    await page.close();
    expect(faults).toEqual([]);
    expect(seenUrls.filter((seen) => seen.includes(service.access.apiKey))).toEqual([]);
  });

  it("creates a key on a worker, signs with it, and shows the seed only to the user", async () => {
    const worker = page.waitForEvent("worker");
    await page.getByLabel("API key").fill(service.access.apiKey);
    await page.getByRole("button", { name: "Make a seed" }).click();
    await page.getByRole("button", { name: "Make a key and sign" }).click();
    await page.getByRole("alert").filter({ hasText: "Download the seed first." }).waitFor();
    const seed = await makeSeed();
    expect(seed).toMatch(/^[0-9a-f]{64}$/);
    await page.getByLabel("Message").fill("signed in the example");
    await page.getByLabel("API key").press("Enter");
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
    await page.getByLabel("API key").fill(service.access.apiKey);
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
    await page.getByLabel("API key").fill(service.access.apiKey);
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

  it("reports a wrong API key, and stores nothing to resume", async () => {
    await page.getByLabel("API key").fill(`${service.access.apiKey.slice(0, -4)}aaaa`);
    await makeSeed();
    await page.getByRole("button", { name: "Make a key and sign" }).click();
    const alert = page.getByRole("alert").filter({ hasText: "(INVALID_KEY: " });
    await alert.waitFor();
    expect(await alert.textContent()).toContain("The service does not know this API key.");
    expect(await page.evaluate("Object.keys(localStorage)")).toEqual([]);
  });
});

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

/** Returns the URL that the program prints. Rejects if the program ends first. */
async function printedUrl(program: ChildProcess): Promise<string> {
  const exited = once(program, "exit").then(([code]) => {
    throw new Error(`the preview ended with ${code}`);
  });
  const found = new Promise<string>((resolve) => {
    createInterface({ input: program.stdout! }).on("line", (line) => {
      const [printed] = /http:\/\/\S+/.exec(line) ?? [];
      if (printed !== undefined) resolve(printed);
    });
  });
  return await Promise.race([found, exited]);
}
