import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ListUsersResponseSchema } from "../../../gen/proto/tss/v1/users_pb.ts";
import { sealAll } from "../../support/database/audit-trail.ts";
import { DATABASE_TIMEOUT_MS } from "../../support/database/database.ts";
import { ADMIN_KEY, type ErrorStack, startErrorStack } from "../service/platform/errors/error-stack.ts";
import { masked, printed, runCli } from "./run-cli.ts";

const ID = "00000000-0000-0000-0000-000000000000";
const TIME = "2026-01-01T00:00:00Z";
let stack: ErrorStack;
let environment: Record<string, string>;
let folder: string;

beforeAll(async () => {
  stack = await startErrorStack();
  folder = mkdtempSync(path.join(tmpdir(), "tss-cli-"));
  environment = { TSS_URL: stack.url, TSS_ADMIN_KEY: ADMIN_KEY, DATA_DIR: folder };
  // The first command loads the modules that all of them need.
  await printed(["project", "list"], environment);
}, DATABASE_TIMEOUT_MS);
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await stack.close();
});

/** A port without a listener. */
async function shutPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const lines = (...each: string[]): string => each.join("\n");
const tss = (...argv: string[]) => runCli(argv, environment);
const done = (...argv: string[]) => printed(argv, environment);
const json = async <T>(...argv: string[]) => JSON.parse(await done(...argv, "--json")) as T;
const createKey = (project: string, ...more: string[]) =>
  json<{ apiKey: { apiKeyId: string }; plaintext: string }>(
    ...["key", "create", "--project", project, "--name", "ci", ...more],
  );

