/** The page of `examples/react`, started as its README says, and used in Chromium as a person would. */
import { existsSync } from "node:fs";
import { fromBase58 } from "@mysten/sui/utils";
import { type Browser, chromium, type Page, type Route } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createClient, type TssClient } from "../../src/client/sdk/index.ts";
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
const SUBMIT = "**/tss.v1.Signing/SubmitSign";
const { folder, remove } = await migratedFolder();
let service: ServiceProcess;
let program: ExampleProgram;
let browser: Browser;
let page: Page;
let visited: Visit;

if (!existsSync(CHROMIUM)) programMissing("Chromium (Debian: chromium)", "the example react");

describe.skipIf(!existsSync(CHROMIUM))("the example react", () => {
  beforeAll(async () => {
    service = await startService(folder, { PRESIGN_BUCKETS: "ED25519/EdDSA" });
    program = await startExampleProgram("examples/react/README.md", service.access);
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
  });
  afterAll(async () => {
    await browser?.close();
    program?.stop();
    await service?.stop();
    remove();
  });
  beforeEach(async () => {
    page = await browser.newPage();
    visited = visit(page);
    await page.goto(program.url);
    await page.getByRole("button", { name: "Sign in" }).click();
  });
  afterEach(async () => {
    await page.close();
    expect(visited.faults).toEqual([]);
    expect(keysIn(await visited.traffic(), service.access)).toEqual([]);
  });

  it("makes a key, finds it again after a reload, and signs, with the SDK's stages and one charge for a double click", async () => {
    const seed = await makeKey();
    const address = await factOn(page, "solana address");
    expect(await factOn(page, "state")).toBe("active");
    const requests = await signRequestCount();
    await openForm("signed in React");
    const stages = await watchStages();
    const sign = page.getByRole("button", { name: "Sign", exact: true });
    await sign.evaluate((button: HTMLElement) => {
      button.click();
      button.click();
    });
    await expectSigned("signed in React");
    expect(await stages()).toEqual(expect.arrayContaining(["share", "reserve", "compute", "submit"]));
    expect(await signRequestCount()).toBe(requests + 1);

    await page.reload();
    await page.getByLabel("Seed", { exact: true }).fill(seed);
    await page.getByRole("button", { name: "Make or find the key" }).click();
    expect(await factOn(page, "solana address")).toBe(address);
  });

  it("aborts a signature whose form is closed, and resumes it in the next form for one charge", async () => {
    await makeKey();
    await openForm("resumed in React");
    const requests = await signRequestCount();
    const held = new Promise<void>((resolve) => void page.route(SUBMIT, () => resolve()));
    await page.getByRole("button", { name: "Sign", exact: true }).click();
    await held;
    const aborted = page.waitForEvent("requestfailed", (request) => request.url().endsWith("/SubmitSign"));
    await page.getByRole("button", { name: "Close" }).click();
    expect((await aborted).failure()?.errorText).toBe("net::ERR_ABORTED");
    await page.unroute(SUBMIT);
    await page.getByRole("button", { name: "Sign a message" }).click();
    expect(await page.getByLabel("Message").isEditable()).toBe(false);
    await page.getByRole("button", { name: "Resume" }).click();
    await expectSigned("resumed in React");
    expect(await signRequestCount()).toBe(requests + 1);
  });

  it("resumes a signature for one charge after the key's section was gone while it ran", async () => {
    await makeKey();
    await openForm("resumed after another look");
    const requests = await signRequestCount();
    const held = new Promise<void>((resolve) => void page.route(SUBMIT, () => resolve()));
    await page.getByRole("button", { name: "Sign", exact: true }).click();
    await held;
    const aborted = page.waitForEvent("requestfailed", (request) => request.url().endsWith("/SubmitSign"));
    await page.getByRole("button", { name: "Make or find the key" }).click();
    await aborted;
    await page.unroute(SUBMIT);
    await page.getByRole("button", { name: "Sign a message" }).click();
    expect(await page.getByLabel("Message").inputValue()).toBe("resumed after another look");
    await page.getByRole("button", { name: "Resume" }).click();
    await expectSigned("resumed after another look");
    expect(await signRequestCount()).toBe(requests + 1);
  });

  it("lets the user sign another message after the service has refused one for good", async () => {
    await makeKey();
    await openForm("refused in React");
    const held = new Promise<Route>((resolve) => void page.route(SUBMIT, resolve, { times: 1 }));
    await page.getByRole("button", { name: "Sign", exact: true }).click();
    const submit = await held;
    await projectClient().users.freeze({ reference: "alice" });
    await submit.continue();
    await page.getByRole("alert").filter({ hasText: "(USER_FROZEN: " }).waitFor();
    expect(await page.getByRole("button", { name: "Resume" }).count()).toBe(0);
    await projectClient().users.unfreeze({ reference: "alice" });
    await page.getByLabel("Message").fill("signed after the refusal");
    await page.getByRole("button", { name: "Sign", exact: true }).click();
    await expectSigned("signed after the refusal");
  });

  it("keeps an interrupted signature while the seed is wrong, and forgets it when the user says so", async () => {
    const seed = await makeKey();
    await openForm("kept in React");
    const held = new Promise<void>((resolve) => void page.route(SUBMIT, () => resolve()));
    await page.getByRole("button", { name: "Sign", exact: true }).click();
    await held;
    await page.getByRole("button", { name: "Cancel" }).click();
    const field = page.getByLabel("Seed", { exact: true });
    await field.fill("");
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByRole("alert").filter({ hasText: "(VALIDATION: " }).waitFor();
    await field.fill(seed.replace(/^./, (digit) => (digit === "0" ? "1" : "0")));
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByRole("alert").filter({ hasText: "(SHARE_UNVERIFIED: " }).waitFor();
    expect(await page.getByLabel("Message").isEditable()).toBe(false);
    await page.getByRole("button", { name: "Forget it" }).click();
    expect(await page.getByLabel("Message").isEditable()).toBe(true);
    expect(await page.getByRole("button", { name: "Sign", exact: true }).isEnabled()).toBe(true);
    expect(await page.getByRole("button", { name: "Forget it" }).count()).toBe(0);
  });

  it("makes no key from a seed that was not downloaded, and overwrites no seed", async () => {
    const requests: string[] = [];
    page.on("request", (request) => void requests.push(request.url()));
    await page.getByRole("button", { name: "Make a seed" }).click();
    expect(await page.getByRole("button", { name: "Make a seed" }).isDisabled()).toBe(true);
    await page.getByRole("button", { name: "Make or find the key" }).click();
    const refusal = page.getByRole("alert").filter({ hasText: "Download the seed first." });
    await refusal.waitFor();
    expect(requests.filter((url) => url.startsWith(service.access.baseUrl))).toEqual([]);
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download the seed" }).click();
    await download;
    await refusal.waitFor({ state: "detached" });
  });

  it("says that signing out has failed", async () => {
    // The sign-in ends with a reload.
    await page.getByText("You are alice.").waitFor();
    await page.route("**/sign-out", (route) => route.abort());
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("alert").filter({ hasText: "The page failed: TypeError" }).waitFor();
    expect(await page.getByText("You are alice.").isVisible()).toBe(true);
  });

  it("cancels a signature, and shows the SDK's error", async () => {
    await makeKey();
    await openForm("cancelled in React");
    const held = new Promise<void>((resolve) => void page.route(SUBMIT, () => resolve()));
    await page.getByRole("button", { name: "Sign", exact: true }).click();
    await held;
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("alert").filter({ hasText: "(ABORTED: " }).waitFor();
    expect(await page.getByRole("button", { name: "Resume" }).isEnabled()).toBe(true);
  });

  it("has the project's key neither in its memory nor in its storage", async () => {
    await makeKey();
    const address = await factOn(page, "solana address");
    const memory = await readMemory(page);
    // The search finds what the page does hold.
    expect(memory.includes(address)).toBe(true);
    const stored = [
      await page.content(),
      await page.evaluate<string>("JSON.stringify([localStorage, sessionStorage])"),
      await readDatabases(page),
    ];
    expect(keysIn([memory, ...stored], service.access)).toEqual([]);
  });
});

