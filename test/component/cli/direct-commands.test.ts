import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { OpenDatabase } from "../../../src/cli/connections/open-configured-database.ts";
import { type Database, newId } from "../../../src/service/platform/store/database.ts";
import { takePidLock } from "../../../src/service/platform/store/pid-lock.ts";
import { tokenKey } from "../../support/crypto/signed-token.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../support/database/database.ts";
import { runTss as spawnTss } from "../../support/service/service.ts";
import { masked, printed, runCli } from "./run-cli.ts";

const ID = "00000000-0000-0000-0000-000000000000";
let database: Database;
let projectId: string;

beforeAll(async () => {
  database = await openTestDatabase();
  const create = ["project", "create", "--name", "acme", "--credit-usd", "50", "--json"];
  const { apiKey, ...project } = JSON.parse(await done(...create)) as { projectId: string; apiKey: string };
  expect(project).toEqual({ projectId: expect.any(String), network: "localnet" });
  expect(apiKey).toMatch(/^tss_local_\w{32}$/);
  projectId = project.projectId;
}, DATABASE_TIMEOUT_MS);
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await database.close();
});

const folder = mkdtempSync(path.join(tmpdir(), "direct-commands-"));

/** Gives each command the suite's database, and never closes it. */
const openDatabase: OpenDatabase = async () => ({ ...database, close: async () => {} });
const tss = (...argv: string[]) => runCli(argv, {}, openDatabase);
const done = (...argv: string[]) => printed(argv, {}, openDatabase);
const lines = (...each: string[]): string => each.join("\n");