describe("a command against a running service", { timeout: DATABASE_TIMEOUT_MS }, () => {
  it("creates a project with credit and a key that works and is shown once", async () => {
    const out = await done("project", "create", "--name", "acme", "--credit-usd", "0.5");
    expect(masked(out)).toBe(
      lines(`project  ${ID}`, "network  localnet", "api key  tss_local_KEY (shown once)"),
    );
    const [, projectId] = /^project {2}(\S+)/.exec(out)!;
    const [, apiKey] = /(tss_local_\S+) \(shown once\)/.exec(out)!;
    const list = await printed(["ledger", "list"], { ...environment, TSS_API_KEY: apiKey! });
    expect(masked(list)).toBe(
      lines(
        `TIME                  KIND    AMOUNT  BALANCE  ENTRY${" ".repeat(40)}DESCRIPTION`,
        `${TIME}  credit  +$0.50    $0.50  credit:${ID}  first credit`,
      ),
    );
    for (const argv of [
      ["project", "list"],
      ["key", "list", "--project", projectId!],
      ["audit", "list"],
    ])
      expect(await done(...argv)).not.toContain(apiKey);
  });

  it("creates a project without a key and without credit", async () => {
    const made = await json("project", "create", "--name", "bare", "--no-key");
    expect(made).toEqual({ projectId: expect.any(String), network: "localnet" });
  });

  it("creates nothing when it repeats an idempotency key, and says that the API key was shown before", async () => {
    const create = ["project", "create", "--name", "twice", "--credit-usd", "2", "--idempotency-key", "once"];
    const first = await json<{ projectId: string }>(...create);
    const again = await done(...create);
    expect(masked(again)).toBe(
      lines(`project  ${ID}`, "network  localnet", "api key  (shown only by the first call)"),
    );
    expect(again).toContain(first.projectId);
    const keys = await done("key", "list", "--project", first.projectId, "--json");
    expect(keys.split("\n")).toHaveLength(1);
  });

  it("lists projects as a table for people and as lines of JSON for scripts", async () => {
    const { projectId } = await json<{ projectId: string }>(
      ...["project", "create", "--name", "Zoë's shop", "--credit-usd", "1234.5", "--no-key"],
    );
    const table = (await done("project", "list", "--limit", "1")).split("\n");
    expect(masked(table.join("\n"))).toBe(
      lines(
        `PROJECT${" ".repeat(31)}NETWORK     BALANCE   HELD  CREATED               NAME`,
        `${ID}  localnet  $1,234.50  $0.00  ${TIME}  Zoë's shop`,
      ),
    );
    expect(JSON.parse(await done("project", "list", "--limit", "1", "--json"))).toEqual({
      projectId,
      name: "Zoë's shop",
      network: "localnet",
      balanceMicroUsd: "1234500000",
      heldMicroUsd: "0",
      createTime: expect.stringMatching(/^\d{4}-/),
    });
  });

  it("ends a list at its limit and says that there is more, or lists everything in small pages", async () => {
    const { projectId } = await json<{ projectId: string }>(
      "project",
      "create",
      "--name",
      "many",
      "--no-key",
    );
    for (let made = 0; made < 5; made++) await createKey(projectId);
    const list = ["key", "list", "--project", projectId, "--json"];
    const some = await tss(...list, "--limit", "3", "--page-size", "2");
    expect(some.err).toBe("more items exist; use --limit or --all");
    const all = await tss(...list, "--all", "--page-size", "2");
    expect(all.err).toBe("");
    expect(new Set(all.out.split("\n")).size).toBe(5);
    expect(all.out.split("\n").slice(0, 3).join("\n")).toBe(some.out);
    expect((await tss(...list, "--all", "--limit", "3")).err).toMatch(
      /^tss key list: --all and --limit exclude/,
    );
  });

  it("prints nothing for a list without rows, and says so on standard error", async () => {
    const { projectId } = await json<{ projectId: string }>(
      "project",
      "create",
      "--name",
      "none",
      "--no-key",
    );
    const list = ["key", "list", "--project", projectId];
    expect(await tss(...list)).toEqual({ exitCode: 0, out: "", err: "no items" });
    expect(await tss(...list, "--json")).toEqual({ exitCode: 0, out: "", err: "" });
  });

  it("creates a key with the requested scopes and expiry, and revokes it", async () => {
    const { projectId } = await stack.newProject();
    const options = ["--scopes", "sign,read", "--expires", "2090-01-31T00:00:00Z"];
    const made = await done("key", "create", "--project", projectId, "--name", "ci", ...options);
    expect(masked(made)).toBe(
      lines(
        `key        ${ID}`,
        `project    ${ID}`,
        "name       ci",
        "scopes     sign,read",
        "addresses  any",
        "origins    none",
        `expires    ${TIME}`,
        "revoked    no",
        "api key    tss_local_KEY (shown once)",
      ),
    );
    expect(made).toContain("expires    2090-01-31T00:00:00Z");
    const [, keyId] = /^key +(\S+)/.exec(made)!;
    expect(await done("key", "revoke", keyId!)).toMatch(/^revoked {4}2\d{3}-/m);
    const again = await tss("key", "revoke", ID);
    expect(again).toMatchObject({ exitCode: 1, out: "" });
    expect(again.err).toMatch(/^tss key revoke: API_KEY_NOT_FOUND: .* \(request \S+\)$/);
  });

  it("rotates a key, shows its successor once, and keeps the old one for the overlap", async () => {
    const { projectId } = await stack.newProject();
    const { apiKey } = await createKey(projectId, "--addresses", "203.0.113.7,2001:db8::/32");
    const out = await done("key", "rotate", apiKey.apiKeyId, "--overlap", "12h");
    expect(masked(out)).toBe(
      lines(
        `key        ${ID}`,
        `project    ${ID}`,
        "name       ci",
        "scopes     onboard,sign,read,billing,sessions,webhooks",
        "addresses  203.0.113.7,2001:db8::/32",
        "origins    none",
        "expires    never",
        "revoked    no",
        "api key    tss_local_KEY (shown once)",
        `old key    ${ID}, until ${TIME}`,
      ),
    );
    expect(out).toContain(`old key    ${apiKey.apiKeyId}`);
    const again = await tss("key", "rotate", apiKey.apiKeyId);
    expect(again).toMatchObject({ exitCode: 1, err: expect.stringContaining("WRONG_STATE") });
    expect((await tss("key", "rotate", apiKey.apiKeyId, "--overlap", "31d")).err).toMatch(
      /--overlap takes a duration such as 45m, 12h or 1d, of 30 days at most/,
    );
  });

  it("replaces or removes the allowed addresses of a key", async () => {
    const { projectId } = await stack.newProject();
    const { apiKey } = await createKey(projectId);
    const allow = ["key", "allow-addresses", apiKey.apiKeyId, "--addresses"];
    expect(await done(...allow, "10.0.0.0/8, ::1")).toMatch(/^addresses {2}10\.0\.0\.0\/8,::1$/m);
    expect(await done(...allow, "any")).toMatch(/^addresses {2}any$/m);
    expect(await tss(...allow, "10.0.0.1/8")).toMatchObject({
      exitCode: 1,
      err: expect.stringContaining("VALIDATION: allowed_addresses"),
    });
  });

  it("accepts an operator's named key, and audits its name", async () => {
    const made = await json<{ plaintext: string }>("admin-key", "create", "--name", "bob");
    const asBob = { ...environment, TSS_ADMIN_KEY: made.plaintext };
    await printed(["project", "create", "--name", "bobs", "--no-key"], asBob);
    const trail = await done("audit", "list", "--actor", "admin:bob", "--json");
    expect(JSON.parse(trail)).toMatchObject({ actor: "admin:bob", action: "project.create" });
    const refused = await runCli(["admin-key", "create", "--name", "eve"], asBob);
    expect(refused).toMatchObject({ exitCode: 1, err: expect.stringContaining("ROOT_KEY_ONLY") });
    expect(await done("admin-key", "list")).not.toContain(made.plaintext);
  });

  it("lists the seals of the audit trail, and verifies the proof of an event", async () => {
    const { projectId } = await json<{ projectId: string }>(
      "project",
      "create",
      "--name",
      "seal",
      "--no-key",
    );
    const [row = ""] = (await done("audit", "list", "--project", projectId, "--json")).split("\n");
    const { auditEventId } = JSON.parse(row) as { auditEventId: string };
    const unsealed = await tss("audit", "proof", auditEventId);
    expect(unsealed).toMatchObject({ exitCode: 1, err: expect.stringContaining("WRONG_STATE") });
    await sealAll(stack.database);
    const proof = await done("audit", "proof", auditEventId);
    expect(proof).toMatch(/^action +project\.create$/m);
    const [, hash = ""] = /^seal hash +([0-9a-f]{64})$/m.exec(proof) ?? [];
    expect(await done("audit", "seals")).toContain(hash);

    await stack.database.query("ALTER TABLE audit_event DISABLE TRIGGER audit_event_append_only");
    await stack.database.query("UPDATE audit_event SET action = 'project.none' WHERE id = $1", [
      auditEventId,
    ]);
    await stack.database.query("ALTER TABLE audit_event ENABLE TRIGGER audit_event_append_only");
    expect(await tss("audit", "proof", auditEventId)).toMatchObject({
      exitCode: 1,
      err: expect.stringContaining("the proof is invalid"),
    });
  });

  it("adjusts credit in both directions, and audits who did it from where", async () => {
    const { projectId } = await stack.newProject(1_000_000n);
    const adjust = ["credit", "adjust", "--project", projectId, "--reason", "goodwill"];
    expect(masked(await done(...adjust, "--amount-usd", "12.25"))).toBe(
      lines(`entry    credit:${ID}`, "amount   +$12.25", "balance  $13.25"),
    );
    expect(await json(...adjust, "--amount-usd", "-0.000001")).toMatchObject({
      ledgerEntry: { amountMicroUsd: "-1", balanceMicroUsd: "13249999", kind: "credit" },
    });
    expect(await tss(...adjust, "--amount-usd", "-14")).toMatchObject({
      exitCode: 1,
      err: expect.stringContaining("INSUFFICIENT_CREDIT: the balance would fall below the held amount"),
    });
    const trail = await done("audit", "list", "--project", projectId, "--actor", "admin");
    expect(
      masked(trail)
        .replace(/ {2}\d+ {2}/g, "  1  ")
        .replace(/^ +\d+ {2}/gm, "")
        .split("\n"),
    ).toEqual([
      expect.stringMatching(
        /^EVENT {2}TIME {18}ACTOR {2}ACTION {10}SUBJECT .* PROJECT .* ADDRESS {4}REQUEST$/,
      ),
      expect.stringMatching(
        /^2026-01-01T00:00:00Z {2}admin {2}project\.credit {2}\S+ +0{8}-\S+ {2}127\.0\.0\.1 {2}\S+$/,
      ),
      expect.stringMatching(/^2026-01-01T00:00:00Z {2}admin {2}project\.credit /),
    ]);
  });

  it("shows and refills the pool by the names of its buckets", async () => {
    const refill = ["presign", "refill", "--bucket", "SECP256K1/Taproot", "--count"];
    expect(await done(...refill, "1")).toBe("1 queued");
    const table = (await done("presign", "health", "--bucket", "SECP256K1/Taproot")).split("\n");
    expect(table[0]).toMatch(
      /^BUCKET {13}READY {2}PENDING {2}HELD {2}USED {2}BURNT {2}LOW WATER {2}HIGH WATER {2}NETWORK KEY$/,
    );
    expect(table[1]).toMatch(/^SECP256K1\/Taproot {6}0 {8}1 {5}0 {5}0 {6}0 {10}1 {11}2 {2}0x[0-9a-f]{64}$/);
    expect(await json("presign", "health", "--bucket", "SECP256K1/Taproot")).toMatchObject({
      buckets: [{ curveName: "SECP256K1", signatureAlgorithmName: "Taproot", ready: 0, pending: 1 }],
    });
    expect((await tss(...refill, "101")).err).toMatch(/--count takes a whole number from 1 to 100/);
    expect((await tss("presign", "refill", "--bucket", "ED25519/Taproot", "--count", "1")).err).toMatch(
      /--bucket takes one of SECP256K1\/ECDSASecp256k1, /,
    );
  });

  it("reports a broken rule of the contract with its field", async () => {
    const { projectId } = await stack.newProject();
    const made = await tss("key", "create", "--project", projectId, "--name", "x", "--expires", "2020-01-01");
    expect(made).toMatchObject({ exitCode: 1, out: "" });
    expect(made.err).toMatch(/^tss key create: VALIDATION: expire_time: /);
  });
});

