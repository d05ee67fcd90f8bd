import type { Page } from "playwright-core";
import type { DevelopmentAccess } from "../../../src/cli/connections/development-file.ts";
import { STAGE_USER, type Stage } from "./stage.ts";

/** Every page of the console by the role that sees it, with a file name. */
export function tourOf(
  stage: Omit<Stage, "client" | "admin" | "sign" | "hold" | "newProject">,
): readonly Stop[] {
  return [
    { role: "operator", name: "overview", path: "" },
    { role: "operator", name: "signatures", path: "signatures" },
    { role: "operator", name: "story", path: `subjects/${stage.heldRequestId}` },
    { role: "operator", name: "story-dwallet", path: `subjects/${stage.dwalletId}` },
    { role: "operator", name: "lanes", path: "lanes" },
    { role: "operator", name: "presigns", path: "presigns" },
    { role: "operator", name: "treasury", path: "treasury" },
    { role: "operator", name: "transactions", path: "transactions" },
    { role: "operator", name: "money", path: "money" },
    { role: "operator", name: "projects", path: "projects" },
    { role: "operator", name: "project", path: `projects/${stage.projectId}` },
    { role: "operator", name: "admin-keys", path: "admin-keys" },
    { role: "operator", name: "audit", path: "audit" },
    { role: "operator", name: "audit-event", path: "audit/1" },
    { role: "operator", name: "seals", path: "seals" },
    { role: "operator", name: "runbook", path: "runbook" },
    { role: "operator", name: "runbook-entry", path: "runbook/OutboxStuck" },
    { role: "project", name: "overview", path: "" },
    { role: "project", name: "balance", path: "balance" },
    { role: "project", name: "usage", path: "usage" },
    { role: "project", name: "deposits", path: "deposits" },
    { role: "project", name: "prices", path: "prices" },
    { role: "project", name: "dwallets", path: "dwallets" },
    { role: "project", name: "dwallet", path: `dwallets/${stage.dwalletId}` },
    { role: "project", name: "signs", path: "signs" },
    { role: "project", name: "sign", path: `signs/${stage.signRequestId}` },
    { role: "project", name: "sign-held", path: `signs/${stage.heldRequestId}` },
    { role: "project", name: "users", path: "users" },
    { role: "project", name: "user", path: `users/${encodeURIComponent(STAGE_USER)}` },
    { role: "project", name: "sessions", path: "sessions" },
    { role: "project", name: "webhooks", path: "webhooks" },
    { role: "project", name: "webhook", path: `webhooks/${stage.webhookEndpointId}` },
    { role: "project", name: "keys", path: "keys" },
  ];
}

export interface Stop {
  readonly role: "operator" | "project";
  readonly name: string;
  /** The address after `#/`. */
  readonly path: string;
}

/** Opens the console and signs in. */
export async function signIn(
  page: Page,
  access: Pick<DevelopmentAccess, "baseUrl" | "adminApiKey" | "apiKey">,
  role: Stop["role"],
): Promise<void> {
  await page.goto(`${access.baseUrl}/console`);
  await page
    .getByLabel("Key", { exact: true })
    .fill(role === "operator" ? access.adminApiKey : access.apiKey);
  await page.getByRole("button", { name: /^Sign in/ }).click();
  // On a phone the menu is collapsed.
  await page.locator("#navigation").waitFor({ state: "attached" });
}

/** Goes to a page as a link would, and waits until its data are loaded. */
export async function visit(page: Page, { path }: Pick<Stop, "path">): Promise<void> {
  await page.evaluate((hash) => {
    location.hash = hash;
  }, `#/${path}`);
  await page.locator("main h1").waitFor();
  await page.waitForFunction(
    (hash) => location.hash === hash && document.querySelector("main h1 ~ *, main header ~ *") !== null,
    `#/${path}`,
  );
  await page.waitForFunction(() => document.querySelector(".skeleton") === null);
}