describe("a command on the database itself", { timeout: DATABASE_TIMEOUT_MS }, () => {
  it("creates a project with credit and a key", async () => {
    expect(masked(await done("project", "list")).split("\n")[1]).toBe(
      `${ID}  localnet   $50.00  $0.00  2026-01-01T00:00:00Z  acme`,
    );
    const keys = await done("key", "list", "--project", projectId, "--json");
    expect(JSON.parse(keys)).toMatchObject({
      name: "acme",
      scopes: ["onboard", "sign", "read", "billing", "sessions", "webhooks"],
    });
  });

  it("creates and revokes keys and adjusts credit like the service", async () => {
    const create = ["key", "create", "--project", projectId, "--name", "ci", "--json"];
    const made = JSON.parse(await done(...create, "--idempotency-key", "a")) as {
      apiKey: { apiKeyId: string };
      plaintext: string;
    };
    expect(made.plaintext).toMatch(/^tss_local_\w{32}$/);
    const again = JSON.parse(await done(...create, "--idempotency-key", "a")) as typeof made;
    expect(again).toEqual({ ...made, plaintext: "" });
    expect(await done("key", "revoke", made.apiKey.apiKeyId)).toMatch(/^revoked {4}2\d{3}-/m);
    const adjust = ["credit", "adjust", "--project", projectId, "--reason", "goodwill", "--amount-usd"];
    expect(masked(await done(...adjust, "-0.5"))).toBe(
      lines(`entry    credit:${ID}`, "amount   -$0.50", "balance  $49.50"),
    );
    expect(await tss(...adjust, "-50")).toMatchObject({
      exitCode: 1,
      out: "",
      err: "tss credit adjust: INSUFFICIENT_CREDIT: the balance would fall below the held amount",
    });
  });

  it("adds, lists and removes an identity provider", async () => {
    const file = path.join(folder, "keys.json");
    writeFileSync(file, JSON.stringify({ keys: [tokenKey("ES256", "k1").jwk] }));
    const add = ["identity-provider", "add", "--project", projectId, "--issuer", "https://login.example"];
    const made = JSON.parse(
      await done(
        ...add,
        "--audiences",
        "app,api",
        "--keys-file",
        file,
        "--max-age",
        "5m",
        "--budget",
        "5.00/1d",
        "--json",
      ),
    ) as { identityProvider: { identityProviderId: string } };
    expect(made.identityProvider).toMatchObject({
      projectId,
      settings: {
        ...{ audiences: ["app", "api"], tokenMaxAgeSeconds: 300, scopes: ["onboard", "sign", "read"] },
        budget: { windowSeconds: 86_400, maxMicroUsd: "5000000" },
      },
    });
    expect(await tss(...add, "--audiences", "app", "--keys-file", file)).toMatchObject({
      exitCode: 1,
      err: expect.stringContaining("IDENTITY_PROVIDER_EXISTS"),
    });
    const { identityProviderId } = made.identityProvider;
    expect(await done("identity-provider", "list", "--project", projectId)).toContain(
      "https://login.example",
    );
    const removed = await done("identity-provider", "remove", identityProviderId);
    expect(removed).toContain(identityProviderId);
    expect(removed).toMatch(/^budget +\$5\.00\/1d$/m);
    expect(removed).toMatch(/^sessions +0 ended$/m);
    expect(await done("identity-provider", "list", "--project", projectId)).toBe("");
  });

  it("lists what a removed network has left, and creates nothing there", async () => {
    const left = { name: "left", network: "testnet" };
    const { id } = await database.prisma.project.create({ data: { id: newId(), ...left } });
    const listed = await done("project", "list", "--network", "testnet", "--json");
    expect(JSON.parse(listed)).toMatchObject({ projectId: id, ...left });
    expect(await done("audit", "list", "--network", "testnet", "--json")).toBe("");
    for (const command of [
      ["project", "create", "--name", "more", "--network", "testnet"],
      ["key", "create", "--project", id, "--name", "ci", "--network", "testnet"],
    ])
      expect(await tss(...command)).toMatchObject({
        exitCode: 2,
        err: expect.stringContaining("--network takes a network of NETWORKS: localnet"),
      });
    await database.prisma.project.delete({ where: { id } });
  });

  it("creates operators' keys without a key, so that the first one can be created", async () => {
    const made = await done("admin-key", "create", "--name", "alice", "--expires", "2090-01-31");
    expect(masked(made)).toBe(
      lines(
        `key        ${ID}`,
        "name       alice",
        "expires    2026-01-01T00:00:00Z",
        "revoked    no",
        "admin key  tss_admin_KEY (shown once)",
      ),
    );
    const [, keyId] = /^key +(\S+)/.exec(made)!;
    expect(await done("admin-key", "revoke", keyId!)).toMatch(/^revoked {2}2\d{3}-/m);
    expect(masked(await done("admin-key", "list")).split("\n")[1]).toMatch(
      /^0{8}-\S+ {2}alice {2}tss_admin_PRE {2}2026-01-01T00:00:00Z {2}never {5}2026-01-01T00:00:00Z {2}2026-01-01T00:00:00Z$/,
    );
  });

  it("lists the ledger of the named project, and verifies it", async () => {
    expect(masked(await done("ledger", "list", "--project", projectId))).toBe(
      lines(
        `TIME                  KIND     AMOUNT  BALANCE  ENTRY${" ".repeat(40)}DESCRIPTION`,
        `2026-01-01T00:00:00Z  credit   -$0.50   $49.50  credit:${ID}  goodwill`,
        `2026-01-01T00:00:00Z  credit  +$50.00   $50.00  credit:${ID}  first credit`,
      ),
    );
    expect((await tss("ledger", "list")).err).toMatch(/^tss ledger list: --project is missing/);
    expect(await tss("ledger", "list", "--project", ID)).toMatchObject({
      exitCode: 1,
      err: expect.stringContaining("PROJECT_NOT_FOUND"),
    });
    expect(await done("ledger", "verify")).toMatch(/^the ledger is consistent/);
    expect(await done("ledger", "verify", "--json")).toBe("[]");
  });

  it("is audited under the name of the machine's user", async () => {
    const actors = (await done("audit", "list", "--all", "--json"))
      .split("\n")
      .map((line) => (JSON.parse(line) as { actor: string }).actor);
    expect(new Set(actors)).toEqual(new Set([`system:${userInfo().username}`]));
  });

  it("with --direct ignores TSS_URL, and refuses --url", async () => {
    const elsewhere = { TSS_URL: "http://127.0.0.1:1", TSS_ADMIN_KEY: "x" };
    expect((await runCli(["project", "list"], elsewhere, openDatabase)).exitCode).toBe(3);
    expect((await runCli(["project", "list", "--direct"], elsewhere, openDatabase)).out).toContain(projectId);
    expect(await tss("project", "list", "--direct", "--url", "http://127.0.0.1:1")).toMatchObject({
      exitCode: 2,
      err: expect.stringContaining("--direct and --url exclude each other"),
    });
  });

  it("says if it needs a running service", async () => {
    for (const argv of [["presign", "health"], ["treasury"], ["transaction", "list"]]) {
      expect(await tss(...argv)).toMatchObject({
        exitCode: 2,
        err: expect.stringContaining("this command needs a running service: set --url or TSS_URL"),
      });
    }
    expect((await tss("presign", "health", "--direct")).err).toMatch(/unknown option --direct/);
  });
});