describe("the key of a call", { timeout: DATABASE_TIMEOUT_MS }, () => {
  it("comes from the environment or from a file that it names, and is never printed", async () => {
    const file = path.join(folder, "admin-key");
    writeFileSync(file, `${ADMIN_KEY}\n`);
    for (const key of [
      { TSS_ADMIN_KEY: ADMIN_KEY },
      { TSS_ADMIN_KEY_FILE: file },
      { ADMIN_API_KEY: ADMIN_KEY },
      { ADMIN_API_KEY_FILE: file },
    ]) {
      const { exitCode, out, err } = await runCli(["project", "list"], { TSS_URL: stack.url, ...key });
      expect([exitCode, out.includes(ADMIN_KEY), err]).toEqual([0, false, ""]);
    }
  });

  it("that is wrong or missing is reported as such", async () => {
    const wrong = { TSS_URL: stack.url, TSS_ADMIN_KEY: "x".repeat(40), DATA_DIR: folder };
    const refused = await runCli(["project", "list"], wrong);
    expect(refused).toMatchObject({ exitCode: 1, err: expect.stringContaining("INVALID_KEY") });
    expect(refused.err).not.toContain("xxxx");
    const none = await runCli(["ledger", "list"], { TSS_URL: stack.url, DATA_DIR: folder });
    expect(none).toMatchObject({ exitCode: 1, err: expect.stringContaining("no key: set TSS_API_KEY") });
  });

  it("for development is read from the service's own file, and sent to that service alone", async () => {
    const seen: string[] = [];
    const other = createServer((request, reply) => {
      seen.push(request.headers.authorization ?? "none");
      reply.writeHead(500).end();
    });
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const data = mkdtempSync(path.join(tmpdir(), "tss-dev-"));
    try {
      const access = { baseUrl: stack.url, adminApiKey: ADMIN_KEY, apiKey: "none" };
      writeFileSync(path.join(data, "dev.json"), JSON.stringify(access));
      const listed = await runCli(["project", "list", "--url", stack.url], { DATA_DIR: data });
      expect(listed).toMatchObject({ exitCode: 0, err: "" });
      const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
      const refused = await runCli(["project", "list", "--url", url], { DATA_DIR: data });
      expect(refused).toMatchObject({ exitCode: 1, err: expect.stringContaining("no key") });
      expect(seen).toEqual([]);
    } finally {
      rmSync(data, { recursive: true });
      await new Promise((resolve) => other.close(resolve));
    }
  });
});

