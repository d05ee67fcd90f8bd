/** The console's pages of a project's users, their sessions and webhooks, and the origins of a key, in Chromium. */
import { existsSync } from "node:fs";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { SignatureAlgorithm } from "../../gen/client/tss/v1/types_pb.ts";
import { createAdminClient } from "../../src/client/sdk/admin/index.ts";
import { verifyWebhook } from "../../src/client/sdk/calls/verify-webhook.ts";
import { createClient, type TssClient } from "../../src/client/sdk/index.ts";
import { migratedFolder } from "../support/database/migrated-folder.ts";
import { programMissing } from "../support/environment.ts";
import { startReceiver } from "../support/service/receiver.ts";
import { type ServiceProcess, startService } from "../support/service/service.ts";
import { type ConsolePages, openConsolePages } from "./console/console-pages.ts";
import { axeFaults } from "./console/looks.ts";
import { signIn, visit } from "./console/tour.ts";

const CHROMIUM = "/usr/bin/chromium";
const { folder, remove } = await migratedFolder();
let service: ServiceProcess;
let client: TssClient;
let pages: ConsolePages;
let page: Page;

if (!existsSync(CHROMIUM)) programMissing("Chromium (Debian: chromium)", "the console's users");

describe.skipIf(!existsSync(CHROMIUM))("the console", () => {
  beforeAll(async () => {
    service = await startService(folder, {
      PRESIGN_BUCKETS: "ED25519/EdDSA",
      RATE_LIMIT_OPEN_PER_SECOND: "0",
    });
    const { baseUrl, apiKey, network } = service.access;
    client = createClient({ baseUrl, apiKey, network });
    pages = await openConsolePages(service.access);
  });
  afterAll(async () => {
    await pages?.close();
    await service?.stop();
    remove();
  });
  afterEach(async ({ task }) => {
    const { faults } = await pages.endTest(task.result?.state === "fail");
    expect(faults).toEqual([]);
  });

  const rowOf = (text: string) => page.getByRole("row").filter({ hasText: text });
  const isFrozen = async (reference: string) =>
    (await client.users.get({ reference })).freezeTime !== undefined;

  it("freezes and unfreezes a user after a confirmation, and filters by state and prefix", async () => {
    for (const reference of ["bea", "bob", "carl"]) await client.users.create({ reference });
    page = await pages.signedIn("project");
    await visit(page, { path: "users" });
    await page.getByRole("button", { name: "Freeze the user bob" }).click();
    const freeze = page.getByRole("dialog", { name: "Freeze the user “bob”?" });
    await freeze.getByText("signs nothing more").waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await freeze.waitFor({ state: "detached" });
    expect(await isFrozen("bob")).toBe(false);
    await page.getByRole("button", { name: "Freeze the user bob" }).click();
    await freeze.getByRole("button", { name: "Freeze the user" }).click();
    await rowOf("bob").getByText("frozen").waitFor();
    expect(await isFrozen("bob")).toBe(true);
    await page.getByLabel("State").selectOption({ label: "frozen" });
    await rowOf("carl").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Unfreeze the user bob" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Unfreeze the user" }).click();
    await page.getByText("No user fits the filter.").waitFor();
    expect(await isFrozen("bob")).toBe(false);
    await page.getByLabel("State").selectOption({ label: "all" });
    await page.getByLabel("Reference begins with").fill("b");
    await page.keyboard.press("Enter");
    await rowOf("carl").waitFor({ state: "detached" });
    for (const reference of ["bea", "bob"]) await rowOf(reference).waitFor();
    expect(page.url()).toMatch(/#\/users\?prefix=b$/);
  });

  it("makes a webhook endpoint, shows its secret once, sends, rotates, disables and deletes", async () => {
    const secretShape = /^whsec_[A-Za-z0-9+/]{32,}=*$/;
    let status = 500;
    const receiver = await startReceiver((_request, response) => response.writeHead(status).end());
    page = await pages.signedIn("project");
    await visit(page, { path: "webhooks" });
    await page.getByRole("button", { name: "Create an endpoint" }).click();
    const create = page.getByRole("dialog", { name: "Create an endpoint" });
    await create.getByLabel("URL").fill("ftp://app.example");
    await create.getByText("Write a URL such as").waitFor();
    await create.getByLabel("URL").fill(`${receiver.url}/hook`);
    await create.getByLabel("Kinds of events").fill("sign.completed, sign.failed");
    expect(await axeFaults(page)).toEqual([]);
    await create.getByRole("button", { name: "Create" }).click();
    const shown = page.getByRole("dialog", { name: "The secret of the endpoint" });
    const secret = await shown.locator("code").innerText();
    expect(secret).toMatch(secretShape);
    expect(await axeFaults(page)).toEqual([]);
    for (let press = 0; press < 3; press++) await page.keyboard.press("Escape");
    expect(await shown.locator("code").innerText()).toBe(secret);
    await shown.getByRole("button", { name: "I have the secret" }).click();
    await shown.waitFor({ state: "detached" });
    expect(await page.content()).not.toContain(secret);
    await rowOf("/hook").getByText("sign.completed, sign.failed").waitFor();

    await rowOf("/hook").getByRole("link").click();
    await page.getByRole("heading", { level: 1, name: "Endpoint" }).waitFor();
    await page.getByRole("button", { name: "Send a test" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Send a test" }).click();
    const delivery = rowOf("webhook.test");
    await delivery.getByText("HTTP 500").waitFor();
    await delivery.getByText("retrying").waitFor();
    status = 204;
    await delivery.getByRole("button", { name: /^Send again/ }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Send again" }).click();
    await delivery.getByText("HTTP 204").waitFor();
    await delivery.getByText("delivered").waitFor();
    expect(new Set(receiver.requests.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    for (const { headers, body } of receiver.requests)
      expect(verifyWebhook({ body, headers: headers as never, secret }).type).toBe("webhook.test");

    await page.getByRole("button", { name: "Rotate the secret" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Rotate the secret" }).click();
    const next = await shown.locator("code").innerText();
    expect(next).toMatch(secretShape);
    expect(next).not.toBe(secret);
    await shown.getByRole("button", { name: "I have the secret" }).click();
    await page.getByText("signs until").waitFor();
    await page.getByRole("button", { name: "Disable" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Disable the endpoint" }).click();
    await page.getByText("by the project").waitFor();
    expect(await page.getByRole("button", { name: "Send a test" }).isDisabled()).toBe(true);
    await page.getByRole("button", { name: "Enable" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Enable the endpoint" }).click();
    await page.getByText("enabled", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Delete" }).click();
    expect(await axeFaults(page)).toEqual([]);
    const url = await page.getByRole("dialog").locator(".hint code").textContent();
    await page.getByLabel("Type the endpoint’s URL to confirm").fill(url ?? "");
    await page.getByRole("dialog").getByRole("button", { name: "Delete the endpoint" }).click();
    await page.getByText("No endpoints yet").waitFor();
    await receiver.close();
  });

  it("deletes a user after a confirmation that says what is kept", async () => {
    await client.users.create({ reference: "gone/1" });
    page = await pages.signedIn("project");
    await visit(page, { path: "users" });
    await rowOf("gone/1").getByRole("link").click();
    await page.getByRole("heading", { level: 1, name: "gone/1" }).waitFor();
    await page.getByRole("button", { name: "Delete the user gone/1" }).click();
    const dialog = page.getByRole("dialog", { name: "Delete the user “gone/1”?" });
    await dialog.getByText("keeps payments, the ledger, the audit trail and the rows of dWallets").waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await dialog.getByText("Type the user’s reference first.").waitFor();
    await dialog.getByLabel("Type the user’s reference to confirm").fill("gone/1");
    await dialog.getByRole("button", { name: "Delete the user" }).click();
    await page.getByRole("heading", { level: 1, name: "No such user" }).waitFor();
    await expect(client.users.get({ reference: "gone/1" })).rejects.toMatchObject({
      reason: "USER_NOT_FOUND",
    });
    // The browser logs the refused read.
    expect(pages.faults.splice(0).length).toBeGreaterThan(0);
  });

  it("shows references that differ only in spaces as they are, also in the dialog", async () => {
    for (const reference of ["x y", "x  y", "xy "]) await client.users.create({ reference });
    page = await pages.signedIn("project");
    await visit(page, { path: "users?prefix=x" });
    await rowOf("xy").waitFor();
    const shown = await page.getByRole("row").getByRole("link").allInnerTexts();
    expect(shown.toSorted()).toEqual(["x  y", "x y", "xy "]);
    await page.getByRole("link", { name: "xy" }).click();
    expect(await page.getByRole("heading", { level: 1 }).innerText()).toBe("xy ");
    await page.getByRole("button", { name: /^Delete the user/ }).click();
    expect(await page.getByRole("dialog").getByRole("heading").innerText()).toBe("Delete the user “xy ”?");
  });

  it("shows the keys that can act for a user: those that name it, and those that name no user", async () => {
    await client.users.create({ reference: "erna" });
    const { baseUrl, adminApiKey, network } = service.access;
    const admin = createAdminClient({ baseUrl, adminKey: adminApiKey, network });
    const { projectId } = await client.account();
    const create = async (
      name: string,
      allowance: { userReferences?: string[]; algorithms?: SignatureAlgorithm[] },
    ) => await admin.createApiKey({ projectId, name, scopes: [3], allowance });
    await create("names erna", { userReferences: ["erna"] });
    await create("names fritz", { userReferences: ["fritz"] });
    await create("names an algorithm", { algorithms: [SignatureAlgorithm.EdDSA] });
    page = await pages.signedIn("project");
    await visit(page, { path: "users/erna" });
    await rowOf("names erna").waitFor();
    await rowOf("names an algorithm").getByText("EdDSA").waitFor();
    expect(await rowOf("names fritz").count()).toBe(0);
  });

  it("goes through the users page by page", async () => {
    for (let index = 10; index < 65; index++) await client.users.create({ reference: `many-${index}` });
    page = await pages.signedIn("project");
    await visit(page, { path: "users?prefix=many-" });
    await rowOf("many-10").waitFor();
    const pager = page.getByRole("navigation", { name: "Pages of users" });
    await pager.getByRole("button", { name: "Next" }).click();
    await rowOf("many-64").waitFor();
    expect(await rowOf("many-10").count()).toBe(0);
    await pager.getByRole("button", { name: "Previous" }).click();
    await rowOf("many-10").waitFor();
  });

  it("revokes a session after a confirmation, and follows sessions that begin elsewhere", async () => {
    const session = { userReference: "dora", scopes: ["read"] as const, origins: ["https://app.example"] };
    const { token } = await client.sessions.create({ ...session, proofKeyThumbprint: "t".repeat(43) });
    page = await pages.newPage();
    await page.clock.install();
    await signIn(page, service.access, "project");
    await visit(page, { path: "users/dora" });
    const row = rowOf("https://app.example");
    await row.getByText("one device").waitFor();
    await row.getByText("expires").waitFor();
    await row.getByRole("button", { name: /^Revoke the session / }).click();
    const dialog = page.getByRole("dialog", { name: /^Revoke the session .*\?$/ });
    await dialog.waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Revoke the session" }).click();
    await row.getByText("revoked").waitFor();
    expect(await row.getByRole("button", { name: /^Revoke/ }).count()).toBe(0);
    const { status } = await fetch(`${service.access.baseUrl}/v1/dwallets`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(status).toBe(401);
    await client.sessions.create({ userReference: "dora", scopes: ["sign"] });
    await page.clock.fastForward("00:11");
    await rowOf("any device").getByText("sign").waitFor();
    await visit(page, { path: "sessions" });
    expect(await page.getByRole("link", { name: "dora" }).count()).toBe(2);
  });

  it("changes the origins of a key, whose removed page is refused at once", async () => {
    const { baseUrl, adminApiKey, network } = service.access;
    const admin = createAdminClient({ baseUrl, adminKey: adminApiKey, network });
    const { project } = await admin.createProject({ name: "pages" });
    const projectId = project!.projectId;
    const { plaintext } = await admin.createApiKey({
      ...{ projectId, name: "web", scopes: [3] },
      allowedOrigins: ["https://old.example"],
    });
    const statusFrom = async (origin: string) =>
      (await fetch(`${baseUrl}/v1/dwallets`, { headers: { authorization: `Bearer ${plaintext}`, origin } }))
        .status;
    page = await pages.signedIn("operator");
    await visit(page, { path: `projects/${projectId}` });
    await page.getByRole("button", { name: "Pages of the key web" }).click();
    const dialog = page.getByRole("dialog", { name: "The pages of the key “web”" });
    const origins = dialog.getByLabel("Allowed origins");
    expect(await origins.inputValue()).toBe("https://old.example");
    await origins.fill("https://app.example/page");
    await dialog.getByText("“https://app.example/page” is no origin").waitFor();
    expect(await dialog.getByRole("button", { name: "Save" }).isDisabled()).toBe(true);
    expect(await axeFaults(page)).toEqual([]);
    await origins.fill("https://app.example");
    await dialog.getByRole("button", { name: "Save" }).click();
    await rowOf("web").getByText("https://app.example").waitFor();
    expect([await statusFrom("https://old.example"), await statusFrom("https://app.example")]).toEqual([
      403, 200,
    ]);
  });
});
