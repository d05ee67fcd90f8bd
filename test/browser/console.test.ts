/** The console in Chromium, against a service that makes signatures. */
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { GetAuditProofResponseSchema } from "../../gen/client/tss/v1/admin_pb.ts";
import {
  GetReadinessResponse_Status,
  GetReadinessResponseSchema,
} from "../../gen/client/tss/v1/operations_pb.ts";
import { Holder_State } from "../../gen/client/tss/v1/sharing_pb.ts";
import { Hash, SignatureAlgorithm } from "../../gen/client/tss/v1/types_pb.ts";
import { ApiKeyScope } from "../../src/client/sdk/admin/index.ts";
import { receiptFromJson, verifyReceipt } from "../../src/client/sdk/receipts/index.ts";
import { migratedFolder } from "../support/database/migrated-folder.ts";
import { programMissing } from "../support/environment.ts";
import { type ServiceProcess, startService } from "../support/service/service.ts";
import { type ConsolePages, openConsolePages } from "./console/console-pages.ts";
import { axeFaults, balanceStatus, changeReply, keptByBrowser } from "./console/looks.ts";
import { fillService, type Stage } from "./console/stage.ts";
import { signIn, tourOf, visit } from "./console/tour.ts";

const run = promisify(execFile);
/** Runs a program to its end and returns what it prints. */
const runText = async (command: string, args: string[], env: Record<string, string> = {}) =>
  (await run(command, args, { env: { ...process.env, ...env } })).stdout;
const SDK = new URL("../../src/client/sdk/index.ts", import.meta.url).href;
const CHROMIUM = "/usr/bin/chromium";
const FIRST_LOAD_MAX_BYTES = 250_000;
const PHONE = { width: 390, height: 844 };
/** The narrowest width that a page must fit, WCAG 1.4.10. */
const NARROW = 320;
const { folder, remove } = await migratedFolder();
let service: ServiceProcess;
let stage: Stage;
let pages: ConsolePages;
let faults: string[];

if (!existsSync(CHROMIUM)) programMissing("Chromium (Debian: chromium)", "the console");