describe("a service that does not answer", () => {
  it("ends the command with 3, and says how to repeat a call that may have been made", async () => {
    const nobody = { ...environment, TSS_URL: "http://127.0.0.1:1" };
    const listed = await runCli(["project", "list"], nobody);
    expect(listed).toMatchObject({ exitCode: 3, out: "", err: expect.stringContaining("UNREACHABLE") });
    const unknown = await runCli(["project", "list"], { ...environment, TSS_URL: "http://nobody.invalid" });
    expect(unknown).toMatchObject({ exitCode: 3, err: expect.stringMatching(/ENOTFOUND|EAI_AGAIN/) });
    const { err, exitCode } = await runCli(["project", "create", "--name", "a"], nobody);
    expect(exitCode).toBe(3);
    expect(err).toMatch(/^no reply; retry with --idempotency-key [0-9a-f-]{36}, so that it runs only once\n/);
  });

  it("is reported with its cause, down to the system's message", async () => {
    const shut = await shutPort();
    const { err } = await runCli(["project", "list"], {
      ...environment,
      TSS_URL: `http://127.0.0.1:${shut}`,
    });
    expect(err).toBe(`tss project list: UNREACHABLE: fetch failed: connect ECONNREFUSED 127.0.0.1:${shut}`);
  });

  it("is not reported for a URL that another server answers", async () => {
    const { err, exitCode } = await runCli(
      ["project", "list", "--url", `${stack.url}/elsewhere`],
      environment,
    );
    expect(exitCode).toBe(1);
    expect(err).toMatch(
      /^tss project list: UNIMPLEMENTED: HTTP 404; check that the URL points to a service with this call \(request [^,]+\)$/,
    );
  });

  it("is not reported for an invalid URL, or for one with a password", async () => {
    for (const url of ["ftp://127.0.0.1", "127.0.0.1:3000", "http://alice:secret@127.0.0.1"]) {
      const { exitCode, err } = await runCli(["project", "list", "--url", url], environment);
      expect([exitCode, err.includes("secret")]).toEqual([2, false]);
    }
  });
});