/** The outcome of `tss project list` in a separate process. */
async function refusal(folder: string): Promise<{ exitCode: number; err: string }> {
  const child = spawnTss(["project", "list"], { DATA_DIR: folder });
  let err = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    err += text;
  });
  const [exitCode] = (await once(child, "close")) as [number];
  return { exitCode, err };
}

/** Creating one runs initdb, which takes up to a minute on a busy machine. */
describe("an embedded database", { timeout: 3 * DATABASE_TIMEOUT_MS }, () => {
  const folders: string[] = [];
  const newFolder = (): string => {
    const folder = mkdtempSync(path.join(tmpdir(), "tss-direct-"));
    folders.push(folder);
    return folder;
  };
  afterAll(() => {
    for (const folder of folders) rmSync(folder, { recursive: true });
  });

  it("that is new is migrated when the first project is created", async () => {
    const made = await printed(["project", "create", "--name", "first"], { DATA_DIR: newFolder() });
    expect(masked(made)).toMatch(/^project {2}0{8}-/);
  });

  it("is not created by other commands, which say where they looked", async () => {
    const folder = newFolder();
    expect(await runCli(["project", "list"], { DATA_DIR: folder })).toEqual({
      exitCode: 3,
      out: "",
      err:
        `tss project list: there is no database in ${folder}: ` +
        "set DATABASE_URL or DATA_DIR, or create one with `tss migrate`",
    });
    expect(readdirSync(folder)).toEqual([]);
  });

  it("that is broken is reported in words, and the command ends", async () => {
    const [broken, shut] = [newFolder(), newFolder()];
    mkdirSync(path.join(broken, "pg"));
    writeFileSync(path.join(broken, "pg", "PG_VERSION"), "15\n");
    mkdirSync(path.join(shut, "pg"), { mode: 0o000 });
    const refusals = await Promise.all([broken, shut].map(refusal));
    for (const { exitCode, err } of refusals) {
      expect(exitCode).toBe(3);
      expect(err).toMatch(
        /^tss project list: cannot open the database: cannot open the embedded database in \S+\/pg: /,
      );
      expect(err).not.toContain("[object");
    }
  });

  it("that a service has open is not opened again: commands call the service, and --direct names its process", async () => {
    const folder = newFolder();
    const access = { baseUrl: "http://127.0.0.1:1", adminApiKey: "x" };
    writeFileSync(path.join(folder, "dev.json"), JSON.stringify(access));
    mkdirSync(path.join(folder, "pg"));
    const held = await takePidLock(path.join(folder, "pg.lock"));
    try {
      const called = await runCli(["project", "list"], { DATA_DIR: folder });
      expect(called).toMatchObject({ exitCode: 3, out: "" });
      expect(called.err).toContain(`calling the service at http://127.0.0.1:1, which runs on ${folder}`);
      const direct = await runCli(["project", "list", "--direct"], { DATA_DIR: folder });
      expect(direct).toMatchObject({ exitCode: 3, out: "" });
      expect(direct.err).toContain(`process ${process.pid} uses the embedded database`);
      expect(direct.err).toMatch(/use the running service that has it: --url http:\/\/127\.0\.0\.1:1$/);
      const elsewhere = { DATA_DIR: folder, DATABASE_URL: "postgresql://127.0.0.1:2/tss" };
      expect((await runCli(["project", "list"], elsewhere)).err).not.toContain("calling the service");
    } finally {
      await held.release();
    }
    expect((await runCli(["presign", "health"], { DATA_DIR: folder })).err).toContain(
      "this command needs a running service",
    );
  });
});

describe("a database server", () => {
  it("whose database is not migrated is not changed, and the command says how to migrate it", async () => {
    const empty = await openTestDatabase();
    await empty.query("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
    expect(await runCli(["project", "list"], {}, async () => empty)).toEqual({
      exitCode: 1,
      out: "",
      err: "tss project list: the database is not migrated to this version; run `tss migrate` first",
    });
  });

  it("that does not answer ends the command with 3, and its password is not shown", async () => {
    const refused = await runCli(["project", "list"], {
      DATABASE_URL: "postgresql://tss:hunter2@127.0.0.1:1/tss",
    });
    expect(refused).toMatchObject({ exitCode: 3, out: "" });
    expect(refused.err).toMatch(/^tss project list: cannot open the database: .*ECONNREFUSED/);
    expect(refused.err).not.toContain("hunter2");
  });
});