describe.skipIf(!existsSync(CHROMIUM))("the console", () => {
  beforeAll(async () => {
    service = await startService(folder, {
      PRESIGN_BUCKETS: "ED25519/EdDSA,SECP256K1/ECDSASecp256k1",
      RATE_LIMIT_OPEN_PER_SECOND: "0",
    });
    pages = await openConsolePages(service.access);
    faults = pages.faults;
    stage = await fillService(service.access);
  });
  afterAll(async () => {
    await pages?.close();
    await service?.stop();
    remove();
  });
  afterEach(async ({ task }) => {
    const past = await pages.endTest(task.result?.state === "fail");
    const { origin } = new URL(service.access.baseUrl);
    expect(past.seenUrls.filter((url) => new URL(url).origin !== origin)).toEqual([]);
    for (const key of [service.access.apiKey, service.access.adminApiKey])
      expect(past.seenUrls.filter((url) => url.includes(key))).toEqual([]);
    expect(past.cookies).toEqual([]);
    // A policy violation, a failed load and an uncaught exception of the page are all lines of the browser's log.
    expect(past.faults).toEqual([]);
  });

  describe.each(["operator", "project"] as const)("to %s", (role) => {
    const stops = () => tourOf(stage).filter((stop) => stop.role === role);

    it("has no fault that axe reports, fits a phone and shows no key on any page, and loads in less than 250 kB", async () => {
      const page = await pages.newPage();
      const sizes: Promise<number>[] = [];
      page.on("requestfinished", (request) => {
        const isFile = new URL(request.url()).pathname.startsWith("/console");
        if (isFile) sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
      });
      await signIn(page, service.access, role);
      const key = role === "operator" ? service.access.adminApiKey : service.access.apiKey;
      const desk = page.viewportSize()!;
      for (const stop of stops()) {
        await visit(page, stop);
        expect(await axeFaults(page), stop.name).toEqual([]);
        expect(await page.content(), stop.name).not.toContain(key);
        expect(page.url(), stop.name).not.toContain(key);
        // The themes differ only in their colors.
        await page.emulateMedia({ colorScheme: "dark" });
        const colors = { runOnly: ["color-contrast", "link-in-text-block"] };
        expect(await axeFaults(page, colors), `${stop.name} in the dark`).toEqual([]);
        await page.emulateMedia({ colorScheme: "light" });
        await page.setViewportSize(PHONE);
        expect(await axeFaults(page), `${stop.name} on a phone`).toEqual([]);
        for (const width of [PHONE.width, NARROW]) {
          await page.setViewportSize({ ...PHONE, width });
          expect(await page.evaluate("document.documentElement.scrollWidth"), stop.name).toBe(width);
        }
        await page.setViewportSize(desk);
      }
      expect(sizes.length).toBeGreaterThan(5);
      const total = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
      expect(total).toBeLessThan(FIRST_LOAD_MAX_BYTES);
      expect(await keptByBrowser(page)).toEqual({
        local: 0,
        session: 0,
        databases: 0,
        caches: 0,
        cookie: "",
      });
    });

    it("asks for the key again after a reload", async () => {
      const page = await pages.newPage();
      await signIn(page, service.access, role);
      await page.reload();
      await page.getByLabel("Key", { exact: true }).waitFor();
      expect(await page.getByLabel("Key", { exact: true }).inputValue()).toBe("");
    });

    it("opens and closes its menu on a phone", async () => {
      const page = await pages.newPage();
      await page.setViewportSize(PHONE);
      await signIn(page, service.access, role);
      await page.getByRole("button", { name: "Menu" }).click();
      const menu = page.getByRole("navigation", { name: "Pages" });
      await menu.waitFor();
      await page.keyboard.press("Escape");
      await menu.waitFor({ state: "hidden" });
    });

    it("marks the open page in the menu, and gives its heading the focus", async () => {
      const page = await pages.signedIn(role);
      await visit(page, { path: "" });
      const links = await page.getByRole("navigation", { name: "Pages" }).getByRole("link").all();
      // The first page is already open.
      for (const link of [...links.slice(1), ...links.slice(0, 1)]) {
        await link.click();
        await page.locator("main h1:focus").waitFor();
        expect(await link.getAttribute("aria-current")).toBe("page");
      }
      expect(links.length).toBeGreaterThan(4);
    });
  });

  it("reports a wrong key, and accepts the right one afterwards", async () => {
    const page = await pages.newPage();
    await page.goto(`${service.access.baseUrl}/console`);
    await page.getByLabel("Key", { exact: true }).fill(`${service.access.apiKey.slice(0, -4)}aaaa`);
    await page.getByRole("button", { name: "Sign in as project" }).click();
    const alert = page.getByRole("alert");
    await alert.waitFor();
    expect(await alert.textContent()).toContain("INVALID_KEY");
    // The browser itself logs the refused call.
    expect(faults.splice(0)).toHaveLength(1);
    await page.getByLabel("Key", { exact: true }).fill(service.access.apiKey);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1 }).filter({ hasNotText: "Threshold Signing" }).waitFor();
  });

  it("signs out on request, and after half an hour without use", async () => {
    const page = await pages.newPage();
    // Before the page loads, because a page that is already there sees the year 1970 for a moment.
    await page.clock.install();
    await signIn(page, service.access, "project");
    await page.clock.fastForward("20:00");
    await page.keyboard.press("Shift");
    await page.clock.fastForward("20:00");
    await page.locator("summary", { hasText: "Account: " }).waitFor();
    await page.clock.fastForward("11:00");
    await page.getByText("You were signed out after 30 minutes without use.").waitFor();
    await page.getByLabel("Key", { exact: true }).fill(service.access.apiKey);
    await page.keyboard.press("Enter");
    await page.locator("summary", { hasText: "Account: " }).click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByText("You are signed out.").waitFor();
  });

  it("shows the progress of a signature from the list to its completion, and announces it to a screen reader", async () => {
    const page = await pages.newPage();
    await signIn(page, service.access, "project");
    await visit(page, { path: "signs" });
    const signRequestId = await stage.sign("made while the page is open");
    const row = page.getByRole("row").filter({ has: page.locator(`a[href="#/signs/${signRequestId}"]`) });
    await row.getByText("completed").waitFor();
    const short = `${signRequestId.slice(0, 6)}…${signRequestId.slice(-6)}`;
    await page
      .getByRole("status")
      .filter({ hasText: `Sign request ${short}: completed` })
      .waitFor();
    await row.getByRole("link").first().click();
    await page.getByText("made while the page is open").waitFor();
    await page.locator(".stage-done").nth(3).waitFor();
  });

  it("tells who asked for a signature, and hands out its receipt as the file that tss receipt verify reads", async () => {
    const page = await pages.signedIn("project");
    await visit(page, { path: `signs/${stage.signRequestId}` });
    const button = page.getByRole("button", { name: "Download the receipt" });
    await button.waitFor();
    // The browser logs each call that comes before the seal.
    for (const fault of faults.splice(0)) expect(fault).toContain("status of 400");
    await page.getByText("The proof is valid", { exact: true }).waitFor();
    await page.getByText("the key development").waitFor();
    await page.getByText("$0.01 is proved: the seal covers it").waitFor();
    await page.getByRole("row").filter({ hasText: "charge" }).getByText("−$0.01").waitFor();
    expect(await axeFaults(page)).toEqual([]);
    const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
    expect(download.suggestedFilename()).toBe(`receipt-${stage.signRequestId}.json`);
    const receipt = receiptFromJson(readFileSync(await download.path(), "utf8"));
    expect(receipt.signRequest?.signRequestId).toBe(stage.signRequestId);
    const seal = receipt.auditSeal?.sealHash;
    expect(
      verifyReceipt(receipt, { dwalletPublicKey: receipt.publicKey, expectedSealHash: seal, publicKeys: [] }),
    ).toEqual([]);
  });

  it("follows an open request by WatchSign alone", async () => {
    const page = await pages.newPage();
    await signIn(page, service.access, "project");
    await visit(page, { path: "signs" });
    const message = "reserved first, signed later";
    const idempotencyKey = randomUUID();
    const { signRequestId } = await stage.client.raw.signing.reserveSign(
      {
        dwalletId: stage.dwalletId,
        message: new TextEncoder().encode(message),
        signatureAlgorithm: SignatureAlgorithm.EdDSA,
        hashScheme: Hash.SHA512,
      },
      { headers: { "idempotency-key": idempotencyKey } },
    );
    const row = page.getByRole("row").filter({ has: page.locator(`a[href="#/signs/${signRequestId}"]`) });
    await row.getByText("prepared").waitFor();
    // From here on only the stream can deliver news: the list is requested, but never answered.
    await page.route("**/tss.v1.Signing/ListSigns*", () => {});
    const story = await pages.newPage();
    await signIn(story, service.access, "project");
    await visit(story, { path: `signs/${signRequestId}` });
    await story.getByRole("listitem").filter({ hasText: "so far" }).getByText("Reserved").waitFor();
    expect(await axeFaults(story)).toEqual([]);
    await story.route("**/tss.v1.Signing/GetSign*", () => {});
    expect(await stage.sign(message, idempotencyKey)).toBe(signRequestId);
    await row.getByText("completed").waitFor();
    await story.locator(".stage-done").nth(3).waitFor();
    const stages = await story
      .locator(".stage time")
      .evaluateAll((times) => times.map((time) => Date.parse(time.getAttribute("datetime") ?? "")));
    expect(stages).toEqual(stages.toSorted((one, other) => one - other));
  });

  it("shows who holds a share of a dWallet, and removes a holder whose name is typed", async () => {
    const page = await pages.signedIn("project");
    await visit(page, { path: `dwallets/${stage.dwalletId}` });
    const row = page
      .getByRole("table", { name: "Holders" })
      .getByRole("row")
      .filter({ hasText: "another user" });
    await row.getByText("holder must accept").waitFor();
    expect(await row.getByRole("link", { name: "user/1044" }).getAttribute("href")).toBe(
      "#/users/user%2F1044",
    );
    await row.getByRole("button", { name: "Remove the holder user/1044" }).click();
    const dialog = page.getByRole("dialog", { name: "Remove the holder?" });
    await dialog.getByText("It takes no share back.").waitFor();
    expect(await axeFaults(page)).toEqual([]);
    const remove = dialog.getByRole("button", { name: "Remove the holder" });
    expect(await remove.isDisabled()).toBe(true);
    await dialog.getByLabel("Type the holder’s user to confirm").fill("user/1044");
    await remove.click();
    await row.getByText("removed").waitFor();
    expect(await row.getByRole("button", { name: /^Remove/ }).count()).toBe(0);
    const { holders } = await stage.client.raw.sharing.listHolders({ dwalletId: stage.dwalletId });
    expect(holders.map(({ state }) => state)).toEqual([Holder_State.Removed]);
  });

  it("releases a held half with a key that may, and tells another key why it cannot", async () => {
    const page = await pages.newPage();
    const [first, second] = [stage.heldRequestId, await stage.hold("a second payment")];
    const { projectId } = await stage.client.raw.account.getAccount({});
    const { plaintext: signer } = await stage.admin.createApiKey({
      ...{ projectId, name: "signer", scopes: [ApiKeyScope.sign, ApiKeyScope.read] },
    });
    await signIn(page, { ...service.access, apiKey: signer }, "project");
    await visit(page, { path: "signs" });
    await page.getByLabel("State", { exact: true }).selectOption("held");
    const rows = page.getByRole("table", { name: "Sign requests" }).getByRole("row");
    await rows.filter({ hasText: "completed" }).first().waitFor({ state: "detached" });
    await page.locator(`a[href="#/signs/${second}"]`).waitFor();
    // The titles are a row too.
    expect(await rows.count()).toBe(3);
    await page.locator(`a[href="#/signs/${second}"]`).click();
    const release = page.getByRole("button", { name: "Release the half" });
    await page.getByText("The key lacks the scope release.").waitFor();
    expect(await release.isDisabled()).toBe(true);
    expect(await axeFaults(page)).toEqual([]);
    await page.getByRole("button", { name: "Cancel the half" }).click();
    await page.getByRole("dialog").getByText("$0.01 are refunded.").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel the half" }).click();
    await page.getByText("the held half was cancelled").waitFor();
    await page.getByText("$0.02 was charged and refunded without $0.01, the price of the hold.").waitFor();

    await page.reload();
    await signIn(page, { ...service.access, apiKey: stage.approverKey }, "project");
    await visit(page, { path: `signs/${first}` });
    await release.click();
    await page.getByRole("dialog").getByRole("button", { name: "Release the half" }).click();
    await page.locator(".stage-done").filter({ hasText: "Released" }).waitFor();
    await page.getByText("completed", { exact: true }).waitFor();
    await page.getByText("The half is released, and the request goes on like any other.").waitFor();
  });

  it("leads an operator from an id to what happened, and writes that into the audit trail", async () => {
    const { signRequestId } = stage;
    const page = await pages.signedIn("operator");
    await page.keyboard.press("Control+k");
    await page.getByLabel("Find", { exact: true }).fill(signRequestId);
    await page.getByRole("link", { name: /What happened to/ }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Sign request", exact: true }).waitFor();
    await page.locator(".stage-done").nth(3).waitFor();
    await page.getByRole("table", { name: "Chain operations" }).getByText("sign", { exact: true }).waitFor();
    await page.getByRole("table", { name: "Ledger entries" }).getByText("−$0.01").waitFor();
    const text = await page.locator("main").textContent();
    expect(text).not.toContain("hello from the console");
    const again = page.waitForResponse("**/tss.v1.Admin/InspectSubject");
    await page.getByRole("button", { name: "Read again" }).click();
    await again;
    const looks: string[] = [];
    for await (const { subject } of stage.admin.listAuditEvents({ action: "subject.inspect" }))
      if (subject === signRequestId) looks.push(subject);
    expect(looks).toHaveLength(2);
    await visit(page, { path: `subjects/${randomUUID()}` });
    await page.getByText("There is no sign request, dWallet or operation with this id").waitFor();
    // The browser logs the refused call, and the search for a project with the id.
    for (const fault of faults.splice(0)) expect(fault).toContain("status of 404");
  });

  it("lists the users who were charged most", async () => {
    const page = await pages.signedIn("project");
    await visit(page, { path: "" });
    const users = page.getByRole("table", { name: "Largest users" });
    await users.getByRole("link", { name: "user/1042" }).waitFor();
    await users.getByRole("cell").filter({ hasText: "$0.02" }).first().waitFor();
  });

  it("verifies the proof of an event, and detects a changed event", async () => {
    const page = await pages.signedIn("operator");
    await visit(page, { path: "audit/1" });
    await page.getByText("The proof is valid", { exact: true }).waitFor();
    await changeReply(page, "**/tss.v1.Admin/GetAuditProof*", GetAuditProofResponseSchema, (proof) => {
      proof.auditEvent!.actor = "system:mallory";
    });
    await visit(page, { path: "audit/2" });
    await page.getByText("The proof is invalid", { exact: true }).waitFor();
  });

  it("shows an operator the statistics of completed signatures", async () => {
    const page = await pages.signedIn("operator");
    await visit(page, { path: "signatures" });
    const completed = page.locator(".stat", { hasText: "completed" }).locator(".stat-value");
    expect(Number(await completed.textContent())).toBeGreaterThanOrEqual(3);
    const signed = page
      .getByRole("row")
      .filter({ hasText: "from the user's half to the verified signature" });
    expect(await signed.getByRole("cell").last().textContent()).toMatch(/^\d[\d.]* (?:ms|s)$/);
  });

  it("leads a new project to its first signature with lines that work, and then takes them away", async () => {
    const page = await pages.newPage();
    const { apiKey, projectId } = await stage.newProject("starter");
    await signIn(page, { ...service.access, apiKey }, "project");
    const steps = page.getByRole("list").filter({ hasText: "Check that the key works" });
    await steps.waitFor();
    const texts = await steps.locator("pre").allTextContents();
    expect(texts.join()).not.toContain(apiKey);
    const [curl = "", program = ""] = texts;
    const account = await runText("bash", ["-c", curl.replace("…", apiKey)]);
    expect(JSON.parse(account)).toMatchObject({ projectId, network: "localnet" });
    // A newcomer imports the published package.
    const imported = program.replace('"threshold-signing-client"', JSON.stringify(SDK));
    const signature = await runText(
      process.execPath,
      ["--import", "tsx", "--input-type=module", "--eval", imported],
      {
        TSS_API_KEY: apiKey,
      },
    );
    expect(signature.trim()).toMatch(/^[0-9a-f]{128}$/);
    await visit(page, { path: "keys" });
    await page.getByText("the key of this console").waitFor();
    await visit(page, { path: "" });
    await page.getByText("1 signature in the last day").waitFor();
    expect(await steps.count()).toBe(0);
  });

  it("greys the pages for which a key lacks the scope, and names the scope", async () => {
    const page = await pages.newPage();
    const { apiKey } = await stage.newProject("reader", [ApiKeyScope.read]);
    await signIn(page, { ...service.access, apiKey }, "project");
    await page.getByText("The key may not see the project’s money.").waitFor();
    expect(await axeFaults(page)).toEqual([]);
    const menu = page.getByRole("navigation", { name: "Pages" });
    const greyed = await menu.locator(".menu-link-closed").allTextContents();
    expect(greyed).toEqual([
      ...["Balance", "Usage", "Deposits", "Prices"].map(
        (title) => `${title}, the key lacks the scope billing`,
      ),
      "Sessions, the key lacks the scope sessions",
      "Webhooks, the key lacks the scope webhooks",
    ]);
  });

  it("finds what a key may see by its id or name, from the keyboard alone", async () => {
    const page = await pages.signedIn("project");
    const finds = async (text: string, name: string | RegExp) => {
      await page.locator("main h1").waitFor();
      await page.keyboard.press("Control+k");
      await page.getByLabel("Find", { exact: true }).fill(text);
      await page.getByRole("dialog").getByRole("link", { name }).waitFor();
      await page.getByRole("status").filter({ hasText: "One result" }).waitFor({ state: "attached" });
      await page.keyboard.press("Enter");
      await page.getByRole("dialog").waitFor({ state: "detached" });
      return new URL(page.url()).hash;
    };
    expect(await finds(stage.signRequestId, /sign request, completed/)).toBe(
      `#/signs/${stage.signRequestId}`,
    );
    expect(await finds(stage.dwalletId, /dWallet, Active/)).toBe(`#/dwallets/${stage.dwalletId}`);
    await page.getByText("the owner could leave").waitFor();
    expect(await finds("treasury of the example", "treasury of the example")).toMatch(/^#\/dwallets\/0x/);
    await page.getByText("never rehearsed").waitFor();
    expect(await finds("user/1043", /user, frozen/)).toBe("#/users/user%2F1043");
    expect(await finds("depos", "Deposits page")).toBe("#/deposits");
    await page.keyboard.press("Control+k");
    await page.getByLabel("Find", { exact: true }).fill(`0x${"0".repeat(64)}`);
    await page.getByText("Nothing that this key may see is called so.").waitFor();
    expect(await axeFaults(page)).toEqual([]);
    // The browser itself logs the call that found nothing.
    expect(faults.splice(0)).toHaveLength(1);
  });

  it("shows the reason of a failing check", async () => {
    const page = await pages.signedIn("operator");
    await changeReply(page, "**/tss.v1.Operations/GetReadiness*", GetReadinessResponseSchema, (readiness) => {
      readiness.status = GetReadinessResponse_Status.degraded;
      Object.assign(readiness.checks[0]!, { ok: false, vital: false, reason: "nobody answers at 192.0.2.1" });
    });
    await visit(page, { path: "projects" });
    await visit(page, { path: "" });
    await page.getByText("One thing needs you soon.").waitFor();
    await page.getByText("the replica serves calls, but a check fails").waitFor();
    await page.getByText("nobody answers at 192.0.2.1").waitFor();
    expect(await axeFaults(page)).toEqual([]);
  });

  it("shows a new key once, and revokes it only after a confirmation that names it", async () => {
    const page = await pages.signedIn("operator");
    await visit(page, { path: `projects/${stage.projectId}` });
    await page.getByRole("button", { name: "Create a key" }).click();
    await page.getByLabel("Name").fill("made in the console");
    await page.keyboard.press("Enter");
    const secret = page.getByRole("dialog", { name: "The new key" }).locator(".secret");
    await secret.waitFor();
    const key = (await secret.textContent()) ?? "";
    expect(await balanceStatus(service.access, key)).toBe(200);
    expect(await axeFaults(page)).toEqual([]);
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Copy the key");
    const address = page.url();
    for (let count = 0; count < 5; count++) await page.keyboard.press("Escape");
    for (let count = 0; count < 3; count++) {
      await page.goBack();
      // A Back that comes before the page has noticed the one before it leads past the guard.
      await page.waitForFunction("history.state?.stay === true");
    }
    // Two Backs at once pass the entry that the guard has added.
    await page.evaluate(
      () =>
        new Promise((resolve) => {
          addEventListener("popstate", resolve, { once: true });
          history.go(-2);
        }),
    );
    expect(await secret.textContent()).toBe(key);
    expect(page.url()).toBe(address);
    const asksBeforeUnload = () =>
      page.evaluate(() => !dispatchEvent(new Event("beforeunload", { cancelable: true })));
    expect(await asksBeforeUnload()).toBe(true);
    await page.getByRole("button", { name: "I have the key" }).click();
    expect(await page.content()).not.toContain(key);
    expect(await asksBeforeUnload()).toBe(false);
    expect(page.url()).toBe(address);

    const revoke = page.getByRole("button", { name: "Revoke the key made in the console" });
    await revoke.click();
    const dialog = page.getByRole("dialog", { name: "Revoke the key “made in the console”?" });
    await dialog.waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    expect(await revoke.evaluate((button) => button === document.activeElement)).toBe(true);
    expect(await balanceStatus(service.access, key)).toBe(200);
    await revoke.click();
    const act = dialog.getByRole("button", { name: "Revoke the key" });
    await dialog.getByText("Type the key’s name first.").waitFor();
    expect(await act.isDisabled()).toBe(true);
    await dialog.getByLabel("Type the key’s name to confirm").fill("made in the console");
    await act.click();
    await page.getByRole("row").filter({ hasText: "made in the console" }).getByText("revoked").waitFor();
    expect(await balanceStatus(service.access, key)).toBe(401);
  });

  it("says that a new key is lost if the reply with it did not arrive", async () => {
    const page = await pages.signedIn("operator");
    await visit(page, { path: `projects/${stage.projectId}` });
    await page.getByRole("button", { name: "Create a key" }).click();
    await page.getByLabel("Name").fill("lost on the way");
    let isLost = false;
    await page.route("**/tss.v1.Admin/CreateApiKey", async (route) => {
      if (isLost) return route.continue();
      isLost = true;
      await route.fetch();
      return route.abort();
    });
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").getByText("The service does not answer").waitFor();
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await page.getByText("The key was made, but it was in an earlier reply").waitFor();
    await page.getByRole("button", { name: "Close" }).click();
    expect(await page.getByRole("row").filter({ hasText: "lost on the way" }).count()).toBe(1);
    expect(faults.splice(0)).toHaveLength(1);
  });

  it("makes a narrow key, and shows its limits and what is left", async () => {
    const page = await pages.signedIn("operator");
    await visit(page, { path: `projects/${stage.projectId}` });
    await page.getByRole("button", { name: "Create a key" }).click();
    await page.getByLabel("Name").fill("narrow");
    await page.getByText("Limits", { exact: true }).and(page.locator("summary")).click();
    await page.getByLabel("dWallets", { exact: true }).fill("0x12");
    await page.getByText("A dWallet’s id is 0x and 64 hex digits.").waitFor();
    expect(await page.getByRole("button", { name: "Create", exact: true }).isDisabled()).toBe(true);
    expect(await axeFaults(page)).toEqual([]);
    await page.getByLabel("dWallets", { exact: true }).fill("");
    await page.getByLabel("Taproot").check();
    await page.getByLabel("Budget in dollars").fill("12.5");
    await page.getByLabel("Budget in requests").fill("100");
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await page.getByRole("button", { name: "I have the key" }).click();
    const row = page.getByRole("row").filter({ hasText: "narrow" });
    await row.getByText("Taproot").waitFor();
    await row.getByText("$12.50 of $12.50 and 100 of 100 requests left in a day").waitFor();
    expect(await axeFaults(page)).toEqual([]);
  });

  it("revokes several keys after one confirmation, which names what stops", async () => {
    const { projectId, apiKey } = await stage.newProject("several keys");
    const { plaintext: other } = await stage.admin.createApiKey({
      ...{ projectId, name: "worker", scopes: [ApiKeyScope.sign, ApiKeyScope.billing] },
    });
    const { plaintext: kept } = await stage.admin.createApiKey({
      ...{ projectId, name: "kept", scopes: [ApiKeyScope.billing] },
    });
    const page = await pages.signedIn("operator");
    await visit(page, { path: `projects/${projectId}` });
    await page.getByRole("button", { name: "Revoke several" }).click();
    const dialog = page.getByRole("dialog", { name: "Revoke keys of several keys" });
    for (const name of ["backend", "worker"]) await dialog.getByRole("checkbox", { name }).check();
    await dialog.getByText("every call fails with “worker” and “backend”").waitFor();
    expect(await axeFaults(page)).toEqual([]);
    const act = dialog.getByRole("button", { name: "Revoke 2 keys" });
    expect(await act.isDisabled()).toBe(true);
    await dialog.getByLabel("Type the project’s name to confirm").fill("several keys");
    await act.click();
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("row").filter({ hasText: "worker" }).getByText("revoked").waitFor();
    for (const [key, status] of [
      [apiKey, 401],
      [other, 401],
      [kept, 200],
    ] as const)
      expect(await balanceStatus(service.access, key)).toBe(status);
  });

  it("refills every bucket with one confirmation", async () => {
    const page = await pages.signedIn("operator");
    await visit(page, { path: "presigns" });
    const asked: string[] = [];
    page.on("request", (request) => {
      if (request.url().includes("RefillPresigns")) asked.push(request.url());
    });
    const buckets = await page.getByRole("button", { name: /^Refill (?!all)/ }).count();
    await page.getByRole("button", { name: "Refill all" }).click();
    await page.getByLabel("Presigns for each bucket").fill("2");
    expect(await axeFaults(page)).toEqual([]);
    await page.getByRole("button", { name: `Request ${2 * buckets} presigns` }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(asked).toHaveLength(buckets);
    expect(buckets).toBeGreaterThan(1);
  });

  it("books credit for the amount that the button names", async () => {
    const page = await pages.signedIn("operator");
    await visit(page, { path: `projects/${stage.projectId}` });
    await page.getByRole("button", { name: "Adjust the credit" }).click();
    await page.getByLabel("Amount in dollars").fill("-1.25");
    await page.getByLabel("Reason").fill("a correction");
    await page.getByRole("button", { name: "Book −$1.25" }).click();
    await page.getByText("The project now has $248.75.").waitFor();
    await page.getByRole("button", { name: "Close" }).click();
    await page.getByRole("heading", { level: 1, name: "Harbour Custody" }).waitFor();
    await page.locator(".stat", { hasText: "Balance" }).getByText("$248.75").waitFor();
  });

  it("says why a form cannot be sent, and cuts nothing of a pasted text", async () => {
    const page = await pages.signedIn("operator");
    await visit(page, { path: `projects/${stage.projectId}` });
    await page.getByRole("button", { name: "Adjust the credit" }).click();
    await page.getByLabel("Amount in dollars").fill("1e3");
    await page.getByText("Write an amount such as 12.50, with at most six decimals.").waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Create a key" }).click();
    await page.getByLabel("Name").fill("x".repeat(134));
    await page.getByText("This has 134 characters, and 100 are allowed.").waitFor();
    await page.getByText("Mend the marked field first.").waitFor();
    await page.getByLabel("Name").fill("fits");
    await page.getByLabel("Allowed addresses").fill("10.0.0.300");
    await page.getByText("“10.0.0.300” is no IP address or CIDR block").waitFor();
    expect(await page.getByRole("button", { name: "Create", exact: true }).isDisabled()).toBe(true);
    expect(await page.getByRole("dialog").textContent()).not.toContain("regex");
  });

  it("sets the balance below which a project is warned, and removes the warning", async () => {
    const page = await pages.newPage();
    const { apiKey } = await stage.newProject("careful");
    await signIn(page, { ...service.access, apiKey }, "project");
    await visit(page, { path: "balance" });
    await page.getByText("There is no warning before the balance runs out.").waitFor();
    const change = page.getByRole("button", { name: "Change the warning" });
    const amount = page.getByLabel("Warn below, in dollars");
    await change.click();
    await amount.fill("0");
    await page.getByText("Write an amount above zero").waitFor();
    await amount.fill("2.5");
    await page.getByText("Before: none. After: $2.50.").waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("There is a warning below $2.50.").waitFor();
    await change.click();
    await amount.fill("");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("There is no warning before the balance runs out.").waitFor();
  });

  it("says that a sign request or a dWallet does not exist", async () => {
    const page = await pages.signedIn("project");
    for (const [path, title] of [
      [`signs/${randomUUID()}`, "No such sign request"],
      ["signs/no-id", "No such sign request"],
      [`dwallets/0x${"0".repeat(64)}`, "No such dWallet"],
    ] as const) {
      await visit(page, { path });
      await page.getByRole("heading", { level: 1, name: title }).waitFor();
      expect(await page.getByRole("alert").count()).toBe(0);
    }
    // The browser logs each refused read.
    expect(faults.splice(0)).toHaveLength(3);
  });

  it("offers nothing to do on a project that does not exist", async () => {
    const page = await pages.signedIn("operator");
    for (const id of [randomUUID(), "no-id"]) {
      await visit(page, { path: `projects/${id}` });
      await page.getByRole("heading", { level: 1, name: "No such project" }).waitFor();
      expect(await page.getByRole("button", { name: /key|credit/ }).count()).toBe(0);
    }
    expect(faults.splice(0)).toHaveLength(1);
  });

  it("keeps a filter in the address, and the theme across a reload", async () => {
    const page = await pages.newPage();
    await signIn(page, service.access, "operator");
    await visit(page, { path: "transactions" });
    await page.getByLabel("State", { exact: true }).selectOption({ label: "landed" });
    await page.locator("summary", { hasText: "Account: " }).click();
    await page.getByLabel("Theme").selectOption("dark");
    expect(await axeFaults(page)).toEqual([]);
    expect(page.url()).toMatch(/#\/transactions\?state=2$/);
    await page.goBack();
    expect(await page.getByLabel("State", { exact: true }).inputValue()).toBe("");
    await page.goForward();
    await page.reload();
    await page.locator(':root[data-theme="dark"]').waitFor();
    expect(await page.evaluate("Object.keys(localStorage)")).toEqual(["console-theme"]);
    await page.getByLabel("Key", { exact: true }).fill(service.access.adminApiKey);
    await page.keyboard.press("Enter");
    await page.getByLabel("State", { exact: true }).waitFor();
    expect(await page.getByLabel("State", { exact: true }).inputValue()).toBe("2");
  });

  it("marks old figures while the service is down, and recovers by itself", async () => {
    const page = await pages.newPage();
    await page.clock.install();
    await signIn(page, service.access, "operator");
    await visit(page, { path: "lanes" });
    await visit(page, { path: "" });
    await page.getByText("Checks: every check passes").waitFor();
    await page.route("**/tss.v1.*/**", (route) => route.abort());
    await page.clock.fastForward("00:11");
    const old = page.locator(".panel", { hasText: "State" }).locator(".stale");
    await old.getByText("This is the last answer").waitFor();
    const banner = page.getByText("The console tries again by itself");
    await banner.waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await page.unroute("**/tss.v1.*/**");
    await page.clock.fastForward("00:16");
    await banner.waitFor({ state: "detached" });
    await old.waitFor({ state: "detached" });
    expect(faults.splice(0).length).toBeGreaterThan(0);
  });

  it("waits for a slow answer instead of asking again, and notices a service that holds every call", async () => {
    const page = await pages.newPage();
    await page.clock.install();
    await signIn(page, service.access, "operator");
    await visit(page, { path: "admin-keys" });
    let askedCount = 0;
    // Never answered.
    await page.route("**/tss.v1.*/**", (route) => {
      if (route.request().url().includes("GetLanes")) askedCount++;
    });
    const asked = page.waitForRequest("**/tss.v1.Operations/GetLanes");
    await page.evaluate('location.hash = "#/lanes"');
    await asked;
    await page.clock.runFor(25_000);
    expect(askedCount).toBe(1);
    await page.clock.runFor(6_000);
    await page.getByText("The console tries again by itself").waitFor();
  });

  it("sorts a list, chooses its columns and saves it as CSV, and the address keeps the view", async () => {
    const page = await pages.signedIn("project");
    await visit(page, { path: "signs" });
    await page.getByRole("columnheader", { name: "Requested" }).getByRole("button").click();
    await page.locator('th[aria-sort="ascending"]', { hasText: "Requested" }).waitFor();
    expect(await page.getByRole("row").nth(1).textContent()).toContain(
      `${stage.signRequestId.slice(0, 6)}…${stage.signRequestId.slice(-6)}`,
    );
    await page.getByText("View of Sign requests").click();
    await page.getByRole("checkbox", { name: "Price" }).uncheck();
    await page.getByRole("columnheader", { name: "Price" }).waitFor({ state: "detached" });
    expect(await axeFaults(page)).toEqual([]);
    expect(page.url()).toMatch(/#\/signs\?signs\.sort=Requested&signs\.hidden=Price$/);
    await page.keyboard.press("Escape");
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "CSV of Sign requests" }).click(),
    ]);
    expect(download.suggestedFilename()).toBe("sign-requests.csv");
    const [titles, ...lines] = readFileSync(await download.path(), "utf8")
      .trim()
      .split("\r\n");
    expect(titles).toBe("Request,State,Algorithm,dWallet,User,Requested,Changed");
    expect(lines.at(-1)).toMatch(new RegExp(`^${stage.signRequestId},completed,EdDSA,${stage.dwalletId},,2`));
    await page.goBack();
    await page.getByRole("columnheader", { name: "Price" }).waitFor();
    await page.goBack();
    await page.locator("th[aria-sort]").waitFor({ state: "detached" });
  });

  it("shows the characters of a name that would turn its direction around", async () => {
    await stage.admin.createProject({ name: `invoice\u202efdp.${"exe".repeat(20)}` });
    const page = await pages.signedIn("operator");
    await visit(page, { path: "projects" });
    await page.getByRole("link", { name: "invoice⟨U+202E⟩fdp" }).waitFor();
    await page.setViewportSize({ width: 1024, height: 700 });
    expect(await page.evaluate("document.querySelector('.table-scroll').scrollWidth")).toBe(
      await page.evaluate("document.querySelector('.table-scroll').clientWidth"),
    );
  });

  it("shows the reason of a failed call, and the data once the service answers", async () => {
    const page = await pages.signedIn("project");
    const prices = "**/tss.v1.Billing/GetPricing*";
    await page.route(prices, (route) => route.abort());
    await visit(page, { path: "prices" });
    await page.getByText("The service does not answer this call.").waitFor();
    expect(await page.getByRole("alert").allInnerTexts()).toEqual(["The service does not answer."]);
    expect(await axeFaults(page)).toEqual([]);
    await page.unroute(prices);
    await page.getByText("Signatures by algorithm").waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
    expect(faults.splice(0).length).toBeGreaterThan(0);
  });

  it("goes through a long list page by page, and back", async () => {
    const { projectId } = stage;
    for (let count = 0; count < 60; count++)
      await stage.admin.adjustCredit({ projectId, amountMicroUsd: 1n, reason: "one of many" });
    const page = await pages.signedIn("operator");
    await visit(page, { path: "audit" });
    const pager = page.getByRole("navigation", { name: "Pages of audit events" });
    await pager.getByText("Page 1", { exact: true }).waitFor();
    const firstEvent = page.getByRole("link", { name: "1", exact: true });
    expect(await firstEvent.count()).toBe(0);
    const next = pager.getByRole("button", { name: "Next" });
    for (let number = 2; await next.isEnabled(); number++) {
      await next.click();
      await pager.getByText(`Page ${number}`, { exact: true }).waitFor();
      await page.locator(".skeleton").waitFor({ state: "detached" });
    }
    await firstEvent.waitFor();
    await page.goBack();
    await firstEvent.waitFor({ state: "detached" });
    await page.goForward();
    await firstEvent.waitFor();
    await pager.getByRole("button", { name: "Previous" }).click();
    await firstEvent.waitFor({ state: "detached" });
    await page
      .getByRole("button", { name: `Only the project ${projectId}` })
      .first()
      .click();
    await pager.getByText("Page 1", { exact: true }).waitFor();
    await page.getByText("Only the events of Harbour Custody").waitFor();
    expect(page.url()).toMatch(new RegExp(`#/audit\\?project=${projectId}$`));
  });

  it("says that a long list is sorted within its page, and sorts all rows on request", async () => {
    const page = await pages.signedIn("operator");
    await visit(page, { path: "audit" });
    const pager = page.getByRole("navigation", { name: "Pages of audit events" });
    await pager.getByText("Page 1", { exact: true }).waitFor();
    await page.getByRole("columnheader", { name: "Event" }).getByRole("button").click();
    await page.getByText("Sorted by “Event” within the 50 rows of this page.").waitFor();
    const firstRow = page.getByRole("row").nth(1).getByRole("link", { name: "1", exact: true });
    expect(await firstRow.count()).toBe(0);
    await page.getByRole("button", { name: "Sort all rows" }).click();
    await page.getByText(/^Sorted by “Event” among all \d+ rows\./).waitFor();
    await firstRow.waitFor();
    expect(await pager.count()).toBe(0);
    expect(await axeFaults(page)).toEqual([]);
  });

  it("filters the audit trail by action and by day", async () => {
    const page = await pages.signedIn("operator");
    await visit(page, { path: "audit" });
    await page.getByLabel("Action", { exact: true }).fill("project.create");
    await page.getByRole("button", { name: "Filter", exact: true }).click();
    await page.getByRole("row").filter({ hasText: "project.credit" }).first().waitFor({ state: "detached" });
    await page.getByRole("row").filter({ hasText: "project.create" }).first().waitFor();
    await page.getByLabel("Last day (UTC)").fill("2020-01-31");
    await page.getByLabel("First day (UTC)").fill("2020-02-01");
    await page.getByText("The last day comes before the first one.").waitFor();
    await page.getByLabel("First day (UTC)").fill("2020-01-01");
    await page.getByRole("button", { name: "Filter", exact: true }).click();
    await page.getByText("No event matches the filter.").waitFor();
    expect(await axeFaults(page)).toEqual([]);
    expect(page.url()).toMatch(/#\/audit\?action=project\.create&from=2020-01-01&to=2020-01-31$/);
    await page.goBack();
    await page.getByRole("row").filter({ hasText: "project.create" }).first().waitFor();
    expect(page.url()).toMatch(/#\/audit\?action=project\.create$/);
    expect(await page.getByLabel("Last day (UTC)").inputValue()).toBe("");
    await page.goForward();
    await page.getByText("No event matches the filter.").waitFor();
    await page.getByRole("button", { name: "Show all" }).click();
    await page.getByRole("row").filter({ hasText: "project.credit" }).first().waitFor();
  });
});