describe("a hostile service", () => {
  const HOSTILE = "\u001b[2J\u009b31m\u202eevil\ntss user list: all is well";
  let url: string;
  let reply: { readonly status: number; readonly type: string; readonly body: string | Uint8Array };
  const server = createServer((_request, response) => {
    response.writeHead(reply.status, { "content-type": reply.type }).end(reply.body);
  });
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));
  const listUsers = (...argv: string[]) =>
    runCli(["user", "list", ...argv], { TSS_URL: url, TSS_API_KEY: "k" });

  it("cannot control the terminal by the text of a refusal, or forge a line of the command", async () => {
    const body = JSON.stringify({ code: "failed_precondition", message: HOSTILE });
    reply = { status: 400, type: "application/json", body };
    const { err, exitCode } = await listUsers();
    expect([exitCode, err.split("\n").length]).toEqual([1, 1]);
    expect(err).toContain("evil");
    expect(err).not.toMatch(/\p{C}/u);
  });

  it("cannot control the terminal by a user's reference, in a table and in JSON", async () => {
    const users = create(ListUsersResponseSchema, { users: [{ reference: HOSTILE }] });
    reply = { status: 200, type: "application/proto", body: toBinary(ListUsersResponseSchema, users) };
    const [{ out: table }, { out: line }] = [await listUsers(), await listUsers("--json")];
    for (const out of [table, line]) {
      expect(out).toContain("evil");
      expect(out.replaceAll("\n", "")).not.toMatch(/\p{C}/u);
    }
    expect(table.split("\n")).toHaveLength(2);
    expect(JSON.parse(line)).toMatchObject({ reference: HOSTILE });
  });
});