/** Makes a seed and its key, and returns the seed. Each test signs in a new profile, as the same user. */
async function makeKey(): Promise<string> {
  const field = page.getByLabel("Seed", { exact: true });
  if (seedOfUser === undefined) {
    await page.getByRole("button", { name: "Make a seed" }).click();
    seedOfUser = await field.inputValue();
    expect(seedOfUser).toMatch(/^[0-9a-f]{64}$/);
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download the seed" }).click();
    await download;
  }
  await field.fill(seedOfUser);
  await page.getByRole("button", { name: "Make or find the key" }).click();
  await page.getByRole("button", { name: "Sign a message" }).waitFor();
  return seedOfUser;
}

/** The page finds a key by its name, so its user has one seed. */
let seedOfUser: string | undefined;

async function openForm(message: string): Promise<void> {
  await page.getByRole("button", { name: "Sign a message" }).click();
  await page.getByLabel("Message").fill(message);
}

/** Records the stages that the form shows. The returned function returns them. */
async function watchStages(): Promise<() => Promise<string[]>> {
  await page.evaluate(`
    globalThis.stages = [];
    const note = () => {
      for (const status of document.querySelectorAll("[role=status]")) {
        const [, stage] = /^In progress: (.+)$/.exec(status.textContent) ?? [];
        if (stage !== undefined && !stages.includes(stage)) stages.push(stage);
      }
    };
    new MutationObserver(note).observe(document.body, { subtree: true, childList: true, characterData: true });
  `);
  return () => page.evaluate<string[]>("stages");
}

/** Expects a signature on the page that OpenSSL accepts for the message under the key of the page's address. */
async function expectSigned(text: string): Promise<void> {
  const signature = Buffer.from(await factOn(page, "signature"), "hex");
  const publicKey = fromBase58(await factOn(page, "solana address"));
  const message = new TextEncoder().encode(text);
  expect(isValidSignature({ ...EDDSA, publicKey, message, signature })).toBe(true);
}

async function signRequestCount(): Promise<number> {
  let count = 0;
  for await (const _ of projectClient().listSigns()) count++;
  return count;
}

/** A client with the project's key, as the page's backend has it. */
function projectClient(): TssClient {
  const { baseUrl, apiKey, network } = service.access;
  return createClient({ baseUrl, apiKey, network });
}
