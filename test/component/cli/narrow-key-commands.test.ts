/** `tss key` grants narrow keys and keys for pages, and shows their limits, over a running service. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { DATABASE_TIMEOUT_MS } from "../../support/database/database.ts";
import { objectId } from "../../support/database/rows.ts";
import { ADMIN_KEY, type ErrorStack, startErrorStack } from "../service/platform/errors/error-stack.ts";
import { printed, runCli } from "./run-cli.ts";

let stack: ErrorStack;
let environment: Record<string, string>;
let folder: string;
let projectId: string;

beforeAll(async () => {
  stack = await startErrorStack();
  folder = mkdtempSync(path.join(tmpdir(), "tss-cli-"));
  environment = { TSS_URL: stack.url, TSS_ADMIN_KEY: ADMIN_KEY, DATA_DIR: folder };
}, DATABASE_TIMEOUT_MS);
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await stack.close();
});
beforeEach(async () => {
  ({ projectId } = await stack.newProject());
});

const create = (...limits: string[]) => [
  "key",
  "create",
  "--project",
  projectId,
  "--name",
  "narrow",
  ...limits,
];

describe("a narrow key", { timeout: DATABASE_TIMEOUT_MS }, () => {
  it("is created with all its limits, and listed with what is left", async () => {
    const dwalletId = objectId();
    const made = await printed(
      create(
        ...["--scopes", "sign,read", "--user", "alice", "--user", "b,ob", "--dwallet", dwalletId],
        ...["--algorithm", "EdDSA,Taproot", "--budget", "5.00,100req/1d"],
      ),
      environment,
    );
    const limits = `users alice,"b,ob"; dwallets ${dwalletId}; Taproot,EdDSA; budget $5.00,100req/1d`;
    expect(made).toContain(`limits       ${limits}`);
    expect(made).toContain("budget left  $5.00,100req\n");
    const [, keyId] = /^key +(\S+)/m.exec(made)!;
    await stack.database.query(
      `UPDATE allowance SET newest_slot = budget_slot(now(), window_seconds), slot_counts = '{1}',
         slot_micro_usd = '{1500000}' WHERE id = $1`,
      [keyId],
    );
    const listed = await printed(["key", "list", "--project", projectId], environment);
    expect(listed).toMatch(/ {2}LIMITS +BUDGET LEFT +NAME$/m);
    expect(listed).toContain(`${limits}  $3.50,99req; more at 2`);
    // The project's other key has no limits.
    expect(listed).toMatch(/ {2}none +key$/m);
  });

  it.each([
    ["100req/12h", { windowSeconds: 43_200, maxCount: 100 }],
    ["0.000001/60m", { windowSeconds: 3_600, maxMicroUsd: "1" }],
    ["7req,12.5/366d", { windowSeconds: 31_622_400, maxCount: 7, maxMicroUsd: "12500000" }],
  ])("has the budget %s", async (budget, expected) => {
    const made = await printed(create("--budget", budget, "--json"), environment);
    expect(JSON.parse(made)).toMatchObject({ apiKey: { allowance: { budget: expected } } });
  });

  it.each([
    ["5.00", "takes a budget such as 5.00/1d, 100req/12h or 5.00,100req/1d"],
    ["5.00/1d/1d", "takes a budget"],
    ["1,2/1d", "takes a budget"],
    ["1req,2req/1d", "takes a budget"],
    ["0/1d", "takes a budget"],
    ["5.00/0", "takes a budget"],
    ["/1d", "takes an amount in US dollars"],
    ["0req/1d", "takes a whole number from 1 to 1000000000"],
    ["5.00/367d", "takes a duration such as"],
    ["1e3/1d", "takes an amount in US dollars"],
  ])("is not created with the budget %s", async (budget, words) => {
    const refused = await runCli(create("--budget", budget), environment);
    expect(refused).toMatchObject({ exitCode: 2, err: expect.stringContaining(`--budget ${words}`) });
  });

  it("is not created with a scope that evades its limits, and the error names the scope", async () => {
    const refused = await runCli(create("--user", "alice"), environment);
    expect(refused).toMatchObject({
      exitCode: 1,
      err: expect.stringContaining("VALIDATION: scopes: billing"),
    });
  });
});

describe("a key for pages", { timeout: DATABASE_TIMEOUT_MS }, () => {
  const origins = "https://app.example,http://localhost:5173";

  it("works in pages of its origins alone, and is listed with them", async () => {
    const made = await printed(create("--origin", origins.replace(",", ", "), "--json"), environment);
    const { apiKey, plaintext } = JSON.parse(made);
    expect(apiKey.allowedOrigins).toEqual(origins.split(","));
    const listed = await printed(["key", "list", "--project", projectId], environment);
    expect(listed).toMatch(/ {2}ADDRESSES +ORIGINS +LIMITS /);
    expect(listed).toContain(` any        ${origins}  none `);
    expect(await statusOf(plaintext, "https://app.example")).toBe(200);
    expect(await statusOf(plaintext, "https://evil.example")).toBe(403);
  });

  it("is one for every origin with *, and for none without the option", async () => {
    const shown = await printed(create("--origin", "*"), environment);
    expect(shown).toMatch(/^origins {4}\*$/m);
    expect(await statusOf(plaintextOf(shown), "https://any.example")).toBe(200);
    const usual = await printed(create(), environment);
    expect(usual).toMatch(/^origins {4}none$/m);
    expect(await statusOf(plaintextOf(usual), "https://any.example")).toBe(403);
  });

  it("gets other origins later, or none", async () => {
    const { apiKey, plaintext } = JSON.parse(
      await printed(create("--origin", origins, "--json"), environment),
    );
    const allow = (list: string) => ["key", "allow-origins", apiKey.apiKeyId, "--origin", list];
    expect(await printed(allow("https://new.example"), environment)).toContain(
      "origins    https://new.example",
    );
    expect(await statusOf(plaintext, "https://app.example")).toBe(403);
    expect(await statusOf(plaintext, "https://new.example")).toBe(200);
    expect(await printed(allow("none"), environment)).toMatch(/^origins {4}none$/m);
    expect(await statusOf(plaintext, "https://new.example")).toBe(403);
  });

  it.each([
    ["https://app.example,", 2, "--origin takes web origins, such as https://app.example, or *"],
    ["https://app.example/page", 1, "VALIDATION: allowed_origins"],
  ])("is not created for %s", async (origin, exitCode, words) => {
    const refused = await runCli(create("--origin", origin), environment);
    expect(refused).toMatchObject({ exitCode, err: expect.stringContaining(words) });
  });
});

function plaintextOf(shown: string): string {
  return /^api key +(\S+)/m.exec(shown)?.[1] ?? "";
}

async function statusOf(apiKey: string, origin: string): Promise<number> {
  const { status } = await fetch(`${stack.url}/v1/billing/balance`, {
    headers: { authorization: `Bearer ${apiKey}`, origin },
  });
  return status;
}
